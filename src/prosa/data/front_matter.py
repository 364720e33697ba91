"""Where front matter ends and the body begins (X1); the only such reader, shared by all dialects.

In: a whole text. Out: spans that, with the line ends between them, cover all of it. The YAML is not read here.
"""

from __future__ import annotations

from msgspec import Struct

from prosa.data.limits import MAX_FRONT_MATTER_BYTES
from prosa.diagnostics import Annotation, Problem
from prosa.regex import regex
from prosa.source import Span

_FENCE = "---"
_BOM = "\ufeff"
_BEGINS = "- \t–—"
"""What a line begins with that is a fence or nearly one."""
_LINE_END = regex(r"\r\n|\n|\r")
_CLOSE = regex(r"(?:\r\n|\n|\r)(---)(?=[\r\n]|\Z)")
_LOOSE_OPEN = regex(r"---[ \t]*")
_LOOSE_CLOSE = regex(r"(?:\r\n|\n|\r)(---|\.\.\.)[ \t]*(?=[\r\n]|\Z)")
_NEAR_OPEN = regex(r"[ \t]*-{3,}[ \t]*|[–—]-*")
_NEAR_CLOSE = regex(r"(?:\r\n|\n|\r)([ \t]*-{3,}[ \t]*|\.\.\.[ \t]*)(?=[\r\n]|\Z)")


class FrontMatter(Struct, frozen=True):
    """The parts of a text with front matter.

    ``open`` and ``close`` cover the three hyphens of each fence, ``yaml`` the lines between them with their line
    ends (it may be empty), ``body`` everything after the line end of the closing fence. ``bom`` tells whether the
    text starts with a byte-order mark, which belongs to none of them.
    """

    open: Span
    yaml: Span
    close: Span
    body: Span
    bom: bool = False


def split_front_matter(text: str, *, loose: bool = False) -> tuple[FrontMatter | None, tuple[Problem, ...]]:
    """Return the parts of a text, or None when it has no front matter and all of it is body.

    A fence is a line that is exactly ``---``; a ``loose`` one may have trailing blanks and close with ``...``, as in
    Jekyll and pandoc. Problems: ``unclosed-front-matter`` (then None), ``front-matter-fence`` (a first line that
    nearly is a fence; None), ``front-matter-too-large`` (the parts are given, the YAML should not be read).
    """
    start = 1 if text.startswith(_BOM) else 0
    if text[start : start + 1] not in _BEGINS:
        return None, ()
    first = _line_at(text, start)
    if first.of(text) != _FENCE and not (loose and _LOOSE_OPEN.fullmatch(text, first.start, first.end)):
        return None, _near_fence(text, first)
    close = (_LOOSE_CLOSE if loose else _CLOSE).search(text, first.end)
    if close is None:
        return None, (_unclosed(text, first),)
    closing = Span(*close.span(1))
    yaml = Span(_after_line_end(text, first.end), closing.start)
    body = Span(_after_line_end(text, _line_at(text, closing.start).end), len(text))
    return FrontMatter(Span(first.start, first.start + len(_FENCE)), yaml, closing, body, bom=start == 1), _too_large(
        text, yaml
    )


def _line_at(text: str, start: int) -> Span:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    carriage = text.find("\r", start, end)
    return Span(start, end if carriage < 0 else carriage)


def _after_line_end(text: str, offset: int) -> int:
    if text.startswith("\n", offset):
        return offset + 1
    match = _LINE_END.match(text, offset)
    return match.end() if match else offset


def _near_fence(text: str, line: Span) -> tuple[Problem, ...]:
    if not _NEAR_OPEN.fullmatch(text, line.start, line.end):
        return ()
    message = "the first line looks like the fence of front matter but is not exactly `---`"
    notes = ("The whole text was read as body. For front matter write three hyphens and nothing else on the line.",)
    return (Problem("front-matter-fence", message, line, notes),)


def _unclosed(text: str, fence: Span) -> Problem:
    near = _NEAR_CLOSE.search(text, fence.end)
    annotations = (Annotation(Span(*near.span(1)), "this line is not exactly `---`"),) if near else ()
    notes = ("Expected a later line that is exactly `---`; the whole text was read as body.",)
    return Problem(
        "unclosed-front-matter", "front matter is opened by `---` and never closed", fence, notes, annotations
    )


def _too_large(text: str, yaml: Span) -> tuple[Problem, ...]:
    size = len(yaml)
    if size <= MAX_FRONT_MATTER_BYTES and not text.isascii():
        size = len(yaml.of(text).encode("utf-8", "surrogatepass"))
    if size <= MAX_FRONT_MATTER_BYTES:
        return ()
    message = f"front matter has {size:,} bytes; the limit is {MAX_FRONT_MATTER_BYTES:,}"
    return (
        Problem("front-matter-too-large", message, Span(yaml.start, yaml.start), ("Move long text into the body.",)),
    )
