"""Where a result goes in a document, and what its lines begin with there. A model in; a place, or a sentence, out.

A region stands below its block, in the same quotations and lists: every line repeats their marks. Below a block in a
footnote there is no such place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.regions import END, Region
from prosa.source import Edit, SourceText, Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_NOT_A_MARK = re.compile(r"[^>\s]")


@dataclass(frozen=True, slots=True)
class Place:
    """``span`` is what a region takes the place of, an empty one where it is new. ``before`` and ``after`` stand
    around it; ``marks`` begin every line but its first, whose own stand in ``before`` or in the document. ``inside`` is
    a place in the same containers."""

    span: Span
    marks: str
    line_end: str
    inside: int
    before: str = ""
    after: str = ""

    def edit(self, opening: str, shown: str) -> Edit:
        """The edit that writes a region with this first marker around this text."""
        lines = (opening, "", *shown.split("\n"), "", END)
        first, *rest = (f"{self.marks}{line}" if line else self.marks.rstrip() for line in lines)
        text = self.line_end.join((first.removeprefix(self.marks), *rest))
        return Edit(self.span, f"{self.before}{text}{self.after}")


def refusal(script: Script) -> str | None:
    """Why no result can be written below a block; None where one can."""
    if not script.script_id:
        return "the block has no `script-id`, so nobody could tell whose result it is"
    if not script.fence.closed:
        return "the block is never closed: close its fence first"
    if "footnote" in script.fence.containers:
        return "the block stands in a footnote, where no result can stand below it: move it out"
    return None


def below(model: MagiModel, script: Script) -> Place:
    """The place below a block that has no result yet. A blank line goes in front, and one behind where text follows."""
    source, fence = model.source, script.fence
    marks = marks_of(source, fence.span.start) if fence.containers else ""
    line_end = _line_end(source, fence.span.start)
    line = source.position(fence.span.end - 1).line
    last = line == source.lines.count
    at = len(source.text) if last else source.lines.starts[line]
    begin = line_end if last else ""
    before = f"{begin}{marks.rstrip()}{line_end}{marks}"
    follows = not last and not fence.containers and source.lines.line_text(line + 1).strip()
    return Place(Span(at, at), marks, line_end, fence.span.start, before, line_end * (2 if follows else 1))


def instead_of(model: MagiModel, region: Region) -> Place:
    """The place of a result that is there."""
    source, start = model.source, region.span.start
    return Place(region.span, marks_of(source, start), _line_end(source, start), start)


def marks_of(source: SourceText, offset: int) -> str:
    """What the lines below the one at an offset begin with to stand in the same containers: marks of quotations stay,
    the mark of a list item is as many spaces."""
    start = source.lines.starts[source.position(offset).line - 1]
    return _NOT_A_MARK.sub(" ", source.text[start:offset])


def _line_end(source: SourceText, offset: int) -> str:
    match = _LINE_END.search(source.text, offset)
    return match[0] if match else "\n"
