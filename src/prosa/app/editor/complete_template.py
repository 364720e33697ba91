"""Completion in the template of a program: names of the input, variables, functions, words, names of templates.

In: a cursor in an action. Out: what its place takes. The names come from the input schema, and from the lines of the
front matter while that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.app.editor.candidates import NOTHING, Candidate, Completions, completions
from prosa.app.editor.cursor import CursorContext
from prosa.dialects.shapes import Member, SchemaShape
from prosa.dialects.shapes import Path as Way
from prosa.dialects.table import MARKDOWNLANG
from prosa.schema.described import SchemaView
from prosa.source import Span
from prosa.template.funcs import ABOUT, KEYWORDS_ABOUT
from prosa.template.place import TemplatePlace, template_names, template_place

_STATEMENTS = ("if", "range", "with", "template", "define", "block")


def template_at_cursor(cursor: CursorContext) -> tuple[TemplatePlace, int] | None:
    """Return the place of a cursor in the template of a program, and where the template begins; None outside of
    actions."""
    if cursor.dialect != "markdownlang" or cursor.standing.part in ("front", "mark"):
        return None
    start = _body_start(cursor)
    place = template_place(cursor.text[start:], cursor.offset - start)
    return (place, start) if place is not None else None


def template_completions(cursor: CursorContext, place: TemplatePlace, start: int) -> Completions:
    """Return what may be written at a place of a template."""
    span = place.span.shift(start)
    if place.slot == "name":
        if place.path is None:
            return NOTHING
        candidates = (_input(member, member.name) for member in members_at(cursor, place.path))
        return completions(cursor.path, span, place.typed, candidates)
    if place.slot == "variable":
        candidates = (Candidate(name, "variable", name[1:], _path(path)) for name, path in place.variables.items())
        return _behind_dollar(cursor, span, place, candidates)
    if place.slot == "template":
        names = template_names(cursor.text[start:])
        return completions(cursor.path, span, place.typed, (Candidate(name, "function") for name in names))
    return completions(cursor.path, span, place.typed, _words(cursor, place))


def _behind_dollar(
    cursor: CursorContext, span: Span, place: TemplatePlace, candidates: Iterator[Candidate]
) -> Completions:
    """Return variables, with the `$` that stands there already."""
    whole = Span(span.start - 1, span.end)
    full = (Candidate(candidate.label, candidate.kind, None, candidate.detail) for candidate in candidates)
    return completions(cursor.path, whole, f"${place.typed}", full)


def _words(cursor: CursorContext, place: TemplatePlace) -> Iterator[Candidate]:
    """Yield what an operand or a statement may begin with: names first."""
    if not place.piped and place.dot is not None:
        yield from (_input(member, f".{member.name}") for member in members_at(cursor, place.dot))
    if not place.piped:
        for name, path in place.variables.items():
            yield Candidate(name, "variable", None, _path(path), far=1)
    for name, (call, about) in ABOUT.items():
        if name != "call":
            yield Candidate(name, "function", None, call, about, far=2)
    for name, (call, about) in KEYWORDS_ABOUT.items():
        if _fits(name, place):
            yield Candidate(name, "keyword", None, call, about, far=3)


def _fits(word: str, place: TemplatePlace) -> bool:
    if word in ("true", "false", "nil"):
        return not place.piped and not place.first
    if not place.first:
        return False
    if word in ("break", "continue"):
        return "range" in place.blocks
    if word == "else":
        return bool(place.blocks) and place.blocks[-1] != "define"
    return bool(place.blocks) if word == "end" else word in _STATEMENTS


def _input(member: Member, label: str) -> Candidate:
    detail = f"{member.type}, required" if member.required else member.type
    return Candidate(label, "input", None, detail, member.about)


def _path(path: Way | None) -> str:
    return "." + ".".join("[]" if step is None else step for step in path) if path is not None else ""


def members_at(cursor: CursorContext, path: Way) -> list[Member]:
    """Return the members of the value of the input at a path."""
    program = cursor.reading.model_of(MARKDOWNLANG) if cursor.reading is not None else None
    if program is not None and program.input is not None:
        return SchemaShape(SchemaView(program.input.value)).members(path)
    way: list[str | None] = ["input"]
    for step in path:
        way += ["items"] if step is None else ["properties", step]
    return [Member(name, "", "") for name in cursor.names.get((*way, "properties"), ())]


def _body_start(cursor: CursorContext) -> int:
    program = cursor.reading.model_of(MARKDOWNLANG) if cursor.reading is not None else None
    if program is not None:
        return min(program.body_offset, cursor.offset)
    return cursor.front.end if cursor.front is not None and cursor.front.end <= cursor.offset else 0
