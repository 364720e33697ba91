"""Who may start a run, and the document of a URL below `/mdh/…`. In: a request. Out: the runner, the reader, the
document; or `Refused`.

A bearer token is proof of intent. A cookie is not: its reader must send a second value that only this site's own pages
have (H20). A token in a URL is ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.dialects.mdh.url import decoded
from prosa.source import FileProblem
from prosa.web import locate
from prosa.web.answer import Scope, header_of
from prosa.web.run.problem import Refused

if TYPE_CHECKING:
    from prosa.web.context import Web
    from prosa.web.locate import Document
    from prosa.web.run.runner import Runner
    from prosa.web.session import Reader

CSRF_HEADER = b"x-csrf-token"
BEARER = ("www-authenticate", 'Bearer realm="prosa"')
OFF = "Nothing runs on this site: it was started without --allow-run."


def require_method(scope: Scope, *methods: str) -> None:
    """Raise `Refused` with 405 for another method (H17)."""
    if scope["method"] not in methods:
        allowed = ", ".join(methods)
        raise Refused(405, f"This URL takes {allowed}.", headers=(("allow", allowed),))


def require_runner(web: Web) -> Runner:
    """Return what runs here (X6). Raises `Refused` with 403 where nothing does."""
    if web.runner is None:
        raise Refused(403, OFF)
    return web.runner


def require_reader(scope: Scope, web: Web) -> Reader:
    """Return the holder of the token. Raises `Refused` with 401 for other readers."""
    reader = web.sessions.reader(scope)
    if not reader.signed_in:
        raise Refused(401, "This needs the token of the site, in `Authorization: Bearer`.", headers=(BEARER,))
    return reader


def require_intent(web: Web, reader: Reader, csrf: str) -> None:
    """Raise `Refused` with 403 where a cookie comes without the value that the site's own pages have."""
    if not web.sessions.accepts_form(reader, csrf):
        raise Refused(403, "The form is too old, or not of this site: load the page again.")


def csrf_of(scope: Scope) -> str:
    """Return the value in the header, for requests that are no form."""
    return header_of(scope, CSRF_HEADER)


def below(scope: Scope, web: Web, area: str) -> str | None:
    """Return the decoded path of a node behind ``area``, as `/mdh/run` in `/mdh/run/greet`; None for no path of a
    site."""
    raw: bytes = scope["raw_path"].partition(b"?")[0]
    front = f"{web.prefix}{area}".encode()
    return decoded(raw.removeprefix(front)) if raw.startswith(front) else None


def document_below(scope: Scope, web: Web, area: str) -> Document:
    """Return the published document that a URL behind ``area`` means. Reads files. Raises `Refused` with 404."""
    path = below(scope, web, area)
    try:
        found: Value = locate.locate(web.site, path) if path is not None else None
    except FileProblem:
        found = None
    if not isinstance(found, locate.Document):
        raise Refused(404, "There is no such document.")
    return found
