"""What a refresh reads and what it leaves alone, and what it says."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.scan import scan
from prosa.adapters.processes import Pool
from prosa.adapters.sqlite import Index
from prosa.adapters.sqlite.reading import Reading
from prosa.adapters.sqlite.refresh import StaleIndex
from prosa.adapters.sqlite.update import ENOUGH
from prosa.corpus.found import FoundDocument, Scan, Stamp
from prosa.source import FileProblem, SourceText
from tests.adapters.sqlite.place import Place

OLD = 10**18
"""A time long ago, in nanoseconds."""


@dataclass
class Texts:
    """Files in memory that count how often they are read."""

    texts: dict[str, str]
    read_paths: list[str] = field(default_factory=list)

    def read(self, path: Path) -> SourceText:
        self.read_paths.append(path.name)
        if path.name not in self.texts:
            raise FileProblem(path, "missing", "no such file")
        text = self.texts[path.name]
        return SourceText(text, path.name, f"digest of {text}")

    def scan(self, at_ns: int = OLD * 2, **stamps: int) -> Scan:
        return Scan(
            tuple(
                FoundDocument(name, name, Stamp(1, OLD, stamps.get(name.partition(".")[0], OLD), 1))
                for name in sorted(self.texts)
            ),
            at_ns,
        )


def counts(report) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.unchanged


@pytest.fixture
def index(tmp_path: Path):
    found = Index(tmp_path / "x-v1.sqlite")
    yield found
    found.close()


def test_what_looks_the_same_is_not_read_again(index: Index):
    texts = Texts({"a.md": "one", "b.md": "two"})
    reading = Reading(texts)
    assert counts(index.refresh(texts.scan(), reading)) == (2, 0, 0, 0)
    assert counts(index.refresh(texts.scan(), reading)) == (0, 0, 0, 2)
    assert texts.read_paths == ["a.md", "b.md"]
    texts.texts["b.md"] = "three"
    assert counts(index.refresh(texts.scan(b=OLD + 1), reading)) == (0, 1, 0, 1)
    assert texts.read_paths == ["a.md", "b.md", "b.md"]


def test_content_decides_whether_something_changed(index: Index):
    texts = Texts({"a.md": "one"})
    index.refresh(texts.scan(), Reading(texts))
    assert counts(index.refresh(texts.scan(a=OLD + 1), Reading(texts))) == (0, 0, 0, 1)
    assert counts(index.refresh(texts.scan(a=OLD + 1), Reading(texts))) == (0, 0, 0, 1)
    assert texts.read_paths == ["a.md", "a.md"]


def test_a_file_that_was_written_a_moment_ago_is_not_trusted(index: Index):
    """Written twice within the smallest step of a clock, with the same size: only its content tells."""
    texts = Texts({"a.md": "one", "b.md": "two"})
    young = texts.scan(OLD + 5_000_000_000, a=OLD + 4_000_000_000)
    index.refresh(young, Reading(texts))
    texts.texts = {"a.md": "eno", "b.md": "owt"}
    assert counts(index.refresh(young, Reading(texts))) == (0, 1, 0, 1)
    assert texts.read_paths == ["a.md", "b.md", "a.md"]


def test_a_document_that_vanishes_meanwhile_is_no_problem(index: Index):
    texts = Texts({"a.md": "one", "b.md": "two"})
    found = texts.scan()
    del texts.texts["b.md"]
    report = index.refresh(found, Reading(texts))
    assert (counts(report), report.unreadable) == ((1, 0, 0, 0), ())
    index.refresh(texts.scan(), Reading(texts))
    report = index.refresh(found, Reading(texts))
    assert (counts(report), report.unreadable) == ((0, 0, 0, 1), ())


def test_another_version_of_the_program_reads_everything_again(index: Index):
    texts = Texts({"a.md": "one"})
    index.refresh(texts.scan(), Reading(texts, mark="1"))
    assert counts(index.refresh(texts.scan(), Reading(texts, mark="2"))) == (1, 0, 0, 0)
    with pytest.raises(StaleIndex):
        index.refresh_some(texts.scan(), [], Reading(texts, mark="3"))


def test_a_rebuild_reads_everything_again_and_keeps_computed_vectors(index: Index):
    texts = Texts({"a.md": "one"})
    index.refresh(texts.scan(), Reading(texts))
    with index.writing() as writer:
        writer.execute("INSERT INTO vector VALUES ('m', 'x', x'00')")
    assert counts(index.refresh(texts.scan(), Reading(texts), anew=True)) == (1, 0, 0, 0)
    assert index.connection().execute("SELECT count(*) FROM vector").fetchone() == (1,)


def test_what_the_settings_say_of_a_dialect_counts(index: Index):
    texts = Texts({"a.md": "### @user:\nhello\n"})
    found = texts.scan()
    index.refresh(found, Reading(texts))
    assert index.documents()[0].dialect == "prapti"
    plain = Scan((replace(found.documents[0], hint="plain"),), found.at_ns, hints="plain")
    assert counts(index.refresh(plain, Reading(texts))) == (0, 1, 0, 0)
    assert index.documents()[0].dialect == "plain"


def test_x5_only_regular_files_inside_the_root_are_read(tmp_path: Path):
    """X5b: nothing hidden, nothing that git ignores, no link that leads outside, no pipe."""
    place = Place.at(tmp_path, {"a.md": "x", ".hidden.md": "x", ".git/b.md": "x", "drafts/c.md": "x", "d.txt": "x"})
    subprocess.run(["git", "init", "-q", str(place.root)], check=True, capture_output=True)
    place.write(".gitignore", "drafts/\n")
    (tmp_path / "secret.md").write_text("outside")
    (place.root / "out.md").symlink_to(tmp_path / "secret.md")
    (place.root / "in.md").symlink_to(place.root / "a.md")
    (place.root / "loop.md").symlink_to(place.root / "loop.md")
    os.mkfifo(place.root / "pipe.md")
    report = place.refresh()
    assert place.ask("SELECT path FROM document") == ["a.md"]
    assert [each.path.name for each in report.unreadable] == ["loop.md"]


def test_x5_a_document_has_the_path_where_it_lies_whatever_links_lead_to_it(tmp_path: Path):
    """X5. A link that comes first by name would take the place of the file, and its own links would lead elsewhere."""
    place = Place.at(tmp_path, {"docs/one.md": "[two](two.md)", "docs/two.md": "x", "b.md": "[one](docs/one.md)"})
    (place.root / "a.md").symlink_to("docs/one.md")
    (place.root / "docs" / "also.md").symlink_to("one.md")
    place.refresh()
    assert place.ask("SELECT path FROM document ORDER BY path") == ["b.md", "docs/one.md", "docs/two.md"]
    assert [edge.target for edge in place.index.edges_from("docs/one.md")] == ["docs/two.md"]
    assert [edge.source for edge in place.index.edges_to("docs/one.md")] == ["b.md"]


def test_documents_that_cannot_be_read_are_named_and_the_others_are_there(tmp_path: Path):
    place = Place.at(tmp_path, {"a.md": "x", "good.md": "[[a]]"})
    place.refresh()
    (place.root / "a.md").write_bytes(b"\xff\xfe\x00")
    (place.root / "b.md").write_bytes(b"ok \xe9")
    report = place.refresh()
    assert counts(report) == (0, 0, 1, 1)
    assert [(each.path.name, each.kind) for each in report.unreadable] == [("a.md", "not-utf-8"), ("b.md", "not-utf-8")]
    assert place.index.edges_from("good.md")[0].state == "unresolved"
    place.write("a.md", "again")
    assert (counts(place.refresh()), place.index.edges_from("good.md")[0].state) == ((1, 0, 0, 1), "resolved")


def test_a_name_that_is_no_utf_8_is_told_and_found_nowhere(tmp_path: Path):
    place = Place.at(tmp_path, {"a.md": "# A\n"})
    name = os.fsdecode(b"\xe9" * 12 + b".md")
    (place.root / name).write_text("# B\n")
    report = place.refresh()
    assert [(each.path.name, each.kind) for each in report.unreadable] == [(name, "not-utf-8")]
    assert [node.path for node in place.index.documents()] == ["a.md"]
    assert place.index.node(name) is None
    assert place.index.near(name) == []


def test_one_bad_front_matter_does_not_stop_the_others(tmp_path: Path):
    bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\n" + "".join(f"c{n}: &c{n} [*b, *b]\n" for n in range(3)) + "---\n"
    texts = {"a.md": "---\n[\n---\n", "b.md": bomb, "c.md": "---\n" + "x: " * 200 + "\n---\n", "d.md": "# fine\n"}
    place = Place.at(tmp_path, texts | {"e.mda": "---\nglobs: [\n---\n", "f.ymj": "---\n---\n```json\n{\n```\n"})
    assert counts(place.refresh()) == (6, 0, 0, 0)
    place.check()


def test_several_processes_read_what_one_reads(tmp_path: Path):
    documents = {f"{number % 7}/d{number}.md": f"# T{number}\n\n[[d{number // 2}]]\n" for number in range(ENOUGH + 80)}
    place = Place.at(tmp_path, documents, workers=Pool(2))
    assert counts(place.refresh()) == (len(documents), 0, 0, 0)
    other = Place(place.root, Index(tmp_path / "other-v1.sqlite"))
    other.refresh()
    assert place.dump() == other.dump()
    place.check()
    small = Place.at(tmp_path / "small", {"a.md": "x"})
    small.refresh()
    form = "SELECT name, sql FROM sqlite_schema ORDER BY name"
    assert place.ask(form) == small.ask(form)


def test_progress_is_told(tmp_path: Path):
    place = Place.at(tmp_path, {f"d{number}.md": "x" for number in range(5)})
    told: list[tuple[int, int]] = []
    reading = Reading(RootedFiles(place.root), progress=lambda done, total: told.append((done, total)))
    place.index.refresh(scan(place.root, RootedFiles(place.root)), reading)
    assert told == [(5, 5)]


def test_single_documents_are_brought_up_to_date_without_a_look_at_the_others(index: Index):
    texts = Texts({"a.md": "[[b]]", "b.md": "two", "c.md": "[[b]]"})
    index.refresh(texts.scan(), Reading(texts))
    texts.read_paths.clear()
    texts.texts["a.md"] = "# A\n\n[[b]] [[d]]"
    del texts.texts["b.md"]
    found = texts.scan(a=OLD + 1)
    report = index.refresh_some(Scan(found.documents[:1], found.at_ns), ["b.md", "never.md"], Reading(texts))
    assert (counts(report), texts.read_paths) == ((0, 1, 1, 0), ["a.md"])
    assert [(edge.source, edge.target, edge.state) for edge in index.graph().edges] == [
        *(("a.md", "b", "unresolved"), ("a.md", "d", "unresolved"), ("c.md", "b", "unresolved"))
    ]


def test_an_update_costs_the_same_in_a_large_corpus(tmp_path: Path):
    """The work of an update does not grow with the corpus: what SQLite does is counted, not timed."""

    def instructions(count: int) -> int:
        folder = tmp_path / str(count)
        folder.mkdir()
        place = Place.at(folder, {f"d{at}.md": f"# T{at}\n\n[[d{at // 2}]] [x](d{at - 1}.md)\n" for at in range(count)})
        place.refresh()
        file = place.write("d7.md", "# Other\n\n[[d3]]\n")
        steps = 0

        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        place.index.writer().set_progress_handler(step, 100)
        stat = file.stat()
        found = FoundDocument("d7.md", file, Stamp(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))
        assert counts(place.index.refresh_some(Scan((found,), time.time_ns()), [], place.reading)) == (0, 1, 0, 0)
        place.index.close()
        return steps

    assert instructions(600) < 1.5 * instructions(60) + 20
