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

KEPT = (b"etag", b"vary", b"cache-control", b"content-location", b"link")


def application(file: Path) -> Starlette:
    """Return the application that gives the answers of a file: `[[path, accept, headers, body], …]`, all of them
    200."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    known = {
        (path, accept): ([(name.encode(), value.encode("latin-1")) for name, value in headers], body.encode("utf-8"))
        for path, accept, headers, body in json.loads(file.read_text(encoding="utf-8"))
    }

    async def page(request: Request) -> Response:
        found = known.get((request.url.path, request.headers.get("accept", "")))
        if found is None:
            return Response("", 404)
        headers, body = found
        answer = Response(body)
        own = [pair for pair in answer.raw_headers if pair[0] not in dict(headers)]
        answer.raw_headers = [*headers, *own]  # a name may come twice: `Link`
        if request.headers.get("if-none-match") == answer.headers["etag"]:
            answer = Response(status_code=304)
            answer.raw_headers = [pair for pair in headers if pair[0] in KEPT]
        return answer

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
