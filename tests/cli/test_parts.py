"""Parts of long answers: fields, limits, tokens and cursors, the same for every command that lists something."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from splintr import Tokenizer

from prosa.cli.commands import COMMANDS
from prosa.cli.main import main
from tests.cli.desk import desk

WORDS = ["one", "two", "three", "four", "five", "six", "seven"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Seven documents about letters, each with a link to the next, and one that leads nowhere."""
    (tmp_path / "work").mkdir()
    for at, word in enumerate(WORDS):
        text = f"# {word.title()}\n\nLetters of the {word} kind. See [next]({(*WORDS[1:], 'gone')[at]}.md).\n"
        (tmp_path / "work" / f"{word}.md").write_text(text)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def asked(*argv: str, status: int = 0) -> str:
    at = desk()
    assert main(argv, at.console) == status, at.err
    assert at.err == ""
    return at.out


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.from_pretrained("o200k_base")


def tokens(text: str) -> int:
    return len(tokenizer().encode(text))


def refused(*argv: str) -> dict[str, Any]:
    at = desk()
    assert main(argv, at.console) == 2
    found: dict[str, Any] = json.loads(at.err.splitlines()[-1])
    return found


LISTING = {
    ("search", "letters"): "hits",
    ("links", "two.md"): "out",
    ("graph",): "nodes",
    ("query", "SELECT path, words FROM documents ORDER BY path"): "rows",
    ("explain",): "rules",
    ("check",): "diagnostics",
    ("models",): "services",
}


@pytest.mark.parametrize("argv", LISTING, ids=" ".join)
def test_pages_put_together_are_the_whole(argv: tuple[str, ...]):
    status = int(argv == ("check",))
    whole = json.loads(asked(*argv, "--format", "json", status=status))
    limit = "99" if argv == ("explain",) else "3"
    key, cursor, pages, found = LISTING[argv], "", 0, []
    while pages < 200:
        after = ("--after", cursor) if cursor else ()
        page = json.loads(asked(*argv, "--format", "json", "--limit", limit, *after, status=status))
        lists = [each for each in page.values() if isinstance(each, list)]
        assert sum(map(len, lists)) <= int(limit) or argv[0] == "query"
        found += page[key]
        pages += 1
        cursor = page.get("next", "")
        if not cursor:
            break
    assert found == whole[key]
    assert list(whole) == [name for name in page if name != "next"]


@pytest.mark.parametrize("argv", LISTING, ids=" ".join)
def test_tokens_bound_every_page(argv: tuple[str, ...]):
    status = int(argv == ("check",))
    text = asked(*argv, "--format", "json", "--max-tokens", "400", status=status)
    assert len(text.encode()) <= 800
    assert tokens(text) <= 400


def test_fields_are_all_that_a_row_has():
    found = json.loads(asked("search", "letters", "--format", "json", "--fields", "path,line"))
    assert [list(each) for each in found["hits"]] == [["path", "line"]] * 7
    lines = asked("search", "letters", "--format", "jsonl", "--fields", "line,path").splitlines()
    assert [list(json.loads(each)) for each in lines] == [["line", "path"]] * 7
    assert " " not in lines[0]


def test_jsonl_ends_with_the_cursor():
    *rows, last = asked("search", "letters", "--format", "jsonl", "--fields", "path", "--limit", "2").splitlines()
    after = json.loads(last)["next"]
    rest = asked("search", "letters", "--format", "jsonl", "--fields", "path", "--after", after).splitlines()
    assert len(rows) == 2 and len(rest) == 5


def test_an_answer_that_is_a_list_ends_with_the_cursor():
    *rows, last = json.loads(asked("agents", "--format", "json", "--fields", "name", "--limit", "2"))
    assert [list(each) for each in rows] == [["name"]] * 2 and list(last) == ["next"]


def test_without_the_flags_an_answer_is_as_it_was():
    assert "\n  " in asked("search", "letters", "--format", "json")
    limited = asked("search", "letters", "--format", "json", "--limit", "2")
    assert "\n  " in limited and len(json.loads(limited)["hits"]) == 2
    assert len(asked("search", "letters", "--limit", "2").splitlines()) == 4


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--fields", "pth"), "--fields pth: no row has this field"),
        (("--after", "3-00000000"), "--after 3-00000000: that is not a place"),
        (("--after", "x"), "--after: 'x' is not a cursor"),
        (("--max-tokens", "1"), "--max-tokens 1: one row takes more"),
        (("--max-tokens", "0"), "--max-tokens: '0' is not a number"),
        (("--fields", ","), "--fields: expected names"),
        (("--watch", "--limit", "2"), "--watch answers again and again"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_what_makes_no_sense_is_refused(argv: tuple[str, ...], message: str):
    found = refused("search", "letters", "--format", "json", *argv)
    assert found["error"] == "wrong-use" and str(found["message"]).startswith(message)


@pytest.mark.parametrize("flags", [("--fields", "path"), ("--max-tokens", "9"), ("--after", "1-00000000")])
def test_text_has_no_parts(flags: tuple[str, ...]):
    at = desk()
    assert main(("search", "letters", *flags), at.console) == 2
    assert at.err == f"error: {flags[0]} is about JSON\n  add --format json or --format jsonl\n"


def test_a_cursor_survives_new_rows_and_not_another_answer(folder: Path):
    rows = "SELECT path FROM documents ORDER BY path"
    first = json.loads(asked("query", rows, "--format", "json", "--limit", "3"))
    assert [each["path"] for each in first["rows"]] == ["five.md", "four.md", "one.md"] and first["more"]
    (folder / "eight.md").write_text("# Eight\n")
    then = json.loads(asked("query", rows, "--format", "json", "--limit", "3", "--after", first["next"]))
    assert [each["path"] for each in then["rows"]] == ["seven.md", "six.md", "three.md"]
    (folder / "one.md").unlink()
    assert "has changed" in str(refused("query", rows, "--format", "json", "--after", first["next"])["message"])


def test_every_command_that_lists_takes_the_flags():
    for command in COMMANDS:
        at = desk()
        main(("help", command.name, "--format", "json"), at.console)
        flags = {flag for each in json.loads(at.out)["options"] for flag in each["flags"]}
        assert {"--fields", "--max-tokens", "--after"} <= flags or command.lists is None
        assert "--limit" in flags or command.lists is None


def test_a_compact_search_costs_no_more_tokens_than_text(folder: Path):
    docs = str(Path(__file__).parents[2] / "docs")
    text = asked("search", "skill", docs)
    compact = asked("search", "skill", docs, "--format", "json", "--fields", "path,line,snippet")
    assert len(json.loads(compact)["hits"]) == 20
    assert tokens(compact) <= tokens(text)
