"""A drawing before it has a format: where every node and label stands, which lines join them, how large the sheet is.

In: a selection. Out: a `Scene` in pixels at 100 %, used by SVG and by the page alike. Up to `ALL_LABELS` nodes every
node has its label and the layout makes room for it; beyond, labels go where they fit, the best linked nodes first.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from math import sqrt
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from prosa.graph.layout import Box, Size, Wanted, arrange, centred, hull
from prosa.graph.layout.box import place_labels
from prosa.graph.node import Edge, Node
from prosa.graph.selection import Ghost, Selection
from prosa.render.graph.style import GHOST, EdgeStyle, NodeStyle, edge_looks, kind_of, name_of, node_style, one_line

ALL_LABELS = 250
"""Number of nodes up to which all are labelled. In a larger drawing at least that many of the best linked ones are."""

LETTER, LINE = 12.0, 15.0
"""Size of a label's letters, and the distance of its lines. Twelve pixels are readable at 100 %."""

LABEL_WIDTH = 138.0
"""Widest line of a label. Two lines of this hold the titles of most documents."""

SPACING = 1.0
"""Length of a link for each side of the square that a node takes with its label, on average."""

FEW, LONGEST = 25, 118.0
"""Number of nodes with unlimited room, and the length of their links."""

AIR = 8.0
"""Free room around a node with its label."""

SMALLEST, LARGEST, HUB = 4.5, 15.0, 9.0
"""Radii of nodes: without links, at most, and from where on a label is bold."""


LOOP = 14.0
"""How far the loop of a node that points at itself reaches beyond it, its arrow included."""


class Mark(Struct, frozen=True):
    """A node or ghost on the sheet. ``links`` counts the documents that point at it, ``around`` those that are
    connected with it either way, which decides the radius. ``label`` are lines of text and ``label_box`` where they
    stand, None where there was no room."""

    subject: Node | Ghost
    name: str
    style: NodeStyle
    links: int
    around: int
    radius: float
    x: float
    y: float
    label: tuple[str, ...]
    label_box: Box | None = None

    @property
    def box(self) -> Box:
        """The node without its label."""
        return centred(self.x, self.y, Size(2 * self.radius, 2 * self.radius))

    @property
    def is_hub(self) -> bool:
        """Whether it stands out."""
        return self.radius >= HUB


class Line(Struct, frozen=True):
    """An edge on the sheet, between two places in ``marks``: its type, and its style."""

    edge: Edge
    source: int
    target: int
    kind: str
    style: EdgeStyle


class Scene(Struct, frozen=True):
    """The whole drawing. ``box`` holds every mark and label and starts at the origin."""

    marks: tuple[Mark, ...]
    lines: tuple[Line, ...]
    box: Box


def scene(selection: Selection) -> Scene:
    """Return the drawing of a selection."""
    lines = _lines(selection)
    marks = _marks(selection, lines)
    order = sorted(range(len(marks)), key=lambda at: (-marks[at].around, marks[at].name, at))
    placed = _placed(marks, lines, frozenset(order[:ALL_LABELS]))
    if len(marks) > ALL_LABELS:
        placed = _with_more_labels(placed, order)
    return _at_origin(placed, lines)


def _lines(selection: Selection) -> tuple[Line, ...]:
    """Return the lines, one for all edges of a type from one node to another."""
    ghosts = selection.ghost_edges()
    looks = edge_looks((*selection.drawn, *(edge for edge, _ in ghosts)))
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    ends = [(edge, place[edge.source], place[edge.target]) for edge in selection.drawn]
    ends += [(edge, place[edge.source], len(selection.nodes) + ghost) for edge, ghost in ghosts]
    lines: dict[tuple[int, int, str], Line] = {}
    for edge, source, target in ends:
        kind = kind_of(edge)
        lines.setdefault((source, target, kind), Line(edge, source, target, kind, looks[kind]))
    return tuple(lines.values())


