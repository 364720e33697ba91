"""The fields of a YMJ record as tables: header, footer, everything below `ops` (Y7–Y12); the forms of single values,
and the versions of the specification that Prosa knows (Y23, Y28).

Header fields are strings by their source text (X1, YA7): `version: 1.0` is "1.0". Footer fields are JSON, so a string
is a string and a number a number. A form looks at a text and gives the rest of a sentence, or None when it is well-
formed; nothing is converted. Placeholders where a hash belongs are weighed by a rule of their own (YA18), so no form is
asked of hashes here.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from prosa.data import Value
from prosa.dialects.fields import Field
from prosa.regex import regex

_DATE = regex(
    r"(\d{4})-(\d\d)(?:-(\d\d))?"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,]\d{1,9})?)?(?:Z|z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?",
    re.ASCII,
)
_ZONE = regex(r"([+-])(\d\d):?(\d\d)?\Z")
_LANGUAGE = regex(r"(?:[A-Za-z]{2,8}|[xi](?=-))(?:-[A-Za-z0-9]{1,8}){0,8}", re.ASCII)
_SHA256 = regex(r"[0-9a-fA-F]{64}")
_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]*:\S*")
_MIME = regex(r"[\w!#$&^.+-]{1,127}/[\w!#$&^.+-]{1,127}(?:\s*;.*)?", re.ASCII)


def is_sha256(text: str) -> bool:
    """Whether a text is a SHA-256 in hex, either case."""
    return _SHA256.fullmatch(text) is not None


def date_form(text: str) -> str | None:
    """ISO 8601 as records use it: a date, or a date with a time (Y8)."""
    match = _DATE.fullmatch(text.strip())
    if match is None or (match[4] and not match[3]) or not _exists(match[1], match[2], match[3] or "01"):
        return f"is not an ISO 8601 date: `{text[:40]}`; write it as 2026-03-31 or 2026-03-31T14:05:00Z"
    return None


def end_of(text: str) -> datetime | None:
    """The moment at which a date, a month or a time of `date_form` is over, or None; without a zone it is UTC."""
    match = _DATE.fullmatch(text.strip())
    if match is None or not _exists(match[1], match[2], match[3] or "01"):
        return None
    if match[4] is None:
        return _day_after(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    zone = _ZONE.search(text.strip())
    written = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{min(int(match[6] or 0), 59):02}"
    moment = datetime.fromisoformat(written).replace(tzinfo=UTC)
    if zone is None:
        return moment
    ahead = timedelta(hours=int(zone[2]), minutes=int(zone[3] or 0))
    try:
        return moment - ahead if zone[1] == "+" else moment + ahead
    except OverflowError:
        return None


def _day_after(year: int, month: int, day: int | None) -> datetime | None:
    """The beginning of the day after a day, or of the month after a month."""
    try:
        if day is None:
            return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return datetime(year, month, day, tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def _exists(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def language_form(text: str) -> str | None:
    """The shape of a BCP 47 tag (Y8); whether the subtags are registered is not looked up."""
    if _LANGUAGE.fullmatch(text):
        return None
    return f"is not a language tag (BCP 47): `{text[:40]}`; write it as `en` or `en-US`"


def uri_form(text: str) -> str | None:
    """A URI with its scheme (RFC 3986)."""
    return None if _SCHEME.fullmatch(text) else f"is not a URI: `{text[:40]}`; it begins with a scheme such as `https:`"


def mime_form(text: str) -> str | None:
    """A media type (RFC 6838)."""
    return None if _MIME.fullmatch(text) else f"is not a media type: `{text[:40]}`; write it as `text/csv`"


def days_form(text: str) -> str | None:
    """The complaint about a number of days for which a record is kept (Y12)."""
    return "cannot be below 0: it is for how many days the record is kept" if text.startswith("-") else None


MAX_SEVERITY = 10
"""Scales of severity in use begin at 0 (SEV-0, syslog) or 1 and end at 10 (CVSS) at most; the specification gives no
range."""


def severity_form(text: str) -> str | None:
    """The complaint about the severity of a ticket (Y12)."""
    is_on_scale = text.isdigit() and len(text) <= 2 and int(text) <= MAX_SEVERITY
    return None if is_on_scale else f"is a whole number from 0 to {MAX_SEVERITY}, found {text[:20]}"


def not_empty(text: str) -> str | None:
    """Something visible."""
    return None if text.strip() else "is empty"


KNOWN = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")
"""The published drafts; the last is the one that records are checked against."""

LATEST = KNOWN[-1]

_VERSION = regex(r"v?(\d{1,4}\.\d{1,4})(?:\.0)?", re.IGNORECASE | re.ASCII)


def is_known(text: str) -> bool:
    """Whether `ymj_spec` names a known version: `0.7`, `0.7.0` and `v0.7` are the same."""
    match = _VERSION.fullmatch(text.strip())
    return match is not None and match[1] in KNOWN


def is_footerless(text: str) -> bool:
    """Whether `ymj_spec` names the 1.0 dialect of an early tool, in which the footer was optional (YA12)."""
    return text.strip().lower().removeprefix("v").split(".")[0] == "1"


BODY_FORMATS = ("markdown", "csv", "mermaid", "plain", "json", "yaml")
"""Y12."""

HEADER: tuple[Field, ...] = (
    Field("doc_summary", "string", required=True, wanted="one line of at most 120 characters", why="catalogs show it"),
    Field("kind", "string", required=True, why="for example `note`, `spec`, `runbook`, `ticket` or `dataset`"),
    Field("version", "string", required=True, why="the version of this document, for example 1.0.0"),
    Field("subject", "string", required=True, why="the title people know it by"),
    Field("maintained_by", "string", required=True, why="the person or team who owns it"),
    Field("ymj_spec", "string", form=not_empty),
    Field("validation_mode", "string", choices=("strict", "permissive")),
    Field("created", "string", form=date_form),
    Field("updated", "string", form=date_form),
    Field("language", "string", form=language_form),
    Field("classification", "string", choices=("public", "internal", "confidential", "secret")),
    Field("attachments", "mappings"),
    Field("provenance", "mapping"),
    Field("payload_sha256", "string"),
)
"""Y7 and Y8; the first five are required."""

CATALOG_ENTRY: tuple[Field, ...] = (
    Field("uri", "string", required=True, form=not_empty, why="it names what is attached"),
    Field("note", "string"),
    Field("sha256", "string"),
)
"""One of the header's `attachments`."""

