"""X29. A program over many rows: nothing that was answered is asked again, each row ends once, failures end nothing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import prosa
from prosa.adapters.store.batches import batches
from prosa.adapters.store.opening import SqliteDatabase, open_store
from prosa.adapters.store.runs import Retention, put_note, sweep
from prosa.runtime.digest import stamp
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from tests.app.batch.labels import Letters, home, program, texts
from tests.depth import examples


def ran(folder: Path, rows: Any, fake: Any, /, **options: Any) -> prosa.BatchResult:
    return prosa.batch(program(folder), rows, provider=fake, environ=home(folder), **options)


def outputs(found: prosa.BatchResult) -> list[tuple[int, Any]]:
    return [(each.row, each.output["n"]) for each in found.rows()]


def test_x29_every_row_has_its_output_in_the_order_of_the_rows(tmp_path: Path):
    """X29."""
    model, heard = Letters(), []
    found = ran(tmp_path, texts(70), model, on_row=heard.append)
    assert found.ok and outputs(found) == [(n + 1, n + 1) for n in range(70)]
    assert sorted(each.row for each in heard) == list(range(1, 71))
    assert (found.summary.done, found.summary.calls, found.summary.input_tokens) == (70, 70, 7000)
    assert 1 < model.most <= 32


def test_x29_the_same_call_again_asks_nobody(tmp_path: Path):
    """X29."""
    first = ran(tmp_path, texts(5), Letters())
    model = Letters()
    again = ran(tmp_path, texts(5), model)
    assert again.id == first.id and not model.asked and outputs(again) == outputs(first)


def test_x29_rows_of_another_kind_are_another_batch(tmp_path: Path):
    """X29: another row, mapping, name, model or program."""
    ids = {ran(tmp_path, texts(2), Letters()).id, ran(tmp_path, texts(3), Letters()).id}
    ids.add(ran(tmp_path, texts(2), Letters(), name="other").id)
    ids.add(ran(tmp_path, texts(2), Letters(), model="gpt-4o-mini").id)
    columns = [{"words": "a", "text": "b"}]
    one = ran(tmp_path, columns, Letters(), fields={"text": "words"})
    other = ran(tmp_path, columns, Letters())
    ids |= {one.id, other.id}
    (tmp_path / "label.md").write_text((tmp_path / "label.md").read_text() + "Again.\n")
    changed = prosa.batch(tmp_path / "label.md", texts(2), provider=Letters(), environ=home(tmp_path))
    assert len(ids | {changed.id}) == 7


def test_x29_a_row_that_fails_fails_alone_with_its_kind(tmp_path: Path):
    """X29."""
    rows: list[Any] = texts(40)
    rows[3] = {"text": 7}
    rows[5] = {"text": "refused"}
    rows[9] = {"text": "absent"}
    model = Letters()
    found = ran(tmp_path, rows, model, max_iterations=1)
    assert {each.row: each.kind for each in found.failures()} == {4: "input", 6: "refused", 10: "provider"}
    assert found.summary.done == 37 and not found.ok and not found.reason
    assert found.summary.failed == {"input": 1, "refused": 1, "provider": 1}
    assert all("7" not in text for text in model.asked)  # what is refused costs nothing


def test_x29_failures_are_tried_again_only_when_told_to(tmp_path: Path):
    """X29."""
    rows = [*texts(30), {"text": "absent"}, {"text": "refused"}]
    ran(tmp_path, rows, Letters(), max_iterations=1)
    model = Letters()
    assert ran(tmp_path, rows, model, max_iterations=1).summary.done == 30 and not model.asked
    model = Letters()
    again = ran(tmp_path, rows, model, max_iterations=1, retry_failed=True)
    assert set(model.asked) == {"absent", "refused"} and again.summary.failed == {"provider": 1, "refused": 1}


def test_x29_too_many_failures_stop_a_batch_and_the_same_call_goes_on(tmp_path: Path):
    """X29: what the service failed at is tried again, since it may have been down."""
    rows = [{"text": f"absent {n}"} for n in range(200)]
    found = ran(tmp_path, rows, Letters(), concurrency=4)
    assert found.reason and 20 <= found.summary.failures <= 24

    class Mended(Letters):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            return await super().complete(_without(request, "absent "), on_text)

    again = ran(tmp_path, rows, Mended(), concurrency=4)
    assert again.ok and again.summary.done == 200


def _without(request: Any, word: str) -> Any:
    from msgspec.structs import replace

    messages = tuple(replace(each, content=each.content.replace(word, "")) for each in request.messages)
    return replace(request, messages=messages)


def test_x29_a_number_of_failures_stops_too(tmp_path: Path):
    """X29."""
    rows = [{"text": f"absent {n}"} for n in range(50)]
    found = ran(tmp_path, rows, Letters(), concurrency=1, max_failures=3)
    assert found.reason == "4 of 4 rows failed" and found.summary.failures == 4


def test_x29_first_some_rows_then_all(tmp_path: Path):
    """X29: `--limit` begins the batch that the whole goes on with."""
    first = ran(tmp_path, texts(20), Letters(), limit=5)
    assert first.summary.done == 5 and first.summary.left == 15 and not first.ok
    model = Letters()
    whole = ran(tmp_path, texts(20), model)
    assert whole.id == first.id and whole.ok and sum(model.asked.values()) == 15


@pytest.mark.parametrize("at_once", [1, 3, 40])
def test_x29_so_many_rows_run_together(tmp_path: Path, at_once: int):
    """X29."""

    class Waiting(Letters):
        """Answers nobody before so many ask at once."""

        def __init__(self) -> None:
            super().__init__()
            self.enough = asyncio.Event()

        async def complete(self, request: Any, on_text: Any = None) -> Any:
            if self.now + 1 >= min(at_once, 30):
                self.enough.set()
            self.now += 1
            await asyncio.wait_for(self.enough.wait(), 60)
            self.now -= 1
            return await super().complete(request, on_text)

    model = Waiting()
    assert ran(tmp_path, texts(30), model, concurrency=at_once).ok
    assert model.most <= at_once


def test_x29_names_of_rows_are_kept_as_they_are(tmp_path: Path):
    """X29: numbers and texts."""
    rows = [{"text": "a", "key": "7"}, {"text": "bb", "key": 7}, {"text": "ccc", "key": "ü \n"}]
    found = ran(tmp_path, rows, Letters(), id_column="key")
    assert [each.id for each in found.rows()] == ["7", 7, "ü \n"]


def test_x29_two_rows_with_one_id_are_refused_with_both_places(tmp_path: Path):
    """X29: before anything is asked, and nothing of the batch is left."""
    rows = [{"text": "a", "key": "k"}, {"text": "b", "key": "j"}, {"text": "c", "key": "k"}]
    model = Letters()
    with pytest.raises(prosa.RowsRefused, match=r'rows:3: the id "k" is that of rows:1 too'):
        ran(tmp_path, rows, model, id_column="key")
    assert not model.asked
    store = tmp_path / "home/.local/share/prosa/store.sqlite"
    assert sqlite3.connect(store).execute("SELECT COUNT(*) FROM batch").fetchone() == (0,)


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([], {}, "has no rows"),
        ([{"text": "a"}], {"id_column": "key"}, "no column 'key'"),
        ([{"text": "a", "words": "b"}], {"fields": {"text": "wrods"}}, "did you mean words"),
        ([{"text": "a", "words": "b"}], {"fields": {"txt": "words"}}, "did you mean text"),
        ([{"text": {1, 2}}], {}, "row 1 is not a JSON object"),
    ],
)
def test_x29_rows_that_are_none_are_refused(tmp_path: Path, rows: Any, options: dict[str, Any], said: str):
    """X29."""
    with pytest.raises(prosa.RowsRefused) as refused:
        ran(tmp_path, rows, Letters(), **options)
    assert said in f"{refused.value.message} {refused.value.hint}"


def test_x25_what_is_confidential_or_kept_nowhere_has_no_batch(tmp_path: Path):
    """X25."""
    path = program(tmp_path)
    chosen = tmp_path / "home/.config/prosa/settings.toml"
    chosen.parent.mkdir(parents=True)
    chosen.write_text('history = "off"\n')
    with pytest.raises(prosa.BatchRefused, match="stores nothing"):
        prosa.batch(path, texts(1), provider=Letters(), environ=home(tmp_path))
    chosen.unlink()
    path.write_text(path.read_text().replace("name: label", "name: label\nclassification: confidential"))
    with pytest.raises(prosa.BatchRefused, match="confidential"):
        prosa.batch(path, texts(1), provider=Letters(), environ=home(tmp_path))


def test_x29_the_mapping_says_which_column_is_which_field(tmp_path: Path):
    """X29: columns that are no input are left out."""
    rows = [{"words": "abc", "text": "no", "other": 1}]
    found = ran(tmp_path, rows, Letters(), fields={"text": "words"})
    assert outputs(found) == [(1, 3)]


@settings(max_examples=examples(20))
@given(st.lists(st.sampled_from(["a", "refused", "absent", "bb"]), min_size=1, max_size=12), st.integers(1, 12))
def test_x29_whatever_fails_each_row_ends_once(tmp_path_factory: Any, kinds: list[str], at_once: int):
    """X29: done and failed rows are all rows, and each is one or the other."""
    folder = tmp_path_factory.mktemp("rows")
    rows = [{"text": f"{kind} {n}"} for n, kind in enumerate(kinds)]
    found = ran(folder, rows, Letters(), concurrency=at_once, max_iterations=1, max_failures="100%")
    done, failed = {each.row for each in found.rows()}, {each.row for each in found.failures()}
    assert done | failed == set(range(1, len(rows) + 1)) and not done & failed
    assert failed == {n for n, kind in enumerate(kinds, 1) if kind in ("refused", "absent")}


def test_x29_results_are_lines_of_json(tmp_path: Path):
    """X29."""
    found = ran(tmp_path, [{"text": "ü"}, {"text": "absent"}], Letters(), max_failures="100%")
    (row,), (failure,) = list(found.rows()), list(found.failures())
    line = json.loads(json.dumps(row.as_dict()))
    assert set(line) == {"row", "id", "output", "cost", "calls", "seconds"} and line["output"] == {"n": 1}
    assert set(failure.as_dict()) == {"row", "id", "kind", "error", "calls", "cost", "attempts"}


def test_x25_old_batches_go_whole_and_those_with_rows_left_make_no_room(tmp_path: Path):
    """X25: a batch that is over is swept as a whole; while rows of one are left, size takes nothing away."""
    program(tmp_path)
    ran(tmp_path, texts(3), Letters())
    left = ran(tmp_path, texts(5), Letters(), limit=2)
    now = datetime.now(UTC)
    with closing(open_store(left.store)) as connection:
        put_note(connection, "swept", stamp(now - timedelta(hours=2)))
        assert sweep(connection, now, Retention(days=30, size=1), lambda _: False)
        assert len(batches(connection)) == 2
        for day in (20, 32, 33):
            later = now + timedelta(days=day)
            put_note(connection, "swept", stamp(later - timedelta(hours=2)))
            sweep(connection, later, Retention(days=30), lambda _: False)
            assert len(batches(connection)) == (2 if day == 20 else 0)
        assert connection.execute("SELECT COUNT(*) FROM run").fetchone() == (0,)
        assert connection.execute("SELECT COUNT(*) FROM call").fetchone() == (0,)


def test_x29_a_row_that_crashes_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X29: a fault of ours within one row is its failure; the same call again does not repeat it by itself."""

    class Odd(Letters):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            if request.messages[-1].content.strip() == "xxx":
                raise OverflowError("a fault")
            return await super().complete(request, on_text)

    model, options = Odd(), {"environ": home(tmp_path), "store": str(tmp_path / "s.sqlite")}
    found = prosa.batch(program(tmp_path), texts(6), provider=model, **options)
    assert [(each.row, each.kind, each.error) for each in found.failures()] == [
        (3, "crashed", "OverflowError: a fault")
    ]
    assert found.summary.done == 5 and found.summary.left == 0
    assert prosa.batch(program(tmp_path), texts(6), provider=model, **options).summary.done == 5
    assert sum(model.asked.values()) == 5


