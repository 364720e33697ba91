"""Which endpoint of what runs a path means. In: a path below the prefix. Out: the status that was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.web.answer import Receive, Scope, Send, send_answer
from prosa.web.run.problem import Refused
from prosa.web.run.program import run_program_action
from prosa.web.run.schema import show_schema
from prosa.web.run.script import run_script
from prosa.web.run.sign_in import sign_in, sign_out

if TYPE_CHECKING:
    from prosa.web.context import Web
    from prosa.web.session import Reader

_ROUTES = {
    "/mdh/run/": run_program_action,
    "/mdh/scripts/": run_script,
    "/mdh/schema/": show_schema,
    "/mdh/sign-in": sign_in,
    "/mdh/sign-out": sign_out,
}
"""A path that ends in a slash stands for all below it."""


async def run_endpoint(path: str, scope: Scope, receive: Receive, send: Send, web: Web, reader: Reader) -> int:
    """Answers a request for a path below `/mdh/` that belongs to what runs."""
    del reader  # each endpoint looks itself: a reader is what it depends on
    for route, endpoint in _ROUTES.items():
        if path == route or (route.endswith("/") and path.startswith(route)):
            return await endpoint(scope, receive, send, web)
    return await send_answer(scope, send, Refused(404, "There is nothing at this URL.").answer())
