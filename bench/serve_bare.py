"""The bare framework: Starlette on uvicorn, with answers that were made before: `python -m bench.serve_bare FILE`.

In: answers by path and `Accept`, as JSON, with all their headers. Out: a server on a free port, told on stderr; it runs
until a signal. One route, one `Response`; where the client names the tag, a 304 with the headers that belong to it.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette

KEPT = ("etag", "vary", "cache-control", "content-location", "link")


def application(file: Path) -> Starlette:
    """Return the application that gives the answers of a file: `[[path, accept, headers, body], …]`, all of them
    200."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    known = {
        (path, accept): (dict(headers), body.encode("utf-8"))
        for path, accept, headers, body in json.loads(file.read_text(encoding="utf-8"))
    }

    async def page(request: Request) -> Response:
        found = known.get((request.url.path, request.headers.get("accept", "")))
        if found is None:
            return Response("", 404)
        headers, body = found
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers={name: headers[name] for name in KEPT if name in headers})
        return Response(body, headers=headers)

    return Starlette(routes=[Route("/{path:path}", page)])


def main(file: Path) -> None:
    """Serve with the same settings of uvicorn as `prosa serve` has."""
    import uvicorn

    made = socket.create_server(("127.0.0.1", 0), backlog=512)
    config = uvicorn.Config(
        application(file),
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=1_000,
        timeout_keep_alive=15,
        ws="none",
    )
    print(f"serving at http://127.0.0.1:{made.getsockname()[1]}/", file=sys.stderr, flush=True)
    uvicorn.Server(config).run(sockets=[made])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
