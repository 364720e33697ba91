"""The fields of MAGI as tables: front matter (M5–M22), ai-script blocks (M24–M39), relationships (M44–M49); and dates
of front matter (M12–M15, MA16).

Known names are put right, so that nothing that was meant is lost, with a problem for each.

ISO 8601 calendar dates, with or without a time and a zone, are read as they are. A few other notations leave no doubt
either (year first, unpadded, slashes, a space for the `T`); they have a normal form. Everything else is no date here:
`03/04/2024` is two dates, and month names belong to a language.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping as AbcMapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import Field, shown
from prosa.regex import regex
from prosa.source import Edit, SourceText
from prosa.source.wildmatch import MAX_GLOB

_ISO = regex(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?:T(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII,
)
_LOOSE = regex(
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"(?:(?:[Tt]|[ ]{1,4})(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d{1,9})?)?"
    r"[ ]{0,4}(?P<zone>[Zz]|UTC|GMT|utc|gmt|[+-]\d{1,2}(?::?\d\d)?)?)?",
    re.ASCII,
)
MAX_LENGTH = 64
"""Longer texts are no dates."""

WANTED = "must be an ISO 8601 date such as `2024-01-15` or `2024-01-15T09:00:00Z`"


class Moment(Struct, frozen=True):
    """A date as read. ``end`` is the first instant after everything it can mean: a day ends at midnight UTC, a time
    without a zone counts as UTC. ``timed`` and ``zoned`` say how much was written."""

    end: datetime
    timed: bool
    zoned: bool


@lru_cache(maxsize=1024)
def read_date(text: str) -> Moment | None:
    """Return the date that an ISO 8601 text names, or None. Years before 1 and after 9998 are none."""
    match = _ISO.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    try:
        return _moment(match)
    except (ValueError, OverflowError):
        return None


def normal_form(text: str) -> str | None:
    """Return the text itself when it is ISO 8601, its normal form when it can mean only one date, else None."""
    if read_date(text) is not None:
        return text
    match = _LOOSE.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    day = f"{match['year']}-{int(match['month']):02}-{int(match['day']):02}"
    written = day if match["hour"] is None else f"{day}T{_clock(match)}{_zone(match['zone'])}"
    return written if read_date(written) is not None else None


def date_form(text: str) -> str | None:
    """Return the complaint about a text that is no date."""
    return None if normal_form(text) is not None else WANTED


def _moment(match: re.Match[str]) -> Moment:
    year, month, day = (int(match[part]) if match[part] else None for part in ("year", "month", "day"))
    assert year is not None
    start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    if match["hour"] is None:
        days = 1 if day else monthrange(year, month)[1] if month else 366 if monthrange(year, 2)[1] == 29 else 365
        return Moment(start + timedelta(days=days), timed=False, zoned=False)
    second = min(int(match["second"] or 0), 59) if match["second"] != "60" else 59
    clock = start.replace(hour=int(match["hour"]), minute=int(match["minute"]), second=second)
    if int(match["second"] or 0) > 60:
        raise ValueError("no such second")
    return Moment(clock - _offset(match["zone"]), timed=True, zoned=match["zone"] is not None)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
    if hours > 23 or minutes > 59:
        raise ValueError("no such zone")
    return (1 if zone[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)


def _clock(match: re.Match[str]) -> str:
    seconds = f":{match['second']}{match['fraction'] or ''}" if match["second"] else ""
    return f"{int(match['hour']):02}:{match['minute']}{seconds}"


def _zone(zone: str | None) -> str:
    if zone is None:
        return ""
    if zone[0] not in "+-":
        return "Z"
    hours, _, minutes = zone[1:].partition(":")
    if not minutes and len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    return f"{zone[0]}{int(hours):02}:{minutes or '00'}"


# The fields of MAGI as tables: front matter (M5–M22), ai-script blocks (M24–M39), relationships (M44–M49); and names
# of fields in another case than kebab-case, `doc_id`, `docId`, `Title` (MA21).

_ABSOLUTE = regex(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:[^\s<>\"]+")
_REFERENCE = regex(r"[^\s<>\"]+")

DATE_FIELDS = ("published-date", "created-date", "updated-date", "expired-date")
LIST_FIELDS = ("images-list", "tags", "globs", "audience", "entities", "relationships")

PRIORITIES = ("high", "medium", "low")
OUTPUT_FORMATS = ("markdown", "text", "json", "image-url")
INTERACTIVE_TYPES = ("button", "inputbox")


def glob_form(text: str) -> str | None:
    """Return the complaint about a pattern that can match nothing."""
    pattern, _ = signed(text)
    if not pattern.strip("/"):
        return "holds a pattern that matches nothing"
    if len(pattern) > MAX_GLOB:
        return f"holds a pattern of more than {MAX_GLOB} characters"
    if "://" not in pattern and ".." in pattern.split("/"):
        return "holds a pattern that leaves its folder: begin with `/` to start at the root of the project"
    return None


def signed(glob: str) -> tuple[str, bool]:
    """Return a pattern without its `!`, and whether what matches it is wanted."""
    return (glob[1:], False) if glob.startswith("!") else (glob, True)


def _url(text: str) -> str | None:
    return None if _ABSOLUTE.fullmatch(text.strip()) else "must be an absolute URL such as `https://example.org/page`"


def _url_reference(text: str) -> str | None:
    return None if _REFERENCE.fullmatch(text.strip()) else "must be a URL, without spaces"


def _not_negative(text: str) -> str | None:
    return "must not be negative" if text.startswith("-") and text != "-0" else None


def _unit_interval(text: str) -> str | None:
    return None if 0.0 <= float(text) <= 1.0 else "must be a number from 0.0 to 1.0"


FRONT: tuple[Field, ...] = (
    Field(
        "doc-id",
        "string",
        about="the name by which other documents point here; a UUID is recommended, and needed beside relationships",
    ),
    Field("title", "string", about="the title that people know it by"),
    Field("description", "string", about="what the document is about, in a sentence or two"),
    Field("author", "string", about="who wrote it"),
    Field("author-id", "string", about="the id of who wrote it"),
    Field("image", "string", form=_url_reference, about="the URL of a picture"),
    Field("images-list", "strings", form=_url_reference, about="a list of URLs of pictures"),
    Field("published-date", "string", form=date_form, about="when it was published, an ISO 8601 date"),
    Field("tags", "strings", about="a list of words to find it by"),
    Field("created-date", "string", form=date_form, about="when it was written, an ISO 8601 date"),
    Field("updated-date", "string", form=date_form, about="when it was last changed, an ISO 8601 date"),
    Field("expired-date", "string", form=date_form, about="when it is no longer true, an ISO 8601 date"),
    Field("globs", "strings", form=glob_form, about="patterns of the files, or the URLs, that this metadata is for"),
    Field("audience", "strings", about="a list of those it is written for"),
    Field("purpose", "string", about="what it is good for"),
    Field("entities", "strings", about="a list of the people, places and things that it speaks of"),
    Field("relationships", "strings", about="sentences about the relationships, for people"),
    Field("source-url", "string", form=_url, about="where the content came from, an absolute URL"),
)

SCRIPT: tuple[Field, ...] = (
    Field(
        "script-id",
        "text",
        required=True,
        why="a run names the script by it",
        about="its name, unique in the document",
    ),
    Field(
        "prompt",
        "text",
        required=True,
        why="it is what the model is asked to do",
        about="what the model is asked",
    ),
    Field("priority", "text", usual=PRIORITIES, about="high, medium (as without) or low"),
    Field("auto-run", "boolean", about="true asks to run automatically; the user decides"),
    Field("provider", "text", about="the name of a provider of models"),
    Field("model-name", "text", about="the name of a model"),
    Field("system-prompt", "text", about="the role of the model, as a system message"),
    Field("parameters", "mapping", about="an object for the model, `temperature` for example"),
    Field("retry-times", "integer", form=_not_negative, about="further attempts, a whole number"),
    Field("runtime-env", "text", about="where to run, `server` for example"),
    Field("output-format", "text", usual=OUTPUT_FORMATS, about="markdown, text, json, image-url"),
    Field(
        "output-schema",
        "mapping",
        holds="schema",
        about="a JSON Schema, Draft 2020-12; the answer is then JSON, whatever `output-format` says",
    ),
    Field("stream", "boolean", about="true or false; has no effect beside `output-schema`"),
    Field(
        "interactive-type",
        "text",
        usual=INTERACTIVE_TYPES,
        about="button or inputbox; has no effect beside `auto-run`",
    ),
    Field("interactive-label", "text", about="the text of the button"),
    Field("interactive-placeholder", "text", about="the text of the empty input field"),
)

CONTEXT: tuple[Field, ...] = (
    Field("section", "text", about="the part of the other document that is meant"),
    Field("relevance", "text", about="how much it matters here"),
)

REL_TYPES = ("citation", "parent", "child", "related", "contradicts", "supports", "extends")
"""The types that the specification recommends."""

RELATIONSHIP: tuple[Field, ...] = (
    Field(
        "rel-type",
        "text",
        required=True,
        why="it says what the connection means",
        usual=REL_TYPES,
        about="citation, parent, child, related, contradicts, supports, extends, or a word of your own",
    ),
    Field("doc-id", "text", about="the `doc-id` of another document; this or `source-url` is required"),
    Field("source-url", "text", form=_url, about="an absolute URL; this or `doc-id` is required"),
    Field(
        "rel-desc",
        "text",
        required=True,
        why="it tells a reader why the documents belong together",
        about="why they belong together",
    ),
    Field("rel-strength", "number", form=_unit_interval, about="a number from 0.0 to 1.0"),
    Field("bi-directional", "boolean", about="true where it holds both ways"),
    Field("context", "mapping", about="what the relationship rests on", inner=CONTEXT),
)


@lru_cache(maxsize=1024)
def squashed(name: str) -> str:
    """Return a name without case, hyphens and underscores: what `doc-id`, `doc_id`, `docId` and `DOC-ID` share."""
    return name.lower().replace("-", "").replace("_", "")


def _squashed_names(table: tuple[Field, ...]) -> dict[str, str]:
    return {squashed(field.name): field.name for field in table}


FRONT_NAMES, SCRIPT_NAMES, RELATIONSHIP_NAMES = map(_squashed_names, (FRONT, SCRIPT, RELATIONSHIP))
"""The names of the fields by what all of their forms share."""


def in_kebab_case(
    mapping: Mapping, known: AbcMapping[str, str], source: SourceText
) -> tuple[Mapping, tuple[Problem, ...]]:
    """Return ``mapping`` under ``known`` names, by what all of their forms share. A name that is also there in its
    proper form is left out; of several other forms the first one counts."""
    taken = {entry.key.text for entry in mapping}
    entries: list[Entry] = []
    problems: list[Problem] = []
    for entry in mapping:
        name = known.get(squashed(entry.key.text), entry.key.text)
        if name == entry.key.text:
            entries.append(entry)
            continue
        problems.append(_problem(entry, name, source, free=name not in taken))
        if name not in taken:
            taken.add(name)
            entries.append(Entry(Scalar(name, name, entry.key.span, entry.key.style), entry.value))
    return Mapping(tuple(entries), mapping.span), tuple(problems)


def _problem(entry: Entry, name: str, source: SourceText, *, free: bool) -> Problem:
    written = shown(entry.key.text)
    if not free:
        notes = (f"`{name}` is there too, and that one counts: remove this one",)
        return Problem("field-name-case", f"`{written}` is another form of `{name}`", entry.key.span, notes)
    first = source.text[entry.key.span.start : entry.key.span.start + 1]
    quote = first if first in ("'", '"') else ""
    edit = Edit(entry.key.span, f"{quote}{name}{quote}")
    fix = Fix(f"write `{name}`", (edit,), Applicability.UNSAFE)
    message = f"`{written}` is read as `{name}`: field names are in kebab-case"
    return Problem("field-name-case", message, entry.key.span, (f"write `{name}`",), fix=fix)
