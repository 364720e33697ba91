"""The fields of a YMJ record as tables: header, footer, everything below `ops` (Y7–Y12); the forms of single values,
and the versions of the specification that Prosa knows (Y23, Y28).

Header fields are strings by their source text (X1, YA7): `version: 1.0` is "1.0". Footer fields are JSON, so a string
is a string and a number a number. A form checks a text and returns the rest of a sentence, or None if it is
well-formed; nothing is converted. A separate rule judges placeholders for hashes (YA18), so hashes have no form here.
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
    """Return whether a text is a SHA-256 in hex, either case."""
    return _SHA256.fullmatch(text) is not None


def date_form(text: str) -> str | None:
    """ISO 8601 as records use it: a date, or a date with a time (Y8)."""
    match = _DATE.fullmatch(text.strip())
    if match is None or (match[4] and not match[3]) or not _exists(match[1], match[2], match[3] or "01"):
        return f"is not an ISO 8601 date: `{text[:40]}`; write it as 2026-03-31 or 2026-03-31T14:05:00Z"
    return None


def end_of(text: str) -> datetime | None:
    """Return when a date, a month or a time of `date_form` ends, or None; without a zone it is UTC."""
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
    """Return the beginning of the day after a day, or of the month after a month."""
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
    """Check the shape of a BCP 47 tag (Y8); the registry of subtags is not consulted."""
    if _LANGUAGE.fullmatch(text):
        return None
    return f"is not a language tag (BCP 47): `{text[:40]}`; write it as `en` or `en-US`"


def uri_form(text: str) -> str | None:
    """Return a URI with its scheme (RFC 3986)."""
    return None if _SCHEME.fullmatch(text) else f"is not a URI: `{text[:40]}`; it begins with a scheme such as `https:`"


def mime_form(text: str) -> str | None:
    """Return a media type (RFC 6838)."""
    return None if _MIME.fullmatch(text) else f"is not a media type: `{text[:40]}`; write it as `text/csv`"


def days_form(text: str) -> str | None:
    """Return the complaint about a number of days for which a record is kept (Y12)."""
    return "cannot be below 0: it is for how many days the record is kept" if text.startswith("-") else None


MAX_SEVERITY = 10
"""Scales of severity start at 0 (SEV-0, syslog) or 1 and end at most at 10 (CVSS); the specification gives no range."""


def severity_form(text: str) -> str | None:
    """Return the complaint about the severity of a ticket (Y12)."""
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
    """Return whether `ymj_spec` names a known version: `0.7`, `0.7.0` and `v0.7` are the same."""
    match = _VERSION.fullmatch(text.strip())
    return match is not None and match[1] in KNOWN


def is_footerless(text: str) -> bool:
    """Return whether `ymj_spec` names the 1.0 dialect of an early tool, in which the footer was optional (YA12)."""
    return text.strip().lower().removeprefix("v").split(".")[0] == "1"


SELECTORS = ("first_fenced:", "nth_fenced:", "block_id:", "section:", "heading_path:", "regex:", "between:")
"""The prefixes of selectors (`ymj.selectors`)."""

BODY_FORMATS = ("markdown", "csv", "mermaid", "plain", "json", "yaml")
"""Y12."""

CATALOG_ENTRY: tuple[Field, ...] = (
    Field("uri", "string", required=True, form=not_empty, why="it names what is attached", about="what is attached"),
    Field("note", "string", about="what it is, for people"),
    Field("sha256", "string", about="the SHA-256 of its bytes"),
)
"""One of the header's `attachments`."""

PROVENANCE: tuple[Field, ...] = (
    Field("source", "string", about="where the content came from"),
    Field("tool", "string", about="what made the record"),
    Field("run_id", "string", about="the run in which it was made"),
)

