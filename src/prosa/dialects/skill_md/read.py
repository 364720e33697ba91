"""Read a skill: a front reading and a document in, a `SkillModel` and problems out. Never fails, opens nothing.

Shapes of fields and missing front matter are reported here. Rules explain the rest, such as a name that other clients
refuse. Tools are one text with spaces between them by the specification; in the wild they are also separated by
commas, or a YAML list. Parameters are the items of a list under a heading, or behind a line, that says "Parameters"
(L46): those that begin with a name, in backticks or in lower case. Other items are instructions.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Owner, read_fields, text_of, type_name
from prosa.dialects.front import FrontReading
from prosa.dialects.skill_md.model import CLIENT_FIELDS, SKILL, Parameter, SkillModel, as_name
from prosa.document import Document
from prosa.regex import regex
from prosa.source import Span


def read(front: FrontReading, document: Document) -> tuple[SkillModel, tuple[Problem, ...]]:
    """Return the skill, and the problems of its text."""
    if front.fields is None:
        return _model(front, document, {}, ()), () if front.present else (_bare(front),)
    owner = Owner(
        "a skill",
        front.anchor,
        unknown=Severity.HINT,
        other=CLIENT_FIELDS.__contains__,
        complete=front.complete,
    )
    entries, problems = read_fields(front.fields, SKILL, owner)
    entry = entries.get("allowed-tools")
    tools, wrong = read_tools(entry.value) if entry else ((), ())
    return _model(front, document, entries, tools), (*problems, *wrong)


def _model(front: FrontReading, document: Document, entries: dict[str, Entry], tools: tuple[str, ...]) -> SkillModel:
    bare = not front.present
    return SkillModel(
        document=document,
        bare=bare,
        name=_derived_name(document) if bare else text_of(entries.get("name")),
        description=_derived_description(document) if bare else text_of(entries.get("description")),
        license=text_of(entries.get("license")),
        compatibility=text_of(entries.get("compatibility")),
        allowed_tools=tools,
        metadata=_texts(entries.get("metadata")),
        parameters=read_parameters(document),
        entries=entries,
        anchor=front.anchor,
    )


def _bare(front: FrontReading) -> Problem:
    message = "the skill has no front matter: agents find a skill by its `name` and `description`"
    return Problem(
        "skill-without-front-matter", message, front.anchor, ("begin the file with both, between `---` lines",)
    )


def _derived_name(document: Document) -> str | None:
    first = next((heading.plain for heading in document.headings if not heading.nested), None)
    return as_name(first) if first else None


def _derived_description(document: Document) -> str | None:
    first = next((paragraph.text for paragraph in document.paragraphs if not paragraph.nested), None)
    return " ".join(first.split()) if first else None


def _texts(entry: Entry | None) -> dict[str, str]:
    if entry is None or not isinstance(entry.value, Mapping):
        return {}
    return {field.key.text: field.value.text for field in entry.value if isinstance(field.value, Scalar)}


def read_tools(node: Node) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return the tools, and `wrong-type` where they cannot be any."""
    if isinstance(node, Scalar):
        return split_tools(node.text), ()
    if isinstance(node, Sequence) and all(isinstance(item, Scalar) for item in node.items):
        return tuple(item.text.strip() for item in node.items if isinstance(item, Scalar) and item.text.strip()), ()
    message = f"`allowed-tools` must be the names of tools, separated by spaces, not {type_name(node)}"
    return (), (Problem("wrong-type", message, node.span),)


def split_tools(text: str) -> tuple[str, ...]:
    """Return the tools of a text: split at spaces and commas outside parentheses."""
    tools: list[str] = []
    start = depth = 0
    for at, char in enumerate(f"{text} "):
        depth = max(depth + (char == "(") - (char == ")"), 0)
        if char in " \t\r\n," and (not depth or at == len(text)):
            if at > start:
                tools.append(text[start:at].strip())
            start = at + 1
    return tuple(tool for tool in tools if tool)


_TITLE = regex(r"[*_]*+(?:parameters|arguments|inputs?)[*_]*+:?[*_]*+", re.IGNORECASE)
_ITEM = regex(
    r"(?:[-+*]|\d{1,9}[.)])[ \t]+"
    r"[*_]*(?P<name>`[A-Za-z][\w.-]*`|[a-z][\w.-]*)[*_]*[ \t]*"
    r"(?:\((?P<note>[^()\r\n]*)\))?[ \t]*[*_]*"
    r"(?:(?P<mark>:|—|–|-(?=[ \t]))[*_]*[ \t]*(?P<text>.*))?",
    re.DOTALL,
)
_REQUIRED = regex(r"\brequired\b", re.IGNORECASE)
_OPTIONAL = regex(r"\b(?:optional|default)\b", re.IGNORECASE)


def read_parameters(document: Document) -> tuple[Parameter, ...]:
    """Return the parameters, in order; of several such lists, the first counts."""
    listed = next(_lists_after_titles(document), None)
    if listed is None:
        return ()
    starts = [item.start for item in document.items]
    inside = document.items[bisect_left(starts, listed.start) : bisect_left(starts, listed.end)]
    return tuple(_parameters(document, inside))


def _lists_after_titles(document: Document) -> Iterator[Span]:
    """Yield the lists with nothing but blank space between them and a title."""
    lists = document.lists
    starts = [span.start for span in lists]
    headings = (heading.span for heading in document.headings if _TITLE.fullmatch(heading.plain.strip()))
    lines = (_last_line(document, paragraph.span) for paragraph in document.paragraphs if not paragraph.nested)
    titles = (*headings, *(span for span in lines if _TITLE.fullmatch(document.source.slice(span).strip())))
    for title in sorted(titles):
        at = bisect_left(starts, title.end)
        if at < len(lists) and not document.source.text[title.end : starts[at]].strip():
            yield lists[at]


def _last_line(document: Document, span: Span) -> Span:
    text = document.source.text
    start = max(text.rfind("\n", span.start, span.end), text.rfind("\r", span.start, span.end))
    return Span(max(start + 1, span.start), span.end)


def _parameters(document: Document, items: tuple[Span, ...]) -> Iterator[Parameter]:
    end = 0
    for span in items:
        match = _ITEM.match(document.source.text, span.start, span.end)
        if span.start >= end and match and (match["note"] is not None or match["mark"]):
            yield Parameter(
                match["name"].strip("`"), _required(match["note"] or ""), " ".join((match["text"] or "").split()), span
            )
        end = max(end, span.end)  # an item inside another explains it


def _required(note: str) -> bool | None:
    if _REQUIRED.search(note):
        return True
    return False if _OPTIONAL.search(note) else None
