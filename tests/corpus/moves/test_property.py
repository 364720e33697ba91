"""After a move the graph is the same up to the new name, whatever the notation (X21, X22, Y21, H4, L28, M50)."""

from __future__ import annotations

import posixpath

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from prosa.corpus.moves import Move, MoveRefused, plan_move
from prosa.corpus.moves.world import World
from prosa.graph.names import joined
from prosa.graph.record import Record, Reference
from tests.corpus.moves.corpora import corpora, paths
from tests.corpus.moves.store import Texts, after
from tests.depth import examples

QUIET = settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def seen(world: World, move: Move, *, before: bool) -> dict[str, list[tuple[object, ...]]]:
    """What every reference of every document says and where it leads, under the names after the move."""
    return {
        move.path_after(path) if before else path: [
            said(world, record, each, move if before else None) for each in record.references
        ]
        for path, record in world.records.items()
    }


def said(world: World, record: Record, reference: Reference, move: Move | None) -> tuple[object, ...]:
    target = world.resolve(record, reference)
    to: object = [move.path_after(path) if move else path for path in target.paths]
    if not to:
        to = reference.target
        if reference.kind == "path":
            to = joined(posixpath.dirname(record.path), reference.target)
    else:
        to = sorted(to)  # type: ignore[call-overload]
    rest = (reference.origin, reference.rel, reference.strength, reference.bidirectional, reference.fragment)
    return (*rest, target.state, to)


def compare(texts: dict[str, str], move: Move) -> None:
    try:
        plan = plan_move(move, Texts(texts))
    except MoveRefused:
        event("refused")
        return
    event("planned")
    written = after(texts, plan)
    was = World.of(Texts(texts).records())
    now = World.of(Texts(written).records())
    noted = {(note.path, note.line) for note in plan.notes}
    before, afterwards = seen(was, move, before=True), seen(now, move, before=False)
    assert before.keys() == afterwards.keys()
    for path, rows in before.items():
        lines = [each.line for each in now.records[path].references]
        assert len(rows) == len(afterwards[path])
        for line, old, new in zip(lines, rows, afterwards[path], strict=True):
            lost = old[-2] != "resolved"
            assert old == new or (lost and (path, line) in noted), (path, line)
    for change in (*plan.others, plan.moved):
        assert change.edits or change.after == change.before.text


@QUIET
@given(corpora(), st.data())
def test_x21_a_file_that_moves_leaves_the_graph_as_it_was(texts: dict[str, str], data: st.DataObject):
    path = data.draw(st.sampled_from(sorted(texts)))
    new = data.draw(paths(posixpath.splitext(path)[1]))
    assume(new not in texts)
    compare(texts, Move(path, new))


@QUIET
@given(corpora(), st.sampled_from(["new", "it's: new", "#1", "a`b", "x/y", "ö 2", "[n]", "null", "12"]), st.data())
def test_x21_an_id_that_changes_leaves_the_graph_as_it_was(texts: dict[str, str], new: str, data: st.DataObject):
    records = Texts(texts).records()
    owners = [(record.path, each.name) for record in records for each in record.definitions if each.kind == "id"]
    assume(owners)
    path, old = data.draw(st.sampled_from(owners))
    compare(texts, Move(path, path, old, new))


@QUIET
@given(corpora(), st.data())
def test_a_move_that_was_cut_short_anywhere_ends_as_if_it_had_not_been(texts: dict[str, str], data: st.DataObject):
    path = data.draw(st.sampled_from(sorted(texts)))
    new = data.draw(paths(posixpath.splitext(path)[1]))
    assume(new not in texts)
    move = Move(path, new)
    try:
        plan = plan_move(move, Texts(texts))
    except MoveRefused:
        event("refused")
        return
    event("planned")
    done = data.draw(st.integers(0, len(plan.others)))
    between = texts | {change.path: change.after for change in plan.others[:done]}
    try:
        again = plan_move(move, Texts(between))
    except MoveRefused:
        event("only with the journal")
        return
    assert after(between, again) == after(texts, plan)
