"""The import graph: relative to the importing file, each real file read once, nothing opened that may not be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from prosa.adapters.files import RootedFiles
from prosa.graph import MAX_PROGRAMS, load_closure
from prosa.source import FileProblem, SourceText


def program(name: str, *imports: str) -> str:
    front = f"imports: [{', '.join(imports)}]\n" if imports else ""
    return f"---\nname: {name}\ndescription: x\ninput: {{type: object}}\noutput: {{type: object}}\n{front}---\n"


@dataclass
class Counting:
    """Files that remember what was opened."""

    under: RootedFiles
    opened: list[str] = field(default_factory=list)

    def read(self, path: Path) -> SourceText:
        self.opened.append(self.real(path).name)
        return self.under.read(path)

    def real(self, path: Path) -> Path:
        return self.under.real(path)

    def inside_root(self, path: Path) -> bool:
        return self.under.inside_root(path)


def write(folder: Path, **programs: str) -> None:
    for name, text in programs.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_l6_l28_la14_paths_start_at_the_importing_file(tmp_path: Path):
    """L6, L28, LA14. `../` is allowed, absolute paths too."""
    write(
        tmp_path,
        main=program("main", "./sub/one.md"),
        sub__one=program("one", "two.md", "../three.md", str(tmp_path / "four.md")),
        sub__two=program("two"),
        three=program("three"),
        four=program("four"),
    )
    closure = load_closure(tmp_path / "main.md", RootedFiles(tmp_path))
    assert [each.model.name for each in closure.programs.values()] == ["main", "one", "two", "three", "four"]
    assert [each.state for each in closure.programs[tmp_path / "sub" / "one.md"].imports] == ["program"] * 3


def test_l29_la15_the_whole_graph_is_read_and_a_caller_sees_its_own_imports_only(tmp_path: Path):
    """L29, LA15."""
    write(tmp_path, a=program("a", "b.md"), b=program("b", "c.md"), c=program("c"))
    closure = load_closure(tmp_path / "a.md", RootedFiles(tmp_path))
    assert [each.model.name for each in closure.imported(closure.root)] == ["b"]
    assert len(closure.programs) == 3
    assert closure.cycles == ()


def test_lw8_imports_of_imports_are_loaded_so_a_cycle_is_found(tmp_path: Path):
    """LW8, LA15."""
    write(tmp_path, a=program("a", "b.md"), b=program("b", "c.md"), c=program("c", "a.md"))
    closure = load_closure(tmp_path / "a.md", RootedFiles(tmp_path))
    assert [[path.name for path in cycle] for cycle in closure.cycles] == [["a.md", "b.md", "c.md"]]


def test_a_file_under_two_names_is_one_program_and_read_once(tmp_path: Path):
    write(tmp_path, main=program("main", "a.md", "./sub/../a.md", "link.md"), a=program("a", "main.md"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    files = Counting(RootedFiles(tmp_path))
    closure = load_closure(tmp_path / "main.md", files)
    assert len(closure.programs) == 2
    assert files.opened == ["main.md", "a.md"]


def test_x5_nothing_outside_the_root_is_opened_unless_asked(tmp_path: Path):
    """X5, LA14. A link that leads out counts as outside, and a run follows none; nor what reads as no program."""
    absolute = str(tmp_path / "out.md")
    names = ("../out.md", absolute, "link.md", "up/out.md", "../linked.md", "../plain.md", "../gone.md")
    write(tmp_path, in__main=program("main", *names), out=program("out", "far/on.md"), far__on=program("on"))
    write(tmp_path, plain="---\ntitle: x\n---\n")
    (tmp_path / "in" / "link.md").symlink_to(tmp_path / "out.md")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "linked.md").symlink_to(tmp_path / "out.md")
    files = Counting(RootedFiles(tmp_path / "in"))
    closure = load_closure(tmp_path / "in" / "main.md", files)
    assert {each.state for each in closure.root.imports} == {"outside-root"}
    assert files.opened == ["main.md"]
    rooted = RootedFiles(tmp_path / "in")
    followed = load_closure(tmp_path / "in" / "main.md", rooted, outside=rooted.read_outside)
    states = dict(zip(names, (each.state for each in followed.root.imports), strict=True))
    assert {name for name, state in states.items() if state == "program"} == {"../out.md", absolute}
    assert states["../gone.md"] == "missing"
    assert {states[name] for name in names[2:-1]} == {"outside-root"}
    quoted = {each.model.name: each.model.source.quotable for each in followed.programs.values()}
    assert quoted == {"main": True, "out": False, "on": False}


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("stdlib:json", "reserved"),
        ("STDLIB:json", "reserved"),
        ("helper.py", "not-markdown"),
        ("https://example.org/a.md", "missing"),
        ("missing.md", "missing"),
        ("folder.md", "unreadable"),
        ("bytes.md", "unreadable"),
        ('"nul\\0.md"', "missing"),
    ],
)
def test_what_becomes_of_an_import(tmp_path: Path, text: str, state: str):
    write(tmp_path, main=program("main", text))
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe\x00")
    assert load_closure(tmp_path / "main.md", RootedFiles(tmp_path)).root.imports[0].state == state


def test_a_program_that_cannot_be_read_is_an_error_of_the_caller(tmp_path: Path):
    with pytest.raises(FileProblem):
        load_closure(tmp_path / "none.md", RootedFiles(tmp_path))


def test_several_programs_make_one_graph(tmp_path: Path):
    write(tmp_path, a=program("a", "c.md"), b=program("b", "c.md"), c=program("c"))
    closure = load_closure([tmp_path / "a.md", tmp_path / "b.md"], RootedFiles(tmp_path))
    assert [path.name for path in closure.roots] == ["a.md", "b.md"]
    assert len(closure.programs) == 3


def test_the_number_of_programs_is_bounded(tmp_path: Path):
    """One program more than the limit is not opened."""
    layers = [f"n{number}" for number in range(MAX_PROGRAMS + 2)]
    for number, name in enumerate(layers):
        after = (f"n{2 * number + 1}.md", f"n{2 * number + 2}.md")
        write(tmp_path, **{name: program(name, *(each for each in after if each[:-3] in layers))})
    closure = load_closure(tmp_path / "n0.md", RootedFiles(tmp_path))
    assert len(closure.programs) == MAX_PROGRAMS + 1
    assert [each.state for loaded in closure.programs.values() for each in loaded.imports].count("too-many") == 1
