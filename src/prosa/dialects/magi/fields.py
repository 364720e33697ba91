"""The fields of MAGI as tables: front matter (M5–M22), ai-script blocks (M24–M39), relationships (M44–M49); and names
of fields in another case than kebab-case, `doc_id`, `docId`, `Title` (MA21).

Known names are put right, so that nothing that was meant is lost, with a problem for each.
"""

from __future__ import annotations

from prosa.data import Entry, Mapping, Scalar
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import Field, shown
from prosa.dialects.magi.dates import date_form
from prosa.dialects.magi.meta import glob_form
from prosa.regex import regex
from prosa.source import Edit, SourceText

_ABSOLUTE = regex(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:[^\s<>\"]+")
_REFERENCE = regex(r"[^\s<>\"]+")

DATE_FIELDS = ("published-date", "created-date", "updated-date", "expired-date")
LIST_FIELDS = ("images-list", "tags", "globs", "audience", "entities", "relationships")

PRIORITIES = ("high", "medium", "low")
OUTPUT_FORMATS = ("markdown", "text", "json", "image-url")
INTERACTIVE_TYPES = ("button", "inputbox")


def _url(text: str) -> str | None:
    return None if _ABSOLUTE.fullmatch(text.strip()) else "must be an absolute URL such as `https://example.org/page`"


def _url_reference(text: str) -> str | None:
    return None if _REFERENCE.fullmatch(text.strip()) else "must be a URL, without spaces"


def _not_negative(text: str) -> str | None:
    return "must not be negative" if text.startswith("-") and text != "-0" else None


def _unit_interval(text: str) -> str | None:
    return None if 0.0 <= float(text) <= 1.0 else "must be a number from 0.0 to 1.0"


FRONT: tuple[Field, ...] = (
    Field("doc-id", "string"),
    Field("title", "string"),
    Field("description", "string"),
    Field("author", "string"),
    Field("author-id", "string"),
    Field("image", "string", form=_url_reference),
    Field("images-list", "strings", form=_url_reference),
    Field("published-date", "string", form=date_form),
    Field("tags", "strings"),
    Field("created-date", "string", form=date_form),
    Field("updated-date", "string", form=date_form),
    Field("expired-date", "string", form=date_form),
    Field("globs", "strings", form=glob_form),
    Field("audience", "strings"),
    Field("purpose", "string"),
    Field("entities", "strings"),
    Field("relationships", "strings"),
    Field("source-url", "string", form=_url),
)

SCRIPT: tuple[Field, ...] = (
    Field("script-id", "text", required=True, why="a run names the script by it"),
    Field("prompt", "text", required=True, why="it is what the model is asked to do"),
    Field("priority", "text"),
    Field("auto-run", "boolean"),
    Field("provider", "text"),
    Field("model-name", "text"),
    Field("system-prompt", "text"),
    Field("parameters", "mapping"),
    Field("retry-times", "integer", form=_not_negative),
    Field("runtime-env", "text"),
    Field("output-format", "text"),
    Field("output-schema", "mapping"),
    Field("stream", "boolean"),
    Field("interactive-type", "text"),
    Field("interactive-label", "text"),
    Field("interactive-placeholder", "text"),
)

RELATIONSHIP: tuple[Field, ...] = (
    Field("rel-type", "text", required=True, why="it says what the connection means"),
    Field("doc-id", "text"),
    Field("source-url", "text", form=_url),
    Field("rel-desc", "text", required=True, why="it tells a reader why the documents belong together"),
    Field("rel-strength", "number", form=_unit_interval),
    Field("bi-directional", "boolean"),
    Field("context", "mapping"),
)

CONTEXT: tuple[Field, ...] = (
    Field("section", "text"),
    Field("relevance", "text"),
)


def squashed(name: str) -> str:
    """A name without case, hyphens and underscores: what `doc-id`, `doc_id`, `docId` and `DOC-ID` share."""
    return name.lower().replace("-", "").replace("_", "")


def in_kebab_case(
    mapping: Mapping, table: tuple[Field, ...], source: SourceText
) -> tuple[Mapping, tuple[Problem, ...]]:
    """``mapping`` under the names of ``table``. A name that is also there in its proper form is left out; of several
    other forms the first one counts."""
    known = {squashed(field.name): field.name for field in table}
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
