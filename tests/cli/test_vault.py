"""YA21: a vault of notes in several languages, in the shape in which Obsidian's help is kept, has no false finding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from prosa.cli.main import main
from tests.cli.desk import desk

LANGUAGES = {
    "en": ("Basics", "Plugins", "Attachments", ("Canvas", "Tags", "Open notes")),
    "de": ("Grundlagen", "Erweiterungen", "Anhang", ("Canvas", "Tags", "Notizen")),
    "sv": ("Grunder", "Insticksprogram", "Attachments", ("Canvas", "Taggar", "Anteckningar")),
}
"""For each language its folders and its notes: names of folders and of notes come again in other languages."""


def notes() -> Iterator[tuple[str, str]]:
    """Notes without a title that begin with text and go on with sections, as people write them there."""
    for language, (basics, plugins, pictures, (canvas, tags, last)) in LANGUAGES.items():
        yield (
            f"{language}/{basics}/{last}.md",
            (
                f"---\naliases: [{last} 2]\n---\nFrom [[{canvas}]] and [[{tags}#Use|that]]. ![[clip.ogg]]\n"
                f"\n## Use\n\nText.\n"
                f"\n![shown](board.png#outline)\n\n![[board.png|300]] and ![[sub/plan.canvas]].\n"
            ),
        )
        yield f"{language}/{plugins}/{canvas}.md", f"Back to [[{last}]], or [[{basics}/{last}]].\n\n### Sizes\n"
        yield f"{language}/{basics}/{tags}.md", f"> [!info]\n> See [[{canvas}]] and `[[no link]]`.\n\n## Use\n"
        yield f"{language}/{pictures}/board.png", ""
        yield f"{language}/{pictures}/sound/clip.ogg", ""
        yield f"{language}/{pictures}/sub/plan.canvas", "{}"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "help/.git").mkdir(parents=True)
    for name, text in notes():
        (tmp_path / "help" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "help" / name).write_text(text)
    return tmp_path / "help"


def findings(*named: Path, cache: Path) -> list[tuple[str, str, str]]:
    """Name, rule and severity of what is found."""
    found = desk(environ={"PROSA_CACHE_DIR": str(cache)})
    main(["check", "--format", "json", *map(str, named)], found.console)
    return [(Path(each["path"]).name, each["rule"], each["severity"]) for each in json.loads(found.out)["diagnostics"]]


@pytest.mark.parametrize("named", [".", "en", "sv/Grunder", "de/Grundlagen/Notizen.md", "sv/Grunder/Anteckningar.md"])
def test_ya21_a_vault_of_several_languages_has_no_false_finding(vault: Path, named: str):
    assert findings(vault / named, cache=vault.parent / "cache") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Canvas]] and [[Gone]]", ("unresolved-wikilink", "warning")),
        ("[[Canvas]] and ![[gone.png]]", ("unresolved-wikilink", "warning")),
        ("[[Canvas]] and ![gone](gone.png)", ("unresolved-link", "error")),
        ("[[Canvas]] and ![gone](sub/board.png)", ("unresolved-link", "error")),
        ("[[Canvas]] and [gone](board.png)", ("unresolved-link", "error")),
        ("[[canvas]]", ("wikilink-case", "hint")),
    ],
)
def test_ya21_what_is_wrong_in_a_vault_is_found(vault: Path, text: str, expected: tuple[str, str]):
    (vault / "en/Basics/New.md").write_text(f"{text}.\n")
    assert findings(vault / "en", cache=vault.parent / "cache") == [("New.md", *expected)]


def test_ya21_in_a_vault_with_its_own_mark_a_name_is_enough(tmp_path: Path):
    """X5: `.obsidian` makes the folder a root; elsewhere a name alone is a hint."""
    for name in ("notes/a.md", "other/a.md"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("![board](board.png)\n")
        (tmp_path / name).with_name("pictures").mkdir()
        (tmp_path / name).parent.joinpath("pictures/board.png").touch()
    (tmp_path / "notes/.obsidian").mkdir()
    (tmp_path / "other/.git").mkdir()
    cache = tmp_path / "cache"
    assert findings(tmp_path / "notes/a.md", cache=cache) == []
    assert findings(tmp_path / "other/a.md", cache=cache) == [("a.md", "unresolved-link", "hint")]


def test_x5_obsidian_marks_the_root_for_the_corpus_and_for_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X5: documents outside the vault are not considered, whatever is above."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    (tmp_path / "vault/in").mkdir()
    (tmp_path / "vault/in/a.md").write_text("[[b]] [[c]]\n")
    (tmp_path / "vault/b.md").touch()
    (tmp_path / "c.md").touch()
    environ = {"PROSA_CACHE_DIR": str(tmp_path / "cache")}
    monkeypatch.chdir(tmp_path / "vault/in")
    found = desk(environ=environ)
    main(["stats", "--format", "json"], found.console)
    assert json.loads(found.out)["root"] == str(tmp_path / "vault")
    assert findings(Path("a.md"), cache=tmp_path / "cache") == [("a.md", "unresolved-wikilink", "warning")]


def test_ya21_check_the_graph_and_the_index_agree_in_a_vault(vault: Path, monkeypatch: pytest.MonkeyPatch):
    """0006: every wikilink between notes stays in its language, and the titles are the names of the files."""
    monkeypatch.chdir(vault)
    found = desk(environ={"PROSA_CACHE_DIR": str(vault.parent / "cache")})
    question = "SELECT source_path, target_path, state FROM edges WHERE target_path IS NOT NULL OR state <> 'file'"
    assert main(["query", question, "--format", "json"], found.console) == 0
    rows = json.loads(found.out)["rows"]
    assert len(rows) == 5 * len(LANGUAGES)
    assert {row["state"] for row in rows} == {"resolved"}
    assert all(row["source_path"].split("/")[0] == row["target_path"].split("/")[0] for row in rows)
    found = desk(environ={"PROSA_CACHE_DIR": str(vault.parent / "cache")})
    assert main(["query", "SELECT path, title FROM documents", "--format", "json"], found.console) == 0
    assert all(Path(row["path"]).stem == row["title"] for row in json.loads(found.out)["rows"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[C\u00a0Pointers]] and [[C\u202fPointers#A|x]]", []),
        ("[[a>b]] [[Limiti-->0]]", []),
        ("[[a>b]] [[nix>da]]", [("unresolved-wikilink", "warning")]),
        ("[[a>b]] [[<name>]] ![[<name>.png]]", []),
        ("[[C Pointers#_corollary _ sub Deep note the _deep_ one]]", []),
        ("[[C Pointers#corollary the deep one]]", []),
        ("[[C Pointers#_corollary _ sub Deep note the deep two]]", [("unresolved-anchor", "warning")]),
    ],
)
def test_ya21_names_are_compared_as_obsidian_compares_them(tmp_path: Path, text: str, expected: list[tuple[str, str]]):
    """YA21: signs in names, and headings that hold a wikilink, whose target is part of the name of the heading."""
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / "sub").mkdir()
    for name in ("a>b", "Limiti-->0", "sub/Deep note"):
        (tmp_path / f"{name}.md").touch()
    (tmp_path / "C Pointers.md").write_text("## A\n\n##### _corollary:_ [[sub/Deep note|the _deep_ one]]\n")
    (tmp_path / "n.md").write_text(f"{text}\n")
    found = findings(tmp_path, cache=tmp_path.parent / "cache")
    assert [each[1:] for each in found] == expected