def _marks(selection: Selection, lines: Sequence[Line]) -> list[Mark]:
    pairs = {(line.source, line.target) for line in lines if line.source != line.target}
    links = Counter(target for _, target in pairs)
    connected = Counter(at for pair in {tuple(sorted(pair)) for pair in pairs} for at in pair)
    subjects: list[Node | Ghost] = [*selection.nodes, *selection.ghosts]
    return [_mark(subject, links[at], connected[at]) for at, subject in enumerate(subjects)]


def _mark(subject: Node | Ghost, links: int, connected: int) -> Mark:
    radius = min(SMALLEST + 1.35 * sqrt(connected), LARGEST)
    if isinstance(subject, Ghost):
        name, style, radius = one_line(subject.target), GHOST, SMALLEST + 0.5
    else:
        name, style = name_of(subject), node_style(subject.dialect)
    label = wrap(name, LABEL_WIDTH, LETTER, bold=radius >= HUB)
    return Mark(subject, name, style, links, connected, radius, 0.0, 0.0, label)


def label_size(mark: Mark) -> Size:
    """Return the room that a label takes."""
    width = max(text_width(line, LETTER, bold=mark.is_hub) for line in mark.label)
    return Size(width, LINE * len(mark.label))


def _placed(marks: Sequence[Mark], lines: Sequence[Line], labelled: Collection[int]) -> list[Mark]:
    """Return the marks where they go, those in ``labelled`` with their labels."""
    rooms = [_room(mark, at in labelled) for at, mark in enumerate(marks)]
    spacing = LONGEST if len(marks) <= FEW else SPACING * sqrt(fmean(room.width * room.height for room in rooms))
    wanted = Wanted([_key(mark) for mark in marks], [(line.source, line.target) for line in lines], rooms, spacing)
    places = arrange(wanted)
    return [
        _standing(mark, rooms[at], places[at]) if at in labelled else replace(mark, x=places[at][0], y=places[at][1])
        for at, mark in enumerate(marks)
    ]


def _room(mark: Mark, labelled: bool) -> Size:
    if not labelled:
        return Size(2 * mark.radius + AIR, 2 * mark.radius + AIR)
    label = label_size(mark)
    return Size(max(2 * mark.radius, label.width) + AIR, 2 * mark.radius + label.height + 2 + AIR)


def _standing(mark: Mark, room: Size, place: tuple[float, float]) -> Mark:
    """Return the node at the top of its room, the label below it."""
    x, y = place
    top = y - room.height / 2 + AIR / 2
    label = label_size(mark)
    left, under = x - label.width / 2, top + 2 * mark.radius + 2
    box = Box(left, under, left + label.width, under + label.height)
    return replace(mark, x=x, y=top + mark.radius, label_box=box)


def _with_more_labels(marks: Sequence[Mark], order: Sequence[int]) -> list[Mark]:
    """Return labels for the nodes that have none, where they fit between everything that is there."""
    boxes = [mark.box for mark in marks]
    taken = [mark.label_box for mark in marks if mark.label_box]
    waiting = [at for at in order if marks[at].label_box is None]
    label_boxes = place_labels(boxes, [label_size(mark) for mark in marks], waiting, taken)
    return [replace(mark, label_box=mark.label_box or box) for mark, box in zip(marks, label_boxes, strict=True)]


def _key(mark: Mark) -> str:
    """Return the name that decides where a node starts: its path, so that it keeps its place when others come
    and go."""
    return mark.subject.path if isinstance(mark.subject, Node) else f"\0{mark.subject.kind}\0{mark.subject.target}"


def _loop(mark: Mark) -> Box:
    """Return the room of the loop above and to the right of a node that points at itself."""
    return Box(mark.x, mark.y - mark.radius - LOOP, mark.x + mark.radius + LOOP, mark.y)