PROVENANCE: tuple[Field, ...] = (Field("source", "string"), Field("tool", "string"), Field("run_id", "string"))

FOOTER: tuple[Field, ...] = (
    Field("schema", "text-or-integer", required=True, why='the version of the footer, for example "1"'),
    Field("payload_hash", "text"),
    Field("index", "mapping", required=True, wanted="an object", why="search and filters read it"),
    Field("schema_uri", "text", form=uri_form),
    Field("ai", "mapping"),
    Field("ops", "mapping"),
)
"""Y10 and Y11; an absent `payload_hash` is a rule of its own (YA2)."""

INDEX: tuple[Field, ...] = (
    Field("tags", "texts"),
    Field("title", "text"),
    Field("summary", "text"),
    Field("owner", "text"),
    Field("embedding", "numbers"),
    Field("model", "text"),
)
"""Y10: the author may add keys of any kind."""

AI: tuple[Field, ...] = (Field("vector_ref", "text"), Field("embedding_id", "text"), Field("embedding_model", "text"))

OPS: tuple[Field, ...] = (
    Field("body_format", "text", choices=BODY_FORMATS),
    Field("payload_mime", "text", form=mime_form),
    Field("body_selector", "text", form=not_empty),
    Field("attachments", "mappings"),
    Field("handlers", "mappings"),
    Field("routes", "mapping"),
    Field("page", "mapping"),
    Field("visibility", "anything"),
    Field("retention", "mapping"),
    Field("priority", "text", choices=("low", "normal", "high")),
    Field("cache", "mapping"),
    Field("localization", "mapping"),
    Field("chunking", "mapping"),
    Field("ticket", "mapping"),
    Field("trace", "mapping"),
    Field("graph", "mapping"),
    Field("body_encoding", "text", choices=("base64", "gzip")),
    Field("data_signature", "mapping"),
    Field("prompt_role", "text", choices=("system", "user", "assistant", "tool")),
    Field("auto_summary", "boolean"),
    Field("encryption", "anything"),
    Field("signature", "anything"),
)
"""Y12, and the two names that Y20 keeps for later."""

_PAGE: tuple[Field, ...] = (Field("route", "text"), Field("layout", "text"), Field("seo", "anything"))

OPS_MAPS: dict[str, tuple[Field, ...]] = {
    "page": _PAGE,
    "routes": _PAGE,
    "retention": (Field("days", "integer", form=days_form), Field("expiry", "text", form=date_form)),
    "cache": (Field("key", "text"), Field("etag", "text")),
    "localization": (Field("locales", "texts", form=language_form),),
    "chunking": (
        Field("chunk_id", "integer", required=True),
        Field("total", "integer", required=True),
        Field("prev_sha256", "text"),
    ),
    "ticket": (
        Field("severity", "integer", required=True, form=severity_form),
        Field("code", "text"),
        Field("related_ids", "texts"),
    ),
    "trace": (Field("parent_id", "text"), Field("lineage_id", "text"), Field("revision", "text-or-integer")),
    "graph": (Field("edges", "mappings", required=True),),
    "data_signature": (
        Field("alg", "text", required=True),
        Field("signature", "text", required=True),
        Field("key_id", "text"),
    ),
}
"""The objects below `ops`."""

OPS_LISTS: dict[str, tuple[Field, ...]] = {
    "attachments": (
        Field("uri", "text"),
        Field("select", "anything"),
        Field("transform", "anything"),
        Field("cache", "anything"),
        Field("auth_ref", "text"),
        Field("sha256", "text"),
    ),
    "handlers": (Field("name", "text", required=True), Field("args", "mapping")),
}
"""The items of the lists below `ops`. `sha256` of an attachment is not one of its fields and is read all the same:
a rule says where it belongs (YA18)."""

EDGE: tuple[Field, ...] = (
    Field("type", "text", required=True, form=not_empty),
    Field("to", "text", required=True, form=not_empty),
)
"""One of `ops.graph.edges`."""

RECORDING = "prosa-trace"
"""The name in `ops.handlers` by which a record says that its body is a recording of a run (X27)."""


def is_recording(footer: Value) -> bool:
    """Whether a footer says that the body is a recording of a run."""
    ops = footer.get("ops") if isinstance(footer, dict) else None
    handlers = ops.get("handlers") if isinstance(ops, dict) else None
    return isinstance(handlers, list) and any(
        isinstance(each, dict) and each.get("name") == RECORDING for each in handlers
    )