HEADER: tuple[Field, ...] = (
    Field(
        "doc_summary",
        "string",
        required=True,
        wanted="one line of at most 120 characters",
        why="catalogs show it",
        about="on the second line of the file: one line of at most 120 characters; catalogs read only this",
    ),
    Field(
        "kind",
        "string",
        required=True,
        why="for example `note`, `spec`, `runbook`, `ticket` or `dataset`",
        usual=("note", "spec", "runbook", "ticket", "page", "dataset", "trace", "policy", "recipe", "card"),
        about="`note`, `spec`, `runbook`, `ticket`, `page`, `dataset`, `trace`, `policy`, `recipe`, `card` …",
    ),
    Field(
        "version",
        "string",
        required=True,
        why="the version of this document, for example 1.0.0",
        about="the version of this document",
    ),
    Field("subject", "string", required=True, why="the title people know it by", about="the title people know it by"),
    Field(
        "maintained_by",
        "string",
        required=True,
        why="the person or team who owns it",
        about="the person or team who owns it",
    ),
    Field(
        "ymj_spec",
        "string",
        form=not_empty,
        usual=KNOWN[::-1],
        about="the version of the format, 0.1 to 0.7; an unknown one is read permissively",
    ),
    Field(
        "validation_mode",
        "string",
        choices=("strict", "permissive"),
        about="`strict` or `permissive`: how the record wants to be read; a flag outweighs it",
    ),
    Field("created", "string", form=date_form, about="when it was written, an ISO 8601 date"),
    Field("updated", "string", form=date_form, about="when it was last changed, an ISO 8601 date"),
    Field("language", "string", form=language_form, about="a language tag such as `en`"),
    Field(
        "classification",
        "string",
        choices=("public", "internal", "confidential", "secret"),
        about="`public`, `internal`, `confidential`, `secret`",
    ),
    Field("attachments", "mappings", about="a list of what belongs to the record", inner=CATALOG_ENTRY),
    Field("provenance", "mapping", about="where the record comes from", inner=PROVENANCE),
    Field("payload_sha256", "string", about="the SHA-256 of the body, in an older form"),
)
"""Y7 and Y8; the first five are required."""

INDEX: tuple[Field, ...] = (
    Field("tags", "texts", about="a list of words to find it by"),
    Field("title", "text", about="belongs into the header, as `subject`"),
    Field("summary", "text", about="belongs into the header, as `doc_summary`"),
    Field("owner", "text", about="belongs into the header, as `maintained_by`"),
    Field("embedding", "numbers", about="a vector of the text"),
    Field("model", "text", about="the model that made the vector"),
)
"""Y10: the author may add keys of any kind."""

AI: tuple[Field, ...] = (
    Field("vector_ref", "text", about="where the vector of the record is kept"),
    Field("embedding_id", "text", about="the id of the vector there"),
    Field("embedding_model", "text", about="the model that made it"),
)

_PAGE: tuple[Field, ...] = (
    Field("route", "text", about="the URL path of the page"),
    Field("layout", "text", about="the layout of the page"),
    Field("seo", "anything", about="what search engines see"),
)

EDGE: tuple[Field, ...] = (
    Field("type", "text", required=True, form=not_empty, about="what the connection means"),
    Field("to", "text", required=True, form=not_empty, about="the name of the other record"),
)
"""One of `ops.graph.edges`."""

OPS_MAPS: dict[str, tuple[Field, ...]] = {
    "page": _PAGE,
    "routes": _PAGE,
    "retention": (
        Field("days", "integer", form=days_form, about="for how many days the record is kept"),
        Field("expiry", "text", form=date_form, about="the date of its deletion"),
    ),
    "cache": (
        Field("key", "text", about="the name under which it is cached"),
        Field("etag", "text", about="the version that is cached"),
    ),
    "localization": (Field("locales", "texts", form=language_form, about="a list of language tags"),),
    "chunking": (
        Field("chunk_id", "integer", required=True, about="the number of this piece"),
        Field("total", "integer", required=True, about="how many pieces there are"),
        Field("prev_sha256", "text", about="the SHA-256 of the piece before"),
    ),
    "ticket": (
        Field("severity", "integer", required=True, form=severity_form, about="a whole number from 0 to 10"),
        Field("code", "text", about="the code of what happened"),
        Field("related_ids", "texts", about="a list of the names of other tickets"),
    ),
    "trace": (
        Field("parent_id", "text", about="the record that this one was made from"),
        Field("lineage_id", "text", about="the line of records that it belongs to"),
        Field("revision", "text-or-integer", about="its number in that line"),
    ),
    "graph": (Field("edges", "mappings", required=True, about="a list of connections to other records", inner=EDGE),),
    "data_signature": (
        Field("alg", "text", required=True, about="the algorithm"),
        Field("signature", "text", required=True, about="the signature"),
        Field("key_id", "text", about="the key it was made with"),
    ),
}
"""The objects below `ops`."""