def _at_origin(marks: Sequence[Mark], lines: tuple[Line, ...]) -> Scene:
    boxes = [mark.box for mark in marks] + [mark.label_box for mark in marks if mark.label_box]
    boxes += [_loop(marks[line.source]) for line in lines if line.source == line.target]
    whole = hull(boxes)
    moved = tuple(
        replace(
            mark,
            x=mark.x - whole.left,
            y=mark.y - whole.top,
            label_box=mark.label_box.moved(-whole.left, -whole.top) if mark.label_box else None,
        )
        for mark in marks
    )
    return Scene(moved, lines, Box(0, 0, whole.width, whole.height))


_NARROW = frozenset("iljI|!.,:;'`()[]{}/\\ ftr-\"")
_WIDE = frozenset("mwMW@%&—…")
_EM = {"narrow": 0.38, "wide": 0.98, "upper": 0.72, "usual": 0.61, "square": 1.02}

BOLD = 1.07
"""The width of bold letters relative to normal ones."""

ELLIPSIS = "…"

_SHARES = (0.55, 0.65, 0.75, 0.85)
"""Narrower widths that are tried first, so that no word stands alone in the last line."""


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line in letters of ``size`` pixels."""
    return sum(map(_em, text)) * size * (BOLD if bold else 1.0)


def wrap(text: str, width: float, size: float, *, lines: int = 2, bold: bool = False) -> tuple[str, ...]:
    """At most ``lines`` lines of at most that width, about equally long; what does not fit ends in an ellipsis. One
    empty line for none."""
    text_lines = _filled(text, width, size, lines, bold)
    if len(text_lines) < 2 or text_lines[-1].endswith(ELLIPSIS):
        return text_lines
    tried = (_filled(text, width * share, size, lines, bold) for share in _SHARES)
    return next(candidate for candidate in (*tried, text_lines) if " ".join(candidate) == " ".join(text_lines))


def _filled(text: str, width: float, size: float, lines: int, bold: bool) -> tuple[str, ...]:
    """Return lines filled one after the other."""
    words = text.split()
    filled: list[str] = []
    while words and len(filled) < lines - 1:
        line = words.pop(0)
        while words and text_width(f"{line} {words[0]}", size, bold=bold) <= width:
            line = f"{line} {words.pop(0)}"
        if text_width(line, size, bold=bold) > width:
            line, rest = _broken(line, width, size, bold)
            words = [rest, *words] if rest else words
        filled.append(line)
    if words:
        filled.append(shortened(" ".join(words), width, size, bold=bold))
    return tuple(filled) or ("",)


def shortened(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return the text, or as much of its beginning as fits with an ellipsis."""
    if text_width(text, size, bold=bold) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, bold=bold)
    return _fitting(text, room, size, bold).rstrip(" -/.,") + ELLIPSIS


def _broken(word: str, width: float, size: float, bold: bool) -> tuple[str, str]:
    """Return a word that is too wide for a line: what fits, best up to a hyphen, slash, dot or underscore, and the
    rest."""
    fits = _fitting(word, width, size, bold) or word[:1]
    best = max(fits.rfind(mark) for mark in "-/_.") + 1
    cut = best if best > len(fits) // 2 else len(fits)
    return word[:cut], word[cut:]


def _fitting(text: str, width: float, size: float, bold: bool) -> str:
    """As much of the beginning as that width takes, whole characters with what combines with them."""
    used = 0.0
    for at, char in enumerate(text):
        used += _em(char) * size * (BOLD if bold else 1.0)
        if used > width:
            return text[:at]
    return text


def _em(char: str) -> float:
    """Return the width of a character in units of the letter size."""
    if char in _NARROW:
        return _EM["narrow"]
    if char in _WIDE:
        return _EM["wide"]
    if char.isascii():
        return _EM["upper"] if char.isupper() else _EM["usual"]
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in ("W", "F") or unicodedata.category(char) == "So":
        return _EM["square"]
    return _EM["upper"] if char.isupper() else _EM["usual"] if char.isalpha() and ord(char) < 0x600 else 0.8
