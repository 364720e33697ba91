"""Looking at documents: kept analyses, other processes, what makes them new again (X10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files import RootedFiles
from prosa.adapters.processes import Pool
from prosa.diagnostics import Annotation, Applicability, Fix, Problem, Severity
from prosa.document import Def, Ref
from prosa.rules import analyzer
from prosa.rules.analyzer import TOGETHER, TOGETHER_CHARACTERS, Analyzer, grouped
from prosa.rules.cache import NotPlain, from_row, to_row
from prosa.rules.engine import Checked, check
from prosa.rules.findings import Analysis, Suppression
from prosa.rules.policy import Profile
from prosa.rules.rule import LocalLink, ReadFacts
from prosa.source import Edit, SourceText, Span
from tests.depth import examples
from tests.dialects.test_program import HOSTILE

NOW = datetime(2026, 1, 15, tzinfo=UTC)
PROGRAM = "---\nname: {0}\ndescription: x\ninput: {{type: object}}\noutput: {{type: object}}\n{1}---\n"


@dataclass
class Memory:
    """A `Store` that counts how often rows were made."""

    rows: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        return {key: self.rows[key] for key in keys if key in self.rows}

    def put(self, rows: Mapping[str, str]) -> None:
        self.made += len(rows)
        self.rows.update(rows)


@dataclass
class Here:
    """`Workers` that work here and count their jobs."""

    count: int = 2
    jobs: int = 0

    def map(self, function: Callable, jobs: Sequence) -> Iterator:
        self.jobs += len(jobs)
        return map(function, jobs)


def checked(folder: Path, store: Memory | None = None, profile: Profile | None = None, **ports) -> Checked:
    profile = profile or Profile()
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".mda", ".ymj"))
    return check(paths, Analyzer(RootedFiles(folder), profile.hints, False, NOW, store=store, **ports), profile)


def findings(done: Checked) -> list[tuple[str, str, str, int]]:
    return [(Path(each.path).name, each.rule, each.message, each.start.line) for each in done.diagnostics]


def found(folder: Path, store: Memory | None = None, **options) -> list[tuple[str, str, str, int]]:
    return findings(checked(folder, store, **options))


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_x10_what_was_kept_gives_the_same_findings_and_nothing_is_made_twice(tmp_path: Path):
    """X10."""
    put(
        tmp_path,
        plain="# A\n[b](gone.md) [c](#nowhere) [^1]\n<!-- prosa-ignore MD020 -->\n\n[d](gone.md)\n",
        good=PROGRAM.format("good", ""),
        main=PROGRAM.format("main", "imports: [./good.md, ./none.md]\n"),
    )
    (tmp_path / "note.mda").write_text("---\ntags: [a\n---\n", encoding="utf-8")
    store = Memory()
    first = found(tmp_path, store)
    made = store.made
    assert made == 5  # four documents and one group of programs
    assert found(tmp_path, store) == first == found(tmp_path)
    assert store.made == made
    assert {rule for _, rule, _, _ in first} >= {
        "unresolved-link",
        "unresolved-anchor",
        "undefined-footnote",
        "unknown-import",
    }


def test_x10_a_link_target_that_changes_makes_the_finding_new(tmp_path: Path):
    """X10. The document with the link did not change."""
    put(tmp_path, a="[b](b.md#part)", b="# Part")
    store = Memory()
    assert found(tmp_path, store) == []
    put(tmp_path, b="# Another")
    assert [rule for _, rule, _, _ in found(tmp_path, store)] == ["unresolved-anchor"]
    (tmp_path / "b.md").unlink()
    assert [rule for _, rule, _, _ in found(tmp_path, store)] == ["unresolved-link"]
    put(tmp_path, b="# Part")
    assert found(tmp_path, store) == []


def test_x10_an_import_that_changes_makes_the_importing_program_new(tmp_path: Path):
    """X10."""
    put(tmp_path, main=PROGRAM.format("main", "imports: [./sub/part.md]\n"))
    (tmp_path / "sub").mkdir()
    put(tmp_path / "sub", part=PROGRAM.format("part", ""))
    store = Memory()
    paths = [tmp_path / "main.md"]

    def rules() -> list[str]:
        analyzer = Analyzer(RootedFiles(tmp_path), Profile().hints, False, NOW, store=store)
        return [each.rule for each in check(paths, analyzer, Profile()).diagnostics]

    assert rules() == rules() == []
    put(tmp_path / "sub", part="---\nname: [x]\n---\n")
    assert "wrong-type" in rules()
    (tmp_path / "sub" / "part.md").unlink()
    assert rules() == ["unknown-import"]


def test_x10_the_key_is_content_and_not_place(tmp_path: Path):
    """X10. A copy of the tree elsewhere finds everything kept; a document of another name is looked at anew."""
    (tmp_path / "one").mkdir()
    put(tmp_path / "one", a="text", b="---\nname: b\nimports: []\n---\n")
    store = Memory()
    found(tmp_path / "one", store)
    made = store.made
    (tmp_path / "other" / "one").mkdir(parents=True)
    for path in (tmp_path / "one").iterdir():
        (tmp_path / "other" / "one" / path.name).write_bytes(path.read_bytes())
    found(tmp_path / "other" / "one", store)
    assert store.made == made
    put(tmp_path / "other" / "one", c="text")
    found(tmp_path / "other" / "one", store)
    assert store.made == made + 1


def test_another_selection_needs_nothing_new(tmp_path: Path):
    put(tmp_path, a="---\na: 1\na: 2\n<<: 3\n---\n")
    store = Memory()
    found(tmp_path, store)
    made = store.made
    assert [each[1] for each in found(tmp_path, store, profile=Profile(select=("MD006",)))] == ["merge-key"]
    assert checked(tmp_path, store, profile=Profile(strict=True)).errors[-1].rule == "merge-key"
    assert store.made == made


def test_another_dialect_is_looked_at_anew(tmp_path: Path):
    put(tmp_path, a="text")
    store = Memory()
    assert found(tmp_path, store) == []
    assert found(tmp_path, store, profile=Profile("markdownlang"))[0][1] == "missing-front-matter"


@pytest.mark.parametrize(
    "row", ["", "{}", "[]", "[1,2]", "null", '["x","plain",[[]],[],null,{},false,[],[],[],[],[],{}]']
)
def test_x10_a_row_that_is_none_counts_as_none(tmp_path: Path, row: str):
    """X10."""
    put(tmp_path, a="[b](gone.md)")
    store = Memory()
    expected = found(tmp_path, store)
    store.rows = dict.fromkeys(store.rows, row)
    assert found(tmp_path, store) == expected
    assert store.made == 2


def test_a_document_whose_findings_rest_on_the_time_is_not_kept(tmp_path: Path):
    (tmp_path / "a.mda").write_text("---\ndoc-id: x\nexpired-date: 2020-01-01T00:00:00Z\n---\n", encoding="utf-8")
    store = Memory()
    found(tmp_path, store)
    assert store.made == 0


def test_files_that_cannot_be_read_are_not_kept(tmp_path: Path):
    (tmp_path / "a.md").write_bytes(b"\xff")
    store = Memory()
    assert found(tmp_path, store) == found(tmp_path, store)
    assert (store.made, len(found(tmp_path, store))) == (0, 1)


def corpus(folder: Path, count: int) -> None:
    put(folder, **{f"d{n}": f"# D{n}\n\n[next](d{(n + 1) % (count + 1)}.md#d{n}) [^{n}]\n" for n in range(count)})
    put(folder, **{f"p{n}": PROGRAM.format(f"p{n}", f"imports: [./p{n + 1}.md]\n") for n in range(6)})


def test_several_processes_find_what_one_finds(tmp_path: Path):
    corpus(tmp_path, analyzer.ENOUGH + 30)
    alone = found(tmp_path)
    assert len(alone) > analyzer.ENOUGH
    store = Memory()
    assert found(tmp_path, store, workers=Pool(2)) == alone
    assert found(tmp_path, store) == alone
    assert found(tmp_path, Memory(), workers=Pool(2)) == alone


def test_what_the_first_documents_load_forked_processes_have(tmp_path: Path):
    corpus(tmp_path, analyzer.ENOUGH + 30)
    made: list[str] = []

    class Noting(Here):
        def map(self, function, jobs):
            made.append("others")
            return super().map(function, jobs)

    class Files(RootedFiles):
        def read(self, path: Path) -> SourceText:
            made.append("read")
            return super().read(path)

    paths = sorted(tmp_path.iterdir())
    Analyzer(Files(tmp_path), Profile().hints, keep=False, workers=Noting()).analyses(paths)
    first = made.index("others")
    assert 0 < first <= analyzer.CHUNK
    assert made.count("read") == len(paths)


def test_few_new_documents_are_not_worth_a_process(tmp_path: Path):
    corpus(tmp_path, analyzer.ENOUGH + 30)
    store, workers = Memory(), Here()
    found(tmp_path, store, workers=workers)
    assert workers.jobs > 1
    first = workers.jobs
    put(tmp_path, d3="changed")
    found(tmp_path, store, workers=workers)
    assert workers.jobs == first


def test_progress_counts_every_document(tmp_path: Path):
    corpus(tmp_path, 10)
    seen: list[int] = []
    found(tmp_path, Memory(), progress=seen.append)
    assert sum(seen) == 16


def test_an_analysis_survives_its_row():
    span = Span(1, 5)
    facts = ReadFacts(
        "p.md",
        "magi",
        (Ref("footnote", "x", "id", span, "related", 0.5, bidirectional=True, fragment="f"),),
        (Def("id", "y", span),),
        frozenset({"a", "b"}),
        (LocalLink("t.md", "f", 1, 2),),
        (LocalLink("w", "", 3, 4),),
        {"k": (1, ("a", None)), "m": {"n": True}},
    )
    fix = Fix("do", (Edit(span, "ü\u2028"),), Applicability.UNSAFE)
    problem = Problem("merge-key", "message", span, ("note",), (Annotation(span, "here"),), fix, Severity.HINT)
    analysis = Analysis(
        "0" * 64, facts, (problem,), (Suppression((("MD", span),), span, span),), True, {"/a": "b"}, imports=True
    )
    assert from_row(to_row(analysis), "p.md") == analysis


def test_what_is_not_plain_is_not_kept():
    elsewhere = Annotation(Span(0, 0), "there", SourceText("x"))
    with pytest.raises(NotPlain):
        to_row(
            Analysis("0", ReadFacts("p", "plain"), (Problem("merge-key", "m", Span(0, 0), annotations=(elsewhere,)),))
        )
    with pytest.raises(NotPlain):
        to_row(Analysis("0", ReadFacts("p", "plain", extra={"a": {1, 2}})))


@settings(max_examples=examples(40), deadline=None)
@given(text=st.one_of(HOSTILE, st.text(max_size=80)))
def test_x10_whatever_a_document_says_its_row_says_the_same(text: str, tmp_path_factory: pytest.TempPathFactory):
    """X10. Kept or not, the findings are equal."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    store = Memory()
    assert checked(folder, store).diagnostics == checked(folder, store).diagnostics


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [
        ([], []),
        ([10] * (2 * TOGETHER + 1), [TOGETHER, TOGETHER, 1]),
        ([TOGETHER_CHARACTERS, 1, 1], [1, 2]),
        ([1, TOGETHER_CHARACTERS * 3, TOGETHER_CHARACTERS - 1, 1, 1], [2, 2, 1]),
    ],
)
def test_few_documents_go_together_and_fewer_long_ones(lengths: list[int], sizes: list[int]) -> None:
    texts = [(Path(f"{number}.md"), SourceText("x" * length)) for number, length in enumerate(lengths)]
    groups = list(grouped(texts))
    assert [len(each) for each in groups] == sizes
    assert [each for group in groups for each in group] == texts
