r"""Mathematics in TeX between dollar signs, as GitHub, Obsidian and pandoc read it: `$a_1$`, and `$$ … $$` over lines.

In: the text of a body. Out: the same text in which every block of mathematics is one line for the parser, and which of
the parser's findings are mathematics. Prices stay prose: an opening sign has no blank after it, a closing one neither
a blank before it nor a digit or, if in doubt, a letter after it; and outside vaults a text must hold something that is
certainly TeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pyromark

from prosa.document.walk import OPTIONS
from prosa.regex import regex

if TYPE_CHECKING:
    from pyromark.event import Event, Range

MATHS = pyromark.Options.ENABLE_MATH
"""The option of the parser that finds mathematics."""

_BLOCK = regex(r"^(?P<mark>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)\$\$", re.MULTILINE)
_OTHER = regex(r"[\r\n][ \t>]*(?:#{1,6}[ \t]|```|~~~)")
"""What no line of TeX starts with: two signs around it belong to no block."""

_LINE = regex(r"(?P<end>\r\n|\n|\r)(?P<mark>[ \t]*(?:>[ \t]?)*)")
_TEX = regex(r"\\[A-Za-z]+|\\[{},;:!|\\]|[_^]\{|[A-Za-z0-9)\]]\^[A-Za-z0-9({*+-]|\b[A-Za-z]_[A-Za-z0-9]\b")
"""What only occurs in TeX."""

_NEW_LINE, _NOTHING = "\x1e", "\x1f"
"""What stands for the end of a line inside a block, and for what belongs to the quotation around it."""

_HELD, _FREED = str.maketrans("{}$", "\x1b\x1c\x1d"), str.maketrans("\x1b\x1c\x1d\x1e", "{}$\n", _NOTHING)
"""Signs that the parser would want in pairs, and everything as the author wrote it."""


class Maths(NamedTuple):
    """Mathematics as the parser found it, and where: in bytes of the joined text."""

    tex: str
    display: bool
    where: Range


def may_hold_maths(text: str) -> bool:
    """Return whether it is worth looking for mathematics: most texts hold no dollar sign behind another one without a
    blank in front of it."""
    at = text.find("$")
    while at >= 0 and (at := text.find("$", at + 1)) >= 0:
        if text[at - 1] not in " \t\r\n":
            return True
    return False


def joined(text: str, in_code: Callable[[int], bool]) -> str:
    """Return a text of the same length in which each block of mathematics over several lines is one line: no list,
    heading or table can start in it. ``in_code`` returns whether an offset lies in code."""
    pieces: list[str] = []
    done = 0
    for match in _BLOCK.finditer(text):
        start, depth = match.end() - 2, match["mark"].count(">")
        if start < done:
            continue
        close = text.find("$$", match.end())
        if close < 0:
            break
        inside = text[match.end() : close]
        is_line = "\n" not in inside and "\r" not in inside
        if is_line or (_is_block(inside, depth) and not in_code(start)):
            pieces += (text[done : match.end()], inside if is_line else _one_line(inside, depth), "$$")
            done = close + 2
    return "".join((*pieces, text[done:])) if pieces else text


def _is_block(inside: str, depth: int) -> bool:
    quoted = depth == 0 or all(match["mark"].count(">") >= depth for match in _LINE.finditer(inside))
    return quoted and _OTHER.search(inside) is None


def _one_line(inside: str, depth: int) -> str:
    def line(match: re.Match[str]) -> str:
        mark, left = match["mark"], depth
        kept = 0
        while left and kept < len(mark):
            left -= mark[kept] == ">"
            kept += 1
        kept += depth > 0 and mark[kept : kept + 1] in (" ", "\t")
        end = _NEW_LINE + _NOTHING * (len(match["end"]) - 1)
        return f"{end}{_NOTHING * kept}{mark[kept:]}"

    return _LINE.sub(line, inside.translate(_HELD))


def written(tex: str) -> str:
    """Return what the author wrote between the signs, for the text there in the joined text."""
    return tex.translate(_FREED) if _NEW_LINE in tex else tex


def events(text: str, options: int, *, always: bool) -> Sequence[Event] | None:
    """Return the events of a joined text with mathematics as such; None where nothing in it is, or nothing is beyond
    doubt and it is not ``always`` meant."""
    all_events = list(pyromark.events(text, options=options | MATHS))
    sure = always
    some = False
    for at, event in enumerate(all_events):
        if isinstance(event, str):
            continue
        if "InlineMath" in event:
            tex = event["InlineMath"]
            if _is_prose(tex, all_events[at + 1] if at + 1 < len(all_events) else None):
                all_events[at] = {"Text": f"${tex}$"}
                continue
            sure = sure or _is_sure(tex)
        elif "DisplayMath" in event:
            sure = True
        else:
            continue
        some = True
    return all_events if some and sure else None


def maths(text: str) -> Iterator[Maths]:
    """Yield the mathematics of a joined text, where any of it is beyond doubt."""
    parsed = list(pyromark.events_with_range(text, options=OPTIONS | MATHS))
    some: list[Maths] = []
    for at, (event, where) in enumerate(parsed):
        if isinstance(event, str):
            continue
        if "DisplayMath" in event:
            some.append(Maths(event["DisplayMath"], True, where))
        elif "InlineMath" in event and not _is_prose(
            event["InlineMath"], parsed[at + 1][0] if at + 1 < len(parsed) else None
        ):
            some.append(Maths(event["InlineMath"], False, where))
    if any(formula.display or _is_sure(formula.tex) for formula in some):
        for formula in some:
            yield formula._replace(tex=written(formula.tex))


def _is_prose(tex: str, after: Event | None) -> bool:
    """Return whether the text after a closing sign shows that it closes nothing: `$5-$10`, `$HOME/$USER`."""
    text = after["Text"] if after is not None and not isinstance(after, str) and "Text" in after else ""
    return text[:1].isdigit() or (text[:1].isalnum() and not _is_sure(tex))


def _is_sure(tex: str) -> bool:
    return _TEX.search(tex) is not None
