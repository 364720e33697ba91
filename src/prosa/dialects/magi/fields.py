"""The fields of MAGI as tables: front matter (M5–M22), ai-script blocks (M24–M39), relationships (M44–M49); and names
of fields in another case than kebab-case, `doc_id`, `docId`, `Title` (MA21).

Known names are put right, so that nothing that was meant is lost, with a problem for each.
"""

from __future__ import annotations

from prosa.data import Entry, Mapping, Scalar
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import Field, shown
from prosa.dialects.magi.dates import date_form
from prosa.regex import regex
from prosa.source import Edit, SourceText
from prosa.source.wildmatch import MAX_GLOB

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


def squashed(name: str) -> str:
    """Return a name without case, hyphens and underscores: what `doc-id`, `doc_id`, `docId` and `DOC-ID` share."""
    return name.lower().replace("-", "").replace("_", "")


def in_kebab_case(
    mapping: Mapping, table: tuple[Field, ...], source: SourceText
) -> tuple[Mapping, tuple[Problem, ...]]:
    """Return ``mapping`` under the names of ``table``. A name that is also there in its proper form is left out; of
    several other forms the first one counts."""
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
