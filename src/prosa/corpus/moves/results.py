"""Results of ai-scripts in which a link was rewritten: their markers say again what is written (X19, X22).

In: the reading of a MAGI document before, the edits made in it, the reading after. Out: edits of the text after. A
result that somebody had edited by hand stays marked so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.placing import marks_of
from prosa.dialects.magi.regions import Region, marker
from prosa.dialects.magi.result_text import digest, is_edited, shown_text
from prosa.source import Edit, Span

_LINE_END = re.compile(r"\r\n|\n|\r")


def kept_results(before: MagiModel, edits: Sequence[Edit], after: MagiModel) -> Iterator[Edit]:
    """The first markers of the regions that ``edits`` touched, where they told the truth before."""
    for was, now in zip(before.regions, after.regions, strict=False):
        inside = [edit for edit in edits if was.content.start <= edit.span.start < was.content.end]
        if not inside or is_edited(before, was):
            continue
        about = replace(now.about, written=digest(shown_text(after, now)), escaped=_moved(before, was, inside))
        line = after.source.slice(now.opening)
        start = now.opening.start + len(line) - len(line.lstrip())
        yield Edit(Span(start, start + len(line.strip())), marker(about))


def _moved(model: MagiModel, region: Region, edits: Sequence[Edit]) -> tuple[int, ...]:
    """The places of the backslashes in the result as it was given, behind edits that change its length. Inside of a
    quotation or a list they are left as they are: what is no backslash there stays in the text."""
    places = list(region.about.escaped)
    if not places or marks_of(model.source, region.span.start):
        return region.about.escaped
    for edit in reversed(edits):
        at = _offset(model, region, edit.span.start)
        change = len(edit.replacement) - len(edit.span)
        places = [place + change if place + number > at else place for number, place in enumerate(places)]
    return tuple(places)


def _offset(model: MagiModel, region: Region, place: int) -> int:
    """Where a place of the source stands in the text that the region shows."""
    content = _LINE_END.sub("\n", model.source.text[region.content.start : place]).removeprefix("\n")
    first, line_end, rest = content.partition("\n")
    return len(rest) if line_end and not first.strip(" \t") else len(content)