OPS_LISTS: dict[str, tuple[Field, ...]] = {
    "attachments": (
        Field("uri", "text", about="what is attached, one of the header's `attachments`"),
        Field("select", "anything", usual=SELECTORS, about="the part of it that is meant, a selector"),
        Field("transform", "anything", about="what to do with it"),
        Field("cache", "anything", about="how it is cached"),
        Field("auth_ref", "text", about="the name of the credential; never a secret"),
        Field("sha256", "text"),
    ),
    "handlers": (
        Field("name", "text", required=True, about="who is to handle the record"),
        Field("args", "mapping", about="arguments of the handler"),
    ),
}
"""The items of the lists below `ops`. `sha256` of an attachment is not one of its fields but is read: a rule reports
where it belongs (YA18)."""

OPS: tuple[Field, ...] = (
    Field("body_format", "text", choices=BODY_FORMATS, about="what the body is: " + ", ".join(BODY_FORMATS)),
    Field("payload_mime", "text", form=mime_form, about="the media type of the body; `body_format` is the newer form"),
    Field(
        "body_selector",
        "text",
        form=not_empty,
        usual=SELECTORS,
        about="the part of the body that is the payload, a selector",
    ),
    Field("attachments", "mappings", about="what to do with attachments", inner=OPS_LISTS["attachments"]),
    Field("handlers", "mappings", about="who is to handle the record", inner=OPS_LISTS["handlers"]),
    Field("routes", "mapping", about="where the record is a page", inner=_PAGE),
    Field("page", "mapping", about="where the record is a page", inner=_PAGE),
    Field(
        "visibility",
        "anything",
        usual=("public", "private"),
        about="who may see it: public, private, or a list of roles",
    ),
    Field("retention", "mapping", about="how long it is kept", inner=OPS_MAPS["retention"]),
    Field("priority", "text", choices=("low", "normal", "high"), about="low, normal or high"),
    Field("cache", "mapping", about="how it is cached", inner=OPS_MAPS["cache"]),
    Field("localization", "mapping", about="the languages that it is in", inner=OPS_MAPS["localization"]),
    Field("chunking", "mapping", about="which piece of a long text it is", inner=OPS_MAPS["chunking"]),
    Field("ticket", "mapping", about="what kind of ticket it is", inner=OPS_MAPS["ticket"]),
    Field("trace", "mapping", about="which records it was made from", inner=OPS_MAPS["trace"]),
    Field("graph", "mapping", about="how it is connected with others", inner=OPS_MAPS["graph"]),
    Field("body_encoding", "text", choices=("base64", "gzip"), about="how the body is encoded: base64 or gzip"),
    Field("data_signature", "mapping", about="the signature of the payload", inner=OPS_MAPS["data_signature"]),
    Field(
        "prompt_role",
        "text",
        choices=("system", "user", "assistant", "tool"),
        about="as whose message a model gets it: system, user, assistant or tool",
    ),
    Field("auto_summary", "boolean", about="whether `doc_summary` was made of the body"),
    Field("encryption", "anything", about="kept for later versions"),
    Field("signature", "anything", about="kept for later versions"),
)
"""Y12, and the two names that Y20 keeps for later."""

FOOTER: tuple[Field, ...] = (
    Field(
        "schema",
        "text-or-integer",
        required=True,
        why='the version of the footer, for example "1"',
        about='the version of the footer, `"1"`',
    ),
    Field(
        "payload_hash",
        "text",
        about="the SHA-256 of the body as it stands, with LF line ends and nothing trimmed; `prosa fmt` writes it",
    ),
    Field(
        "index",
        "mapping",
        required=True,
        wanted="an object",
        why="search and filters read it",
        about="what search and filters read; its fields are free",
        inner=INDEX,
    ),
    Field("schema_uri", "text", form=uri_form, about="the URI of a schema of the payload"),
    Field("ai", "mapping", about="where vectors of the record are", inner=AI),
    Field("ops", "mapping", about="directives for those who handle the record", inner=OPS),
)
"""Y10 and Y11; an absent `payload_hash` is a rule of its own (YA2)."""

RECORDING = "prosa-trace"
"""The name in `ops.handlers` that marks the body of a record as a recording of a run (X27)."""


def is_recording(footer: Value) -> bool:
    """Return whether a footer marks the body as a recording of a run."""
    ops = footer.get("ops") if isinstance(footer, dict) else None
    handlers = ops.get("handlers") if isinstance(ops, dict) else None
    return isinstance(handlers, list) and any(
        isinstance(handler, dict) and handler.get("name") == RECORDING for handler in handlers
    )
