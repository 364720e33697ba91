"""A plan from what the index knows is the plan from all records in memory."""

from __future__ import annotations

import posixpath
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from prosa.app.corpus.documents import CorpusDocuments
from prosa.corpus.moves import Move, MoveRefused, Plan, plan_move
from prosa.corpus.moves.checks import ReadingSummary, check_result
from prosa.corpus.moves.world import KnownWorld, World
from prosa.graph.record import Record, Reference
from tests.corpus.moves.corpora import corpora, paths
from tests.corpus.moves.disk import shelf_of, write
from tests.depth import examples

SAID = Reference("inline", "c.md", "path", 0, 4, 3)


class InMemory(CorpusDocuments, frozen=True):
    """The same documents, with all records loaded."""

    def world(self) -> World:
        return World.of(self.known.records(), given=self.given)


def planned(move: Move, store: CorpusDocuments) -> Plan | str:
    """The plan, or why there is none."""
    try:
        return plan_move(move, store)
    except MoveRefused as refused:
        return str(refused)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(corpora(), st.data())
def test_x21_x22_the_index_gives_the_plan_that_all_records_give(texts: dict[str, str], data: st.DataObject):
    path = data.draw(st.sampled_from(sorted(texts)))
    new = data.draw(paths(posixpath.splitext(path)[1]))
    name = data.draw(st.sampled_from(["", "x1", "a"]))
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder) / "corpus", texts)
        with shelf_of(root, Path(folder) / "cache") as store:
            ids = [each.name for each in _record(store, path).definitions if each.kind == "id"]
            move = Move(path, path, ids[0], name) if ids and name else Move(path, new)
            event(type(store.world()).__name__)
            assert planned(move, store) == planned(move, InMemory(store.corpus))


def _record(store: CorpusDocuments, path: str) -> Record:
    record = store.known.record(path)
    assert record is not None
    return record


def test_a_move_in_a_large_corpus_loads_few_records(tmp_path: Path, monkeypatch):
    texts = {f"n{at}.md": f"# N{at}\n\n[[n{at + 1}]]\n" for at in range(200)}
    with shelf_of(write(tmp_path / "corpus", texts), tmp_path / "cache") as store:
        world = store.world()
        assert isinstance(world, KnownWorld)

        def everything(*_: object) -> None:
            raise AssertionError("all records were loaded")

        monkeypatch.setattr("prosa.adapters.sqlite.linking.stored_records", everything)
        plan = plan_move(Move("n7.md", "deep/other.md"), store)
        assert [change.path for change in plan.others] == ["n6.md"]


def test_a_move_that_makes_another_site_looks_at_all_records(tmp_path: Path):
    node = "---\nid: a\ntype: t\ntitle: A\n---\n[b](b.md) [c](/site/b.md)\n"
    texts = {"site/index.md": node, "site/b.md": node.replace("id: a", "id: b"), "c.md": "[a](site/index.md)\n"}
    with shelf_of(write(tmp_path / "corpus", texts), tmp_path / "cache") as store:
        for new in ("index.md", "site/other.md", "other/index.md"):
            move = Move("site/index.md", new)
            assert planned(move, store) == planned(move, InMemory(store.corpus))


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ((), "`c.md` in line 3 is none at CLAUDE.md, or one of another kind"),
        ((SAID._replace(kind="stem", target="x.md"),), "`c.md` in line 3 is none"),
        ((SAID, SAID._replace(target="d.md", line=5)), "`d.md` in line 5 is one at CLAUDE.md alone"),
    ],
)
def test_x19_a_refused_move_names_the_reference_that_differs(after: tuple[Reference, ...], reason: str):
    """Where another name makes another reading of the same text."""
    move = Move("AGENTS.md", "CLAUDE.md")
    old = Record(move.path, "context", references=(SAID,))
    new = Record(move.new_path, "context", references=after)
    same = ReadingSummary("context", ())
    with pytest.raises(MoveRefused) as refused:
        [*check_result(move, World.of([old]), World.of([new]), {old.path: (same, same)})]
    assert f"AGENTS.md would not read back with the same references: {reason}" in refused.value.message
