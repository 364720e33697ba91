"""Which documents commands read and write: agents' folders, files of other tools, what is passed over (X3, X5, X23)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prosa import check
from prosa.adapters.files.walk import MAX_PROBED_IN_ALL
from prosa.app.check.gather import gather
from prosa.app.site.files import SiteFiles
from prosa.cli.main import main
from tests.cli.desk import desk
from tests.work import is_linear

FLAWED = "# A\n\n[gone](gone.md)\n"


def ran(*argv: str) -> tuple[int, str, str]:
    found = desk(environ=os.environ)
    status = main(list(argv), found.console)
    return status, found.out, found.err


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with documents in all kinds of places, each with a dead link."""
    for name in (
        *("a.md", ".claude/skills/foo/notes.md", ".github/prompts/p.md", ".cursor/rules/r.mdc", "docs/x.mdx"),
        *(".secret/s.md", "node_modules/p/README.md", "docs/vendor/v.md", "env/lib/e.md", ".claude/.notes/c.md"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FLAWED, encoding="utf-8")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    for name in ("b.rst", "c.rst", "d.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


READ = [".claude/skills/foo/notes.md", ".cursor/rules/r.mdc", ".github/prompts/p.md", "a.md", "docs/x.mdx"]


def test_x5_agents_folders_are_read_and_what_others_wrote_is_not(tree: Path):
    """X5, X3."""
    status, out, err = ran("check", ".", "--format", "jsonl")
    assert status == 1
    assert err == ""
    assert sorted({line.split('"path": "')[1].split('"')[0] for line in out.splitlines()}) == READ
    assert sorted({Path(each.path).relative_to(tree).as_posix() for each in check(tree)}) == READ


def test_x5_one_line_says_what_was_passed_over(tree: Path):
    """X5."""
    _, out, err = ran("check", ".")
    assert "in 5 documents" in out
    assert err == "skipped: 2 .rst, .secret, env, node_modules, .notes, vendor\n"
    assert ran("check", "a.md")[2] == ""


def test_x5_a_list_names_everything_that_was_passed_over(tree: Path):
    """X5."""
    err = ran("check", ".", "--show-skipped")[2]
    names = [line.removeprefix("skipped: ") for line in err.splitlines()]
    assert names == [".claude/.notes/", ".secret/", "b.rst", "c.rst", "docs/vendor/", "env/", "node_modules/"]
    for form in ("json", "jsonl"):
        err = ran("check", ".", "--show-skipped", "--format", form)[2]
        assert [json.loads(line) for line in err.splitlines()] == [{"skipped": name} for name in names]


def test_x5_skip_hidden_leaves_out_the_folders_of_agents(tree: Path):
    """X5."""
    _, out, err = ran("check", ".", "--skip-hidden")
    assert "in 2 documents" in out
    assert ".claude" in err


@pytest.mark.parametrize("folder", ["node_modules", "env", ".secret", ".claude", "docs/vendor"])
def test_x5_a_folder_that_is_named_is_read(tree: Path, folder: str):
    """X5."""
    assert "gone.md" in ran("check", folder)[1]


def test_x5_what_git_ignores_is_not_said(tree: Path):
    """X5. Whoever ignores a folder knows of it."""
    (tree / ".gitignore").write_text("node_modules\nenv\nvendor\n.*\n*.rst\n", encoding="utf-8")
    assert ran("check", ".")[2] == "skipped: 2 .rst\n"


def test_x5_every_command_of_a_corpus_reads_the_same(tree: Path):
    """X5. The index knows the documents that `check` knows."""
    status, out, err = ran("index", "--format", "json")
    assert (status, err) == (0, "")
    assert '"documents": 5' in out
    assert ".claude/skills/foo/notes.md" in ran("search", "gone")[1]
    assert ".claude" not in ran("search", "gone", "--skip-hidden")[1]
    assert "skipped: 2 .rst" in ran("index")[2]


def test_x5_hidden_folders_are_written_only_when_they_are_named(tree: Path):
    """X5. `fmt` and `--fix` change nothing that nobody named."""
    talk = '%model = "x"\n\n### @user:\n\nhi\n'
    place = tree / ".claude" / "talk.md"
    for name in (place, tree / "talk.md"):
        name.write_text(talk, encoding="utf-8")
    ran("fmt", ".")
    assert place.read_text(encoding="utf-8") == talk
    assert (tree / "talk.md").read_text(encoding="utf-8") != talk
    ran("fmt", ".claude")
    assert place.read_text(encoding="utf-8") != talk


def test_x5_fixes_are_for_what_was_named(tree: Path):
    """X5."""
    flawed = "\ufeff---\ntitle: a\n---\n"
    place, other = tree / ".claude" / "bom.md", tree / "bom.md"
    for name in (place, other):
        name.write_text(flawed, encoding="utf-8")
    ran("check", ".", "--fix", "--unsafe-fixes")
    assert place.read_text(encoding="utf-8") == flawed
    assert other.read_text(encoding="utf-8") != flawed
    ran("check", ".", ".claude", "--fix", "--unsafe-fixes")
    assert place.read_text(encoding="utf-8") != flawed


def test_x5_rename_leaves_hidden_folders_alone_and_says_so(tree: Path):
    """X5."""
    skill = tree / ".claude" / "skills" / "foo" / "notes.md"
    (tree / "target.md").write_text("# T\n", encoding="utf-8")
    (tree / "a.md").write_text("[t](target.md)\n", encoding="utf-8")
    skill.write_text("[t](../../../target.md)\n", encoding="utf-8")
    status, out, err = ran("rename", "target.md", "moved.md")
    assert status == 0
    assert ".claude/skills/foo/notes.md:1: mentions `target`" in out + err
    assert (tree / "a.md").read_text(encoding="utf-8") == "[t](moved.md)\n"
    assert skill.read_text(encoding="utf-8") == "[t](../../../target.md)\n"
    assert ran("rename", ".claude/skills/foo/notes.md", ".claude/skills/foo/other.md")[0] == 0
    assert not skill.exists()


def test_x23_what_agents_read_is_not_published(tree: Path):
    """X23. A site hides what begins with a dot, whoever reads it."""
    files = SiteFiles(tree, 1000)
    assert files.place("a.md") is not None
    assert files.place(".claude/skills/foo/notes.md") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dots.md", "---\ntitle: a\n...\n\nText.\n"),
        ("blanks.md", "---  \ntitle: a\n---\t\n\nText.\n\n---\n"),
        ("archetypes/default.md", '---\ntitle: {{ replace .Name "-" " " | title }}\ndate: {{ .Date }}\n---\n'),
        ("r.mdc", "---\ndescription: d\nglobs: *.ts,**/*.tsx\nalwaysApply: false\n---\n\nText.\n"),
        ("hugo.md", "{{< code-toggle file=hugo >}}\n[[cascade]]\nx = 1\n{{< /code-toggle >}}\n"),
        ("x.mdx", "import X from './x'\n\nexport const a = [[1, 2]]\n\n<X a={[[b]]}>\n\nText {[[c]]}.\n\n</X>\n"),
    ],
)
def test_x1_x3_ma4_files_of_other_tools_are_well_and_stay_as_they_are(tmp_path: Path, name: str, text: str):
    """X1, X3, MA4. Jekyll, pandoc, Hugo, editors and MDX: no finding, and `fmt` takes the file and changes nothing."""
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(text, encoding="utf-8")
    assert check(place) == []
    assert ran("fmt", str(place)) == (0, "", "0 documents changed, 1 unchanged\n")
    assert place.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("a.mda", "---\ndoc-id: x\ntitle: a\n...\n\nText.\n", "unclosed-front-matter"),
        ("p.md", "--- \nname: p\ndescription: d\noutput:\n  type: string\n---\nText.\n", "front-matter-fence"),
        ("p.md", "---\nname: p\ndescription: {{ .x }}\noutput:\n  type: string\n---\nText.\n", "complex-key"),
    ],
)
def test_x1_our_own_dialects_are_read_exactly(tmp_path: Path, name: str, text: str, rule: str):
    """X1."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert rule in {each.rule for each in check(tmp_path / name)}


SKILL = "---\nname: wrong\ndescription: b\n---\n\nDo it.\n"


def put(tree: Path, *names: str) -> None:
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(SKILL, encoding="utf-8")


def skills_in(out: str) -> list[str]:
    return sorted({path for line in out.splitlines() if (path := line.split('"path": "')[1].split('"')[0]) not in READ})


def test_x5_a_hidden_folder_with_a_skill_is_one_of_agents(tree: Path):
    """X5. At any depth; what is in it is read, and written only when it is named."""
    put(tree, "skills/.curated/x/SKILL.md", "skills/.a/plugins/p/skills/y/skill.md", ".claude/.sys/z/SKILL.md")
    (tree / "skills" / ".curated" / "more.md").write_text(FLAWED, encoding="utf-8")
    wanted = [".claude/.sys/z/SKILL.md", "skills/.a/plugins/p/skills/y/skill.md"]
    wanted += ["skills/.curated/more.md", "skills/.curated/x/SKILL.md"]
    assert skills_in(ran("check", "--format", "jsonl")[1]) == wanted
    assert skills_in("".join(f'"path": "{each.path}"\n' for each in check("."))) == wanted
    assert ran("check")[2] == "skipped: 2 .rst, .secret, env, node_modules, .notes, vendor\n"
    ran("check", ".", "--fix", "--unsafe-fixes")
    assert (tree / wanted[-1]).read_text(encoding="utf-8") == SKILL
    ran("check", "skills/.curated", "--fix", "--unsafe-fixes")
    assert (tree / wanted[-1]).read_text(encoding="utf-8") != SKILL
    assert "skills/.curated/" in ran("check", "--skip-hidden", "--show-skipped")[2]
    assert "skills/.curated/more.md" in ran("search", "gone")[1]


@pytest.mark.parametrize(
    "name",
    [
        *(".git/x/SKILL.md", ".venv/x/SKILL.md", ".cache/x/SKILL.md", "node_modules/.x/SKILL.md", ".x/vendor/SKILL.md"),
        *(".ignored/x/SKILL.md", ".x/ignored/SKILL.md", ".x/SKILL.md.txt", ".x/SKILL.md/a.md"),
    ],
)
def test_x5_a_hidden_folder_of_others_stays_out_whatever_is_in_it(tree: Path, name: str):
    """X5. What git ignores, what programs keep, and what others wrote."""
    (tree / ".gitignore").write_text("/.ignored\nignored/\n", encoding="utf-8")
    put(tree, name)
    (tree / ".venv").mkdir(exist_ok=True)
    (tree / ".venv" / "pyvenv.cfg").touch()
    assert skills_in(ran("check", "--format", "jsonl")[1]) == []


def test_x5_the_search_for_skills_in_hidden_folders_is_bounded(tree: Path, monkeypatch: pytest.MonkeyPatch):
    """X5. A walk over an ordinary tree lists no folder more, and one with large hidden folders a fixed number."""
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(os.fspath(path)) or scandir(path))
    gather(["."], agents=True)
    usual = len(listed)
    for number in range(30):
        for inner in range(60):
            (tree / f".h{number}" / str(inner)).mkdir(parents=True)
    listed.clear()
    gather(["."], agents=True)
    assert usual < len(listed) <= usual + MAX_PROBED_IN_ALL
    listed.clear()
    gather(["."])
    assert len(listed) <= usual


def test_x5_naming_many_files_takes_time_for_each_once(tree: Path):
    """X5. Every one of them in a project of its own."""
    put(tree, *(f"many/{number}/SKILL.md" for number in range(800)))
    (tree / ".git").rmdir()
    names = [f"many/{number}/SKILL.md" for number in range(800)]
    assert is_linear(lambda size: gather(names[:size]), 100, 800)