def test_x29_a_row_of_one_call_is_two_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X29: its start with its call, which is made after that; its answer with its end."""
    seen: list[tuple[str, str | None]] = []
    transact = SqliteDatabase.transact

    def noted(store: SqliteDatabase, work: Any) -> Any:
        found = transact(store, work)
        seen.extend(store.execute("SELECT run.state, call.state FROM run LEFT JOIN call ON call.run = run.id"))
        return found

    class Asked(Letters):
        async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
            assert seen[-1] == ("open", "asked")
            return await super().complete(request, on_text)

    monkeypatch.setattr(SqliteDatabase, "transact", noted)
    assert outputs(ran(tmp_path, texts(1), Asked())) == [(1, 1)]
    assert ("open", "answered") not in seen and seen[-1] == ("done", "answered")


def test_x29_an_answer_is_in_the_store_before_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X29: where the first one was refused."""
    states: list[list[tuple[str, str]]] = []
    transact = SqliteDatabase.transact

    def noted(store: SqliteDatabase, work: Any) -> Any:
        found = transact(store, work)
        states.append(store.execute("SELECT path, state FROM call ORDER BY path").fetchall())
        return found

    class Second(Letters):
        async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
            if len(request.messages) > 2:
                assert states[-1] == [("1", "answered"), ("2", "asked")]
                return ModelReply('{"n": 2}', (), Usage(1, 1), model_name="fake-1")
            return ModelReply("no number", (), Usage(1, 1), model_name="fake-1")

    monkeypatch.setattr(SqliteDatabase, "transact", noted)
    found = ran(tmp_path, texts(1), Second())
    assert outputs(found) == [(1, 2)] and found.summary.calls == 2


def test_x29_a_row_fails_whose_refused_answer_the_store_cannot_take(tmp_path: Path):
    """X29: its usage is a number that no column holds; the same call again does not pay for it a second time."""

    class Endless(Letters):
        async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
            reply = await super().complete(request, on_text)
            return replace(reply, usage=Usage(2**63, 1)) if "refused" in request.messages[-1].content else reply

    once = program(tmp_path).read_text().replace("---\n", "---\nlimits: {iterations: 1}\n", 1)
    (tmp_path / "label.md").write_text(once)
    model, options = Endless(), {"environ": home(tmp_path), "store": str(tmp_path / "s.sqlite")}
    for _ in range(2):
        found = prosa.batch(tmp_path / "label.md", [{"text": "refused"}, *texts(3)], provider=model, **options)
        assert [(each.row, each.kind) for each in found.failures()] == [(1, "crashed")]
        assert (found.summary.done, found.summary.left, model.asked["refused"]) == (3, 0, 1)
