"""Layout: the same every time, quick, and nothing on top of anything else."""

from __future__ import annotations

from itertools import combinations
from math import isfinite
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.graph.layout import Box, Size, Wanted, arrange, centred, hull, overlapping
from prosa.graph.layout.arrange import pack, separate, sheet_width
from prosa.graph.layout.box import place_labels
from prosa.graph.layout.multilevel import coarsen, network, repulsion
from prosa.graph.selection import GraphFilter, select
from prosa.render.graph.scene import ALL_LABELS, scene
from tests.depth import DEEP, examples
from tests.render.graph.corpora import corpus
from tests.work import is_linear

STAR = [(0, at) for at in range(1, 200)]
CHAIN = [(at, at + 1) for at in range(149)]
COMPLETE = list(combinations(range(40), 2))
SIDES = st.floats(1, 200, allow_nan=False)
PLACES = st.floats(-300, 300, allow_nan=False)


def wanted(count: int, links: list[tuple[int, int]], size: Size | None = None) -> Wanted:
    return Wanted([f"n{at}" for at in range(count)], links, [size or Size(20, 20)] * count, 60.0)


@pytest.mark.parametrize(
    ("count", "links"),
    [
        (0, []),
        (1, []),
        (1, [(0, 0)]),
        (2, [(0, 1), (1, 0)]),
        (7, []),
        (200, STAR),
        (150, CHAIN),
        (40, COMPLETE),
        (60, [(at, at + 1) for at in range(0, 60, 2)]),
    ],
)
def test_whatever_the_shape_of_the_graph_no_boxes_overlap(count: int, links: list[tuple[int, int]]):
    asked = wanted(count, links)
    boxes = [centred(x, y, size) for (x, y), size in zip(arrange(asked), asked.sizes, strict=True)]
    assert len(boxes) == count
    assert all(isfinite(edge) for box in boxes for edge in box)
    assert list(overlapping(boxes)) == []


def test_the_same_graph_is_drawn_the_same_way_every_time():
    nodes, edges = corpus(60)
    first, second = (scene(select(nodes, edges, GraphFilter(), ghosts=True)) for _ in range(2))
    assert first == second


def test_equal_names_and_equal_places_still_come_apart():
    asked = Wanted(["same"] * 9, [(at, 0) for at in range(9)], [Size(30, 10)] * 9, 10.0)
    boxes = [centred(x, y, Size(30, 10)) for x, y in arrange(asked)]
    assert list(overlapping(boxes)) == []


@pytest.mark.parametrize("count", [10, 100, 200, ALL_LABELS])
def test_up_to_a_few_hundred_nodes_every_one_has_a_label_and_nothing_covers_it(count: int):
    nodes, edges = corpus(count)
    marks = scene(select(nodes, edges, GraphFilter())).marks
    labels = [mark.label_box for mark in marks if mark.label_box]
    assert len(labels) == count
    assert list(overlapping([*labels, *(mark.box for mark in marks)])) == []


