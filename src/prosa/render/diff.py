"""Changes as a unified diff, as `git apply` and people read it. In: a text before and after. Out: the diff."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, takewhile

CONTEXT = 3
"""Unchanged lines around a change."""

MAX_COMPARED = 4_000
"""Changed lines up to which the longest common part is computed; beyond that the whole range counts as changed,
because comparing takes quadratic time."""


def render_diff(path: str, before: str, after: str) -> str:
    """Return the diff of one file; empty when nothing changed. Lines end at LF; a CR is part of its line."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    start = max(0, head - CONTEXT)
    old, new = old[start : len(old) - max(0, tail - CONTEXT)], new[start : len(new) - max(0, tail - CONTEXT)]
    lines = (line for hunk in _hunks(old, new, start) for line in hunk)
    return "".join((f"--- {path}\n", f"+++ {path}\n", *lines))


def _hunks(old: list[str], new: list[str], offset: int) -> Iterator[list[str]]:
    if len(old) + len(new) > MAX_COMPARED:
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        groups = [
            [
                ("equal", 0, head, 0, head),
                ("replace", head, len(old) - tail, head, len(new) - tail),
                ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
            ]
        ]
    else:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, old, new, autojunk=False)
        groups = [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]
    for group in groups:
        first, last = group[0], group[-1]
        yield [
            f"@@ -{_range(first[1], last[2], offset)} +{_range(first[3], last[4], offset)} @@\n",
            *(line for code in group for line in _marked(code, old, new)),
        ]


def _marked(code: tuple[str, int, int, int, int], old: list[str], new: list[str]) -> Iterator[str]:
    kind, i1, i2, j1, j2 = code
    if kind == "equal":
        yield from (_line(" ", line) for line in old[i1:i2])
        return
    yield from (_line("-", line) for line in old[i1:i2])
    yield from (_line("+", line) for line in new[j1:j2])


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _range(start: int, end: int, offset: int) -> str:
    length = end - start
    first = start + offset + (1 if length else 0)
    return f"{first}" if length == 1 else f"{first},{length}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _common(old: list[str], new: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda at: at < min(len(old), len(new)) and old[at] == new[at], count()))
