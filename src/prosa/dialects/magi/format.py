"""The normal form of a MAGI document by span edits: pure JSON in ai-script blocks, relationships in backticks, lists as
lists, dates as ISO 8601 (MA1, MA8, MA16, MA17, X22). Nothing else moves; a second formatting finds nothing to do.

Names in another case stay: other programs may read them, so only an unsafe fix renames a field (MA21).
"""

from __future__ import annotations

import re

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.magi.front_fields import read_front_fields
from prosa.dialects.magi.model import MagiModel, Relationship
from prosa.dialects.magi.sync import sync_edits
from prosa.source import Edit, SourceText, Span

_RUN = re.compile(r"`+")
_BLANK_LINES = re.compile(r"(?:\r\n|\n|\r)(?:[ \t>]*(?:\r\n|\n|\r))+")
_NORMAL_FIELDS = frozenset({"scalar-for-list", "unusual-date-form"})


def format_edits(model: MagiModel, options: FormatOptions) -> tuple[Edit, ...]:
    """The edits, in no particular order; they do not overlap. MAGI stores no hashes: ``rehash`` changes nothing."""
    synced = sync_edits(model) if options.sync else ()
    edits = [
        edit
        for problem in read_front_fields(model.front)[1]
        if problem.rule in _NORMAL_FIELDS and problem.fix is not None
        for edit in problem.fix.edits
        if not any(edit.span.start < each.span.end and each.span.start < edit.span.end for each in synced)
    ]
    edits += (edit for script in model.scripts for edit in script.pure)
    bare = (each for each in model.relationships if each.form == "bare")
    edits += (edit for each in bare for edit in backtick_edits(model.source, each))
    return (*synced, *edits)


def backtick_edits(source: SourceText, relationship: Relationship) -> tuple[Edit, ...]:
    """The edits that put backticks around a bare object (MA8); blank lines inside it would end the code and go.

    One or two backticks, whichever the text has no run of: three may open a fence. Where it has both, the backticks
    in its strings become JSON escapes.
    """
    span = relationship.span
    text = source.slice(span)
    runs = {len(run) for run in _RUN.findall(text)}
    ticks = "`" if 1 not in runs else "``"
    inner = [(match.span(), _last_line_end(match[0])) for match in _BLANK_LINES.finditer(text)]
    if runs >= {1, 2}:
        ticks = "`"
        inner += [(match.span(), "\\u0060" * len(match[0])) for match in _RUN.finditer(text)]
    edits = (Edit(Span(*place).shift(span.start), replacement) for place, replacement in inner)
    return (Edit(Span(span.start, span.start), ticks), *edits, Edit(Span(span.end, span.end), ticks))


def _last_line_end(text: str) -> str:
    return re.findall(r"\r\n|\n|\r", text)[-1] if text else ""
