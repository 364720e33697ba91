"""Text inside Markdown that is not Markdown: the JavaScript of MDX files, and TOML in the shortcodes of Hugo (X3).

In: the text of a body. Out: ordered spans that no Markdown parser should see. Their content is not interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.regex import regex
from prosa.source import Span

_FENCE = r"^[ \t]*(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n"
_MODULE = r"^(?P<module>(?:import|export)\b[^\n]*(?:\n[^\n]*\S[^\n]*)*)"
_MDX = regex(rf"{_FENCE}|(?P<ticks>`++)|{_MODULE}|(?P<brace>\{{)|\\.", re.MULTILINE)
_RUNS = regex(r"`++|\n")
_BRACES = regex(r"[{}]")
_SHORTCODE = regex(r"\{\{<\s*(?P<end>/\s*)?(?P<name>[\w-][\w/-]*)(?:\s(?:(?!\{\{<)[^>\n])*+)?>\}\}")
_TABLE = regex(r"^[ \t]*(\[\[[^\[\]\n]*\]\])[ \t]*\r?$", re.MULTILINE)


def mdx_spans(text: str) -> Iterator[Span]:
    """Yield `import` and `export` with what follows up to a blank line, and expressions in braces, outside of code."""
    at, ends = 0, _pairs(text)
    spans = _code_spans(text) if "`" in text else {}
    while match := _MDX.search(text, at):
        at = match.end()
        if match["module"] is not None:
            yield Span(*match.span("module"))
        elif match["fence"] is not None:
            closing = re.compile(rf"^[ \t]*{match['fence']}", re.MULTILINE).search(text, at)
            at = closing.end() if closing is not None else len(text)
        elif match["ticks"] is not None:
            at = spans.get(match.start(), at)
        elif match["brace"] is not None and (end := ends.get(match.start())):
            yield Span(match.start(), end)
            at = end


def _code_spans(text: str) -> dict[int, int]:
    """Map the start of each code span that begins and ends on one line to its end."""
    ends: dict[int, int] = {}
    next_runs: dict[int, int] = {}
    for match in reversed(list(_RUNS.finditer(text))):
        length = len(match[0])
        if match[0] == "\n":
            next_runs = {}
        else:
            if length in next_runs:
                ends[match.start()] = next_runs[length]
            next_runs[length] = match.end()
    return ends


def shortcode_spans(text: str) -> Iterator[Span]:
    """Yield the headings of TOML tables, `[[menus.main]]` say, between a shortcode and its end: they are no
    wikilinks."""
    opened: dict[str, int] = {}
    done = 0
    for shortcode in _SHORTCODE.finditer(text):
        if shortcode["end"] is None:
            opened[shortcode["name"]] = shortcode.end()
        elif (start := opened.pop(shortcode["name"], None)) is not None and start >= done:
            yield from (Span(*match.span(1)) for match in _TABLE.finditer(text, start, shortcode.start()))
            done = shortcode.end()


def _pairs(text: str) -> dict[int, int]:
    """Return where each brace that is closed is closed, those inside counted."""
    opened: list[int] = []
    ends: dict[int, int] = {}
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            ends[opened.pop()] = match.end()
    return ends
