"""A refresh compares one value of stamps first; whatever is wrong with it, the rows of the index decide."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.scan import scan, stamp_of
from prosa.adapters.sqlite import refresh, stamps
from prosa.corpus.found import FoundDocument, Scan, Stamp
from tests.adapters.sqlite.place import Place
from tests.depth import examples

TEXTS = {f"{folder}n{number}.md": f"# N{number}\n\n[[n1]]\n" for folder in ("", "a/", "a/b/") for number in range(3)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A corpus whose index is up to date, of files that were written long ago as far as anybody can tell."""
    found = Place.at(tmp_path, TEXTS)
    found.refresh()
    settled(found)
    return found


def settled(place: Place) -> None:
    """Lets the index trust its stamps, as it does two seconds after the files were written."""
    looked = scan(place.root, RootedFiles(place.root))
    later = Scan(looked.documents, looked.at_ns + 10**10)
    place.index.refresh(later, place.reading)


def only_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every look at the rows of documents an error."""

    def rows(*_: object) -> None:
        raise AssertionError("the rows were read")

    monkeypatch.setattr(refresh, "known_documents", rows)


def test_x10_a_refresh_without_a_change_reads_no_rows(place: Place, monkeypatch: pytest.MonkeyPatch):
    only_stamps(monkeypatch)
    assert place.refresh().unchanged == len(TEXTS)


def test_a_refresh_reads_the_rows_of_what_changed_alone(place: Place, monkeypatch: pytest.MonkeyPatch):
    place.write("a/n1.md", "# Other")
    place.write("a/c/new.md", "# New")
    place.remove("n2.md")
    asked = list[str]()
    known = refresh.known_documents
    monkeypatch.setattr(refresh, "known_documents", lambda conn, paths: asked.extend(paths) or known(conn, paths))
    report = place.refresh()
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, len(TEXTS) - 2)
    assert sorted(asked) == ["a/c/new.md", "a/n1.md", "n2.md"]


def test_documents_that_are_named_are_known_to_the_next_refresh(place: Place, monkeypatch: pytest.MonkeyPatch):
    file = place.write("a/n1.md", "# Other")
    place.remove("n0.md")
    stamp = stamp_of(file)
    assert isinstance(stamp, Stamp)
    looked = Scan((FoundDocument("a/n1.md", str(file), stamp),), stamp.ctime_ns + 10**10)
    place.index.refresh_some(looked, ["n0.md"], place.reading)
    only_stamps(monkeypatch)
    assert place.refresh().unchanged == len(TEXTS) - 1


def test_many_named_documents_make_the_value_anew(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stamps, "MOST_TOUCHED", 0)
    place.index.refresh_some(Scan((), 1), ["n0.md"], place.reading)
    assert place.ask("SELECT name FROM meta WHERE name = 'stamps'") == []
    assert place.refresh().added == 1
    assert place.ask("SELECT name FROM meta WHERE name = 'stamps'") == ["stamps"]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.integers(0, 999), st.integers(1, 255)), max_size=3), st.integers(0, 2000))
def test_x10_a_value_that_is_broken_is_made_anew_and_never_believed(
    place: Place, changes: list[tuple[int, int]], end: int
):
    (value,) = place.ask("SELECT value FROM meta WHERE name = 'stamps'")
    broken = bytearray(value)
    for at, change in changes:
        broken[at % len(value)] ^= change
    cut = bytes(broken[:end])
    with place.index.writing() as connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'stamps'", (cut,))
    assert place.refresh().documents == len(TEXTS)
    assert sorted(place.ask("SELECT path FROM document")) == sorted(TEXTS)
    settled(place)
    looked = scan(place.root, RootedFiles(place.root))
    known = stamps.known(place.index.writer(), looked)
    assert known is not None
    assert known.stamps == stamps.stamps_of(looked)


@pytest.mark.parametrize("other", ["fewer rows", "text", "nothing"])
def test_x10_a_value_of_another_index_is_not_believed(other: str, place: Place):
    with place.index.writing() as connection:
        if other == "fewer rows":  # the value names a document that this index has not
            connection.execute("DELETE FROM section WHERE document = (SELECT id FROM document WHERE path = 'n0.md')")
            connection.execute("DELETE FROM document WHERE path = 'n0.md'")
        elif other == "text":
            connection.execute("UPDATE meta SET value = 'no blob' WHERE name = 'stamps'")
        else:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'stamps'", (msgspec.msgpack.encode({}),))
    assert place.refresh().added == (other == "fewer rows")
    assert sorted(place.ask("SELECT path FROM document")) == sorted(TEXTS)


def test_x3_other_settings_of_dialects_are_noticed(place: Place):
    looked = scan(place.root, RootedFiles(place.root), lambda path: "plain" if path.name == "n1.md" else "", hints="2")
    assert place.index.refresh(looked, place.reading).changed == 3
    assert place.index.refresh(looked, place.reading).changed == 0


def test_documents_that_cannot_be_read_are_tried_again(place: Place):
    os.truncate(place.root / "n1.md", 0)
    (place.root / "n1.md").write_bytes(b"\xff\xfe\xfd")
    assert [each.path.name for each in place.refresh().unreadable] == ["n1.md"]
    assert [each.path.name for each in place.refresh().unreadable] == ["n1.md"]
    place.write("n1.md", "# Again")
    assert place.refresh().added == 1