def test_beyond_that_the_best_linked_have_labels_and_no_two_labels_overlap():
    nodes, edges = corpus(600 if DEEP else ALL_LABELS + 50)
    marks = scene(select(nodes, edges, GraphFilter())).marks
    by_links = sorted(marks, key=lambda mark: -mark.around)
    assert all(mark.label_box for mark in by_links[: ALL_LABELS // 2])
    placed = [mark.label_box for mark in marks if mark.label_box]
    assert list(overlapping(placed)) == []


def test_work_grows_with_the_documents():
    sizes = (100, 400) if DEEP else (40, 160)
    chosen = {count: select(*corpus(count), GraphFilter()) for count in sizes}
    assert is_linear(lambda count: scene(chosen[count]), *sizes, part=1)


def test_connected_documents_lie_closer_than_others():
    nodes, edges = corpus(150)
    drawn = scene(select(nodes, edges, GraphFilter()))
    places = [(mark.x, mark.y) for mark in drawn.marks]

    def far(one: int, other: int) -> float:
        return ((places[one][0] - places[other][0]) ** 2 + (places[one][1] - places[other][1]) ** 2) ** 0.5

    linked = [far(line.source, line.target) for line in drawn.lines if line.source != line.target]
    every = [far(one, other) for one, other in combinations(range(len(places)), 2)]
    assert sum(linked) / len(linked) < sum(every) / len(every) / 2


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(PLACES, PLACES, SIDES, SIDES), max_size=40))
def test_boxes_that_were_separated_share_no_area(drawn: list[tuple[float, float, float, float]]):
    sizes = [Size(width, height) for _, _, width, height in drawn]
    places = separate([(x, y) for x, y, _, _ in drawn], sizes)
    boxes = [centred(x, y, size) for (x, y), size in zip(places, sizes, strict=True)]
    assert list(overlapping(boxes)) == []


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(SIDES, SIDES), max_size=30))
def test_what_is_packed_lies_on_the_sheet_and_not_on_each_other(drawn: list[tuple[float, float]]):
    sizes = [Size(*each) for each in drawn]
    width = sheet_width(sizes)
    corners = pack(sizes, width)
    boxes = [Box(x, y, x + size.width, y + size.height) for (x, y), size in zip(corners, sizes, strict=True)]
    shrunk = [box.grown(-1e-6) for box in boxes]
    assert list(overlapping(shrunk)) == []
    assert hull(boxes).right <= width + 1e-6


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(PLACES, PLACES, SIDES), max_size=30))
def test_a_label_that_is_placed_covers_nothing(drawn: list[tuple[float, float, float]]):
    nodes = [centred(x, y, Size(9, 9)) for x, y, _ in drawn]
    labels = [Size(width, 15) for _, _, width in drawn]
    found = [box for box in place_labels(nodes, labels, range(len(nodes))) if box is not None]
    assert list(overlapping(found)) == []
    assert not any(label.overlaps(node) for label in found for node in nodes)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(PLACES, PLACES, SIDES, SIDES), max_size=25))
def test_the_sweep_finds_exactly_the_pairs_that_overlap(drawn: list[tuple[float, float, float, float]]):
    boxes = [Box(x, y, x + width, y + height) for x, y, width, height in drawn]
    every = {(a, b) for a, b in combinations(range(len(boxes)), 2) if boxes[a].overlaps(boxes[b])}
    found = list(overlapping(boxes))
    assert len(found) == len(set(found))
    assert set(found) == every


def test_the_approximated_forces_are_near_the_exact_ones():
    draw = Random(7)
    xs, ys = ([draw.gauss(0, 100) for _ in range(300)] for _ in range(2))
    masses = [1.0 + at % 3 for at in range(300)]
    along_x, along_y = repulsion(xs, ys, masses)
    wrong = total = 0.0
    for at in range(0, 300, 7):
        exact_x = exact_y = 0.0
        for other in range(300):
            dx, dy = xs[at] - xs[other], ys[at] - ys[other]
            square = dx * dx + dy * dy + 1e-3
            exact_x += masses[at] * masses[other] * dx / square**1.5
            exact_y += masses[at] * masses[other] * dy / square**1.5
        wrong += abs(exact_x - along_x[at]) + abs(exact_y - along_y[at])
        total += abs(exact_x) + abs(exact_y)
    assert wrong / total < 0.15


def test_bodies_at_one_point_do_not_break_the_tree():
    forces = repulsion([1.0] * 50, [2.0] * 50, [1.0] * 50)
    assert all(isfinite(each) for axis in forces for each in axis)


def test_a_coarser_network_keeps_every_body_and_its_mass():
    fine = network(200, STAR)
    coarse, group = coarsen(fine)
    assert len(coarse) < len(fine) / 2
    assert sum(coarse.masses) == sum(fine.masses)
    assert sorted(set(group)) == list(range(len(coarse)))
