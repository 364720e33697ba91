"""What `prosa check` prints where findings are many and alike; programs get all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.app.check.digest import MANY_BROKEN, MOST_WANTED
from prosa.cli.main import main
from tests.cli.desk import desk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    (root / ".obsidian").mkdir(parents=True)
    (root / "A.md").write_text("[[B]]\n")
    (root / "B.md").touch()
    monkeypatch.chdir(root)
    return root


def said(*words: str, status: int | None = 0) -> str:
    found = desk(environ={"PROSA_CACHE_DIR": str(Path.cwd().parent / "cache")})
    done = main([*words], found.console)
    assert status in (done, None), found.err
    return found.out


def test_ya21_links_to_notes_that_are_not_written_yet_are_one_line_each(folder: Path):
    (folder / "A.md").write_text("[[B]] [[Wanted one]]\n\n[[Wanted two]] ![[gone.pdf]]\n")
    assert said("check") == (
        "A.md:1:7: MD024 warning: no document is called `Wanted one` [unresolved-wikilink]\n"
        "A.md:3:1: MD024 warning: no document is called `Wanted two` [unresolved-wikilink]\n\n"
        "A.md:3:16: MD024 warning: no file is called `gone.pdf` [unresolved-wikilink]\n"
        "  |\n3 | [[Wanted two]] ![[gone.pdf]]\n  |                ^^^^^^^^^^^^^\n"
        "  = help: a file is found by its name anywhere below the root\n\n"
        "2 wikilinks lead to notes that are not written yet. To list them by name, with the number of links:\n"
        "  prosa graph --report wanted\n\n"
        "Found 3 warnings in 2 documents.\n"
    )


def test_ya21_of_very_many_the_first_are_printed_and_all_are_counted(folder: Path):
    count = MOST_WANTED + 7
    (folder / "A.md").write_text("[[B]]\n" + "".join(f"[[Xyz{at}]]\n" for at in range(count)))
    told = said("check")
    assert told.count("MD024") == MOST_WANTED
    assert f"{count} wikilinks lead to notes that are not written yet (7 are not printed)." in told
    assert told.endswith(f"Found {count} warnings in 2 documents.\n")
    assert len(json.loads(said("check", "--format", "json"))["diagnostics"]) == count


def test_ya21_a_slip_and_what_is_no_vault_are_printed_whole(folder: Path):
    (folder / "Holidays.md").touch()
    (folder / "A.md").write_text("[[B]] [[Holidayz]]\n")
    assert "did you mean `[[Holidays]]`?" in said("check") and "wanted" not in said("check")
    (folder / "A.md").write_text("[[B]] [[Xyz]]\n")
    (folder / ".obsidian").rmdir()
    (folder / ".git").mkdir()
    assert "1 | [[B]] [[Xyz]]" in said("check") and "wanted" not in said("check")


def test_ya21_the_report_is_named_for_the_vault_that_was_checked(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "A.md").write_text("[[B]] [[Xyz]]\n")
    monkeypatch.chdir(folder.parent)
    assert f"  prosa graph {folder} --report wanted\n" in said("check", "notes")
    assert "Xyz" in said("graph", str(folder), "--report", "wanted")


def test_a_folder_of_links_that_lead_nowhere_gets_one_suggestion_that_works(folder: Path):
    (folder / "docs/quoted").mkdir(parents=True)
    (folder / "docs/quoted/a.md").write_text("".join(f"[x](gone{at}.md)\n" for at in range(MANY_BROKEN)))
    (folder / "docs/b.md").write_text("[x](lost.md)\n")
    told = said("check", status=1)
    advice = told.partition(f"{MANY_BROKEN} links in docs/quoted/ lead nowhere.")[2]
    assert told.count("lead nowhere") == 1
    (folder / "prosa.toml").write_text(advice.partition("in prosa.toml:\n")[2].partition("\n\n")[0])
    assert "docs/quoted" not in said("check", status=1) and "lost.md" in said("check", status=1)


def test_few_broken_links_get_no_suggestion(folder: Path):
    (folder / "docs").mkdir()
    (folder / "docs/a.md").write_text("".join(f"[x](gone{at}.md)\n" for at in range(MANY_BROKEN - 1)))
    (folder / "c.md").write_text("".join(f"[x](gone{at}.md)\n" for at in range(MANY_BROKEN)))
    assert "lead nowhere" not in said("check", status=1)


def test_x21_the_report_has_wanted_documents_by_name_and_count(folder: Path):
    (folder / "A.md").write_text("[[B]] [[Café x]] [[x.pdf]] [y](Gone.md) [[0]] [[Once]]\n")
    (folder / "B.md").write_text("[[sub/café  x#Part|l]]\n\n[[Gone]]\n\n[[caf\u00e9\u00a0x]]\n")
    assert said("graph", "--report", "wanted").split("\n")[:4] == [
        "  links  wanted  first linked at",
        "      3  Café x  A.md:1",
        "      2  Gone    A.md:1",
        "      1  Once    A.md:1",
    ]
    assert json.loads(said("graph", "--report", "wanted", "--format", "json"))["wanted"][0] == {
        "name": "Café x",
        "links": 3,
        "documents": ["A.md", "B.md"],
    }


def test_x21_a_graph_without_wanted_documents_says_so(folder: Path):
    assert said("graph", "--report", "wanted") == "No document that is linked and does not exist.\n"
