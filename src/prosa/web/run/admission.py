"""Who may start a run, of which document, and with which body: a `Refused` has 400, 401, 403, 404, 408, 413 or 415.

A bearer token is proof of intent. A cookie is not: its reader must send a second value that only this site's own pages
have (H20). A token in a URL is ignored.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from prosa.asgi import Receive, Scope
from prosa.data import JsonError, Value, is_mapping_of_texts, parse_json
from prosa.dialects.mdh.url import decoded
from prosa.source import FileProblem
from prosa.web import locate
from prosa.web.answer import header_of
from prosa.web.run.problem import ClientGone, Refused

if TYPE_CHECKING:
    from prosa.web.context import Reader, SignIn, Web
    from prosa.web.locate import Document
    from prosa.web.run.runner import Runner


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


def require_intent(web: SignIn, reader: Reader, csrf: str) -> None:
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
        located = locate.locate(web.site, path) if path is not None else None
    except FileProblem:
        located = None
    if not isinstance(located, locate.Document):
        raise Refused(404, "There is no such document.")
    return located


MAX_BODY = 1024 * 1024
"""Bytes of a body; inputs of programs and texts of readers are far smaller."""

BODY_SECONDS = 30.0
"""How long a client may take to send it: a slow one must not hold a connection open for ever."""

MAX_FIELDS = 32
"""Fields of a form; ours have four."""

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


async def read_body(scope: Scope, receive: Receive, limit: int = MAX_BODY) -> bytes:
    """Return the whole body, of at most ``limit`` bytes. Raises `Refused`, and `ClientGone`."""
    length = header_of(scope, b"content-length")
    if length.isdigit() and int(length[:12]) > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read(receive, limit)
    except TimeoutError:
        raise Refused(408, f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None


async def _read(receive: Receive, limit: int) -> bytes:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts += message.get("body", b"")
        if len(parts) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return bytes(parts)


def _too_large(limit: int) -> Refused:
    return Refused(413, f"The body of a request has at most {limit:,} bytes.")


def media_type_of(scope: Scope) -> str:
    """Return the media type of the body in lower case, without parameters; empty if absent."""
    return header_of(scope, b"content-type").partition(";")[0].strip().lower()


def json_body(scope: Scope, body: bytes) -> Value:
    """Return the value of a JSON body; an empty body is an empty object. Raises `Refused`."""
    kind = media_type_of(scope)
    if kind != JSON and not (kind.startswith("application/") and kind.endswith("+json")) and (body or kind):
        raise Refused(415, f"The body must be {JSON}, not {kind or 'without a Content-Type'}.")
    if not body.strip():
        return {}
    try:
        return parse_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refused(400, f"The body is not UTF-8: byte {error.start}.") from None
    except JsonError as error:
        where = f"line {error.line}, column {error.column}"
        raise Refused(400, f"The body is not valid JSON: {where}: {error.message}.") from None


def form_fields(scope: Scope, body: bytes) -> dict[str, str]:
    """Return the fields of a form, or of a JSON object of texts. Of a field that is there twice the last one counts.
    Raises `Refused`."""
    kind = media_type_of(scope)
    if kind == JSON:
        return _texts(json_body(scope, body))
    if kind != FORM:
        raise Refused(415, f"The body must be {FORM} or {JSON}, not {kind or 'without a Content-Type'}.")
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise Refused(400, f"The body is not a form in UTF-8 with at most {MAX_FIELDS} fields.") from None
    return dict(pairs)


def _texts(value: Value) -> dict[str, str]:
    if not is_mapping_of_texts(value):
        raise Refused(400, "The body must be an object of texts.")
    return value
