"""Which endpoint of what runs a path means. In: a path below the prefix. Out: the status that was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.web.answer import Receive, Scope, Send, send_answer
from prosa.web.run.problem import Refused

if TYPE_CHECKING:
    from prosa.web.context import Web
    from prosa.web.session import Reader


async def run_endpoint(path: str, scope: Scope, receive: Receive, send: Send, web: Web, reader: Reader) -> int:
    """Answers a request for a path below `/mdh/` that belongs to what runs."""
    del reader  # each endpoint looks itself: a reader is what it depends on
    if path.startswith("/mdh/run/"):
        from prosa.web.run.program import run_program_action as endpoint
    elif path.startswith("/mdh/scripts/"):
        from prosa.web.run.script import run_script as endpoint
    elif path.startswith("/mdh/schema/"):
        from prosa.web.run.schema import show_schema as endpoint
    elif path == "/mdh/sign-in":
        from prosa.web.run.sign_in import sign_in as endpoint
    elif path == "/mdh/sign-out":
        from prosa.web.run.sign_in import sign_out as endpoint
    else:
        return await send_answer(scope, send, Refused(404, "There is nothing at this URL.").answer())
    return await endpoint(scope, receive, send, web)
