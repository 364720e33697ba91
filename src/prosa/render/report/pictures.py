"""Small pictures as SVG, each with a title and a description: an interval on a scale, a rate over time, shares.

Colours come from the style of the page. No text of a document or a model stands in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from prosa.evaluation.statistics import Interval
from prosa.records.test import TrendPoint
from prosa.render.report.parts import MAX_BRIEF, one_line

WIDE, EDGE = 640, 26
"""The width of a picture, and the room beside its scale."""

MAX_POINTS = 100
"""Points of a trend that are drawn, the latest."""


def scale_picture(
    name: str,
    words: tuple[str, str],
    value: float,
    interval: Interval | None,
    ends: tuple[float, float],
    wide: int = WIDE,
) -> str:
    """Return a value with its interval on a scale between ``ends``. ``name`` is for the ids of the page, ``words`` are
    title and description."""

    def x(at: float) -> float:
        return EDGE + (max(ends[0], min(ends[1], at)) - ends[0]) / (ends[1] - ends[0]) * (wide - 2 * EDGE)

    marks = [ends[0] + (ends[1] - ends[0]) * n / 4 for n in range(5)]
    sign = "+.1f" if ends[0] < 0 else ".2f"
    lines = [f'<line class="axis" x1="{x(ends[0]):.1f}" y1="44" x2="{x(ends[1]):.1f}" y2="44"/>']
    lines += [f'<line class="axis" x1="{x(at):.1f}" y1="40" x2="{x(at):.1f}" y2="48"/>' for at in marks]
    lines += [f'<text x="{x(at):.1f}" y="66">{format(at, sign) if at else "0"}</text>' for at in marks]
    if ends[0] < 0:
        lines.append(f'<line class="zero" x1="{x(0):.1f}" y1="4" x2="{x(0):.1f}" y2="48"/>')
    if interval is not None:
        left, right = x(interval.low), x(interval.high)
        lines.append(
            f'<rect class="band" x="{left:.1f}" y="13" width="{max(2, right - left):.1f}" height="18" rx="4"/>'
        )
    lines.append(f'<circle class="dot" cx="{x(value):.1f}" cy="22" r="5.5"/>')
    return _picture(name, words, (wide, 74), "scale", lines)


def trend_picture(name: str, words: tuple[str, str], points: Sequence[TrendPoint]) -> str:
    """Return the rates of a suite over time, the oldest left. Where nothing was measured, the line is interrupted."""
    points = points[-MAX_POINTS:]
    step = (WIDE - 2 * EDGE - 20) / max(1, len(points) - 1)
    places = [
        None if point.rate is None else (EDGE + 20 + at * step, 12 + (1 - point.rate) * 116)
        for at, point in enumerate(points)
    ]
    lines: list[str] = []
    for share, y in (("1", 12), ("0.5", 70), ("0", 128)):
        lines.append(f'<line class="grid" x1="{EDGE + 12}" y1="{y}" x2="{WIDE - EDGE + 8}" y2="{y}"/>')
        lines.append(f'<text class="left" x="{EDGE + 4}" y="{y + 4}">{share}</text>')
    for known, row in groupby(places, key=lambda place: place is not None):
        if known:
            lines += _line([place for place in row if place is not None])
    return _picture(name, words, (WIDE, 140), "trend", lines)


def _line(row: Sequence[tuple[float, float]]) -> Iterator[str]:
    if len(row) > 1:
        yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in row)}"/>'
    yield from (f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>' for x, y in row)


def shares_picture(name: str, words: tuple[str, str], shares: Sequence[tuple[str, int]]) -> str:
    """Return numbers as parts of a bar, each with the class that gives it its colour."""
    total = sum(number for _, number in shares) or 1
    lines: list[str] = []
    x = 0.0
    for kind, number in shares:
        width = WIDE * number / total
        if number:
            lines.append(
                f'<rect class="{kind}" x="{x:.1f}" y="0" width="{max(1.0, width - 2):.1f}" height="16" rx="3"/>'
            )
        x += width
    return _picture(name, words, (WIDE, 16), "shares", lines)


def rate_bar(rate: float) -> str:
    """Return a rate as a bar beside its number, which says the same."""
    bars = (
        f'<rect class="{kind}" width="{width:.1f}" height="8" rx="4"/>'
        for kind, width in (("all", 100), ("dot", 100 * rate))
    )
    return f'<svg class="bar" viewBox="0 0 100 8" aria-hidden="true">{"".join(bars)}</svg>'


def _picture(name: str, words: tuple[str, str], size: tuple[int, int], kind: str, lines: Sequence[str]) -> str:
    title, description = (escape(one_line(word, MAX_BRIEF)) for word in words)
    return (
        f'<svg class="{kind}" viewBox="0 0 {size[0]} {size[1]}" role="img" aria-labelledby="{name}-title {name}-words">'
        f'<title id="{name}-title">{title}</title><desc id="{name}-words">{description}</desc>{"".join(lines)}</svg>'
    )
