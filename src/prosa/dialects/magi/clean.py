"""What a person reads of a MAGI document (M42): the body without ai-script blocks and relationships.

In: a model, or spans to leave out. Out: the remaining text and the removed parts with their places, so that nothing is
lost: `restored` returns the original, byte for byte (MW5). Ordinary footnotes, results and comments stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from prosa.dialects.magi.model import MagiModel, Relationship, Script
from prosa.regex import regex
from prosa.source import SourceText, Span

_MARKS = " \t>"
_BLANK_LINES = regex(r"(?:[ \t]*(?:\r\n|\n|\r))*")


class Removed(Struct, frozen=True):
    """A stretch of text that was left out; ``at`` is the offset in the text that stayed at which it goes back."""

    at: int
    text: str


class Clean(Struct, frozen=True):
    """The remaining ``text`` and the ``removed`` parts, in order."""

    text: str
    removed: tuple[Removed, ...]

    @property
    def restored(self) -> str:
        """The original."""
        return put_back(self.text, self.removed)


def put_back(text: str, removed: Iterable[Removed]) -> str:
    """Return ``text`` with everything back in its place. Offsets outside the text count as its ends."""
    pieces: list[str] = []
    done = 0
    for each in sorted(removed, key=lambda each: each.at):
        at = min(max(each.at, done), len(text))
        pieces += (text[done:at], each.text)
        done = at
    return "".join((*pieces, text[done:]))


def clean(model: MagiModel) -> Clean:
    """Return the body as a person reads it, without the blank lines that front matter leaves above it."""
    blocks = [*map(_with_hint, model.scripts), *(_definition(model, each) for each in model.relationships)]
    references = [span for each in model.relationships for span in each.referenced_at]
    body = model.front.body
    blank = _BLANK_LINES.match(model.source.text, body.start)
    above = Span(body.start, blank.end() if blank else body.start)
    return left_out(model.source, body, [above, *without_blocks(model, blocks), *references])


def not_for_readers(model: MagiModel) -> tuple[Span, ...]:
    """Return what a reader of the body does not see, or should not take for the author's words, in order: blocks,
    relationships with their references, comments, and managed regions, whose text is a model's (MA11, X19)."""
    alone = [span for span in model.document.comments if _stands_alone(model, span)]
    blocks = [*map(_with_hint, model.scripts), *(_definition(model, each) for each in model.relationships), *alone]
    blocks += [each.span for each in model.regions]
    references = [span for each in model.relationships for span in each.referenced_at]
    spans = (*without_blocks(model, blocks), *references, *model.document.comments)
    return tuple(_merged(span for span in spans if len(span)))


def unseen(model: MagiModel) -> tuple[Span, ...]:
    """Return what a page that is made of the document does not show (M42): blocks, relationships with their references,
    and comments, in order. Results are shown."""
    blocks = (*map(_with_hint, model.scripts), *(_definition(model, each) for each in model.relationships))
    references = [span for each in model.relationships for span in each.referenced_at]
    return tuple(_merged(span for span in (*blocks, *references, *model.document.comments) if len(span)))


def without_scripts(model: MagiModel) -> Clean:
    """Return the whole document, front matter and relationships included, without its ai-script blocks."""
    return left_out(model.source, model.source.whole, without_blocks(model, map(_with_hint, model.scripts)))


def left_out(source: SourceText, whole: Span, spans: Iterable[Span]) -> Clean:
    """Return the text of ``whole`` without ``spans``, which may touch and overlap."""
    kept: list[str] = []
    removed: list[Removed] = []
    done, length = whole.start, 0
    for span in _merged(span for span in spans if len(span)):
        kept.append(source.text[done : span.start])
        length += span.start - done
        removed.append(Removed(length, source.slice(span)))
        done = span.end
    return Clean("".join((*kept, source.text[done : whole.end])), tuple(removed))


def _stands_alone(model: MagiModel, span: Span) -> bool:
    """Return whether a comment shares its lines with no other text."""
    lines = model.source.lines
    first, last = (model.source.position(place).line for place in (span.start, max(span.start, span.end - 1)))
    end = lines.starts[last] if last < lines.count else len(model.source.text)
    before = model.source.text[lines.starts[first - 1] : span.start]
    return not before.strip(_MARKS) and not model.source.text[span.end : end].strip()


def _with_hint(script: Script) -> Span:
    return Span(script.hint.start if script.hint else script.fence.span.start, script.fence.span.end)


def _definition(model: MagiModel, relationship: Relationship) -> Span:
    span = relationship.definition.span
    return Span(span.start, max(span.start, span.start + len(model.source.slice(span).rstrip())))


def without_blocks(model: MagiModel, blocks: Iterable[Span]) -> Iterator[Span]:
    """Yield what to leave out for these blocks: their lines, with blank lines where these would be too many.

    Where a block shares its first line with the mark of a list, the mark stays.
    """
    source, lines = model.source, model.source.lines
    whole: list[Span] = []
    for span in blocks:
        start = lines.starts[source.position(span.start).line - 1]
        last = source.position(max(span.start, span.end - 1)).line
        end = lines.starts[last] if last < lines.count else len(source.text)
        if start < model.front.body.start or source.text[start : span.start].strip(_MARKS):
            yield span
        else:
            whole.append(Span(start, end))
    yield from (_with_blank_lines(model, lines) for lines in _merged(whole))


def _with_blank_lines(model: MagiModel, block: Span) -> Span:
    """Whole lines and the blank lines above them when others follow; at the top of the body, those below.

    Where the neighbours would become one paragraph, an empty line stays between them.
    """
    source, top = model.source, model.front.body.start
    above = _before_blank_lines(source, block.start, top)
    if above == top:
        below = _BLANK_LINES.match(source.text, block.end)
        return Span(above, below.end() if below else block.end)
    if block.end == len(source.text) or not source.lines.line_text(source.position(block.end).line).strip():
        return Span(above, block.end)
    return Span(block.start, block.end if above < block.start else _before_line_end(source.text, block.end))


def _before_line_end(text: str, end: int) -> int:
    return end - 2 if text.endswith("\r\n", 0, end) else end - 1


def _before_blank_lines(source: SourceText, offset: int, first: int) -> int:
    """Return where the blank lines before a line start."""
    line = source.position(offset).line
    while line > 1 and source.lines.starts[line - 2] >= first and not source.lines.line_text(line - 1).strip():
        line -= 1
    return source.lines.starts[line - 1]


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    pending: Span | None = None
    for span in sorted(spans):
        if pending is None:
            pending = span
        elif span.start <= pending.end:
            pending = Span(pending.start, max(pending.end, span.end))
        else:
            yield pending
            pending = span
    if pending is not None:
        yield pending
