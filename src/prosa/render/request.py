"""An HTTP request for people: the request line, one line for each header, the body. Credentials as `***` (X8)."""

from __future__ import annotations

import json

from prosa.render.plain import safe
from prosa.site.request import Request


def request_text(request: Request, *, show: bool = False) -> str:
    """Return the request; with ``show`` its credential as it is sent."""
    lines = [f"{request.method} {request.address(show=show)}"]
    lines += [f"{name}: {value}" for name, value in request.sent_headers(show=show).items()]
    if request.body is not None:
        text = request.body if isinstance(request.body, str) else json.dumps(request.body, ensure_ascii=False, indent=2)
        lines += ["", *text.split("\n")]
    return "\n".join(map(safe, lines))
