"""`prosa search` as people and programs call it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from prosa.cli.commands import Command
from prosa.cli.errors import guarded
from prosa.cli.main import _call
from tests.adapters.embeddings.service import serving
from tests.cli.desk import desk

COMMAND = Command("search", "prosa.cli.search", "find sections")

LIMITS = """\
---
title: Rate limits
tags: [api]
audience: developers
updated: 2026-02-01
expired-date: 2020-01-01
---
# Rate limits

Every client gets **ten requests** per second.

## Burst

A burst of twenty; see [tea](sub/tea.md).
"""
TEA = "# Tea\n\nA burst of flavour, ten requests.\n"


@dataclass(frozen=True)
class Done:
    """What a call did."""

    status: int
    out: str
    err: str


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "corpus"
    (root / "sub").mkdir(parents=True)
    (root / "prosa.toml").write_text("")
    (root / "limits.md").write_text(LIMITS)
    (root / "sub" / "tea.md").write_text(TEA)
    monkeypatch.chdir(root)
    return root


def search(root: Path, *words: str, color: bool = False, terminal: bool = False) -> Done:
    made = desk(environ={"PROSA_CACHE_DIR": str(root.parent / "cache"), "HOME": str(root.parent)}, terminal=terminal)
    if color:
        made.console.color = True
    status = guarded(made.console, words, lambda: _call(COMMAND, list(words), made.console))
    return Done(status, made.out, made.err)


def test_people_see_place_names_and_snippet(corpus: Path):
    done = search(corpus, "burst")
    assert done == Done(
        0,
        "limits.md:14:3  Rate limits › Burst\n    A burst of twenty; see tea.\n"
        "sub/tea.md:3:3  Tea\n    A burst of flavour, ten requests.\n",
        "",
    )
    assert "\x1b[1;31mburst\x1b[0m" in search(corpus, "burst", color=True).out
    assert ", plain)" in search(corpus, "burst", "-v").out


def test_programs_see_fixed_keys(corpus: Path):
    done = search(corpus, "twenty", "--format", "json")
    answer = json.loads(done.out)
    assert list(answer) == ["query", "hits"] and answer["query"] == "twenty"
    (hit,) = answer["hits"]
    assert isinstance(hit.pop("score"), float)
    assert list(hit.items()) == [
        *{"path": "limits.md", "line": 14, "column": 12, "end_line": 14, "node": "limits.md"}.items(),
        *{"dialect": "plain", "title": "Rate limits", "heading": "Rate limits › Burst", "anchor": "burst"}.items(),
        *{"snippet": "A burst of twenty; see tea.", "marks": [[11, 17]], "file": "limits.md"}.items(),
    ]
    lines = search(corpus, "burst", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["path"] for line in lines] == ["limits.md", "sub/tea.md"]
    assert search(corpus, "nothing", "--format", "json").out == '{\n  "query": "nothing",\n  "hits": []\n}\n'
    assert search(corpus, "nothing", "--format", "jsonl").out == ""


def test_nothing_found_is_1_and_silent_but_on_a_terminal(corpus: Path):
    assert search(corpus, "nothing") == Done(1, "", "")
    assert search(corpus, "nothing", terminal=True).err.count("nothing found\n") == 1
    assert search(corpus, "???") == Done(1, "", "")


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        (["burst", "--limit", "1"], "limits.md\n"),
        (["burst", "sub"], "sub/tea.md\n"),
        (["burst", "limits.md"], "limits.md\n"),
        (["burst", "--root", "sub"], "sub/tea.md\n"),
        (["--tag", "api"], "limits.md\n"),
        (["--tag=#api", "."], ""),
        (["--where", "audience=developers and updated>2026-01-01"], "limits.md\n"),
        (["burst", "--where", "has audience", "--where", "updated < 2026-03 or has x"], "limits.md\n"),
        (["burst", "--current"], "sub/tea.md\n"),
        (["burst", "--since", "2026-02-01", "--until", "2026"], "limits.md\n"),
        (["burst", "--path", "sub/*"], "sub/tea.md\n"),
        (["--dialect", "plain"], "limits.md\nsub/tea.md\n"),
        (["--similar", "limits.md"], "sub/tea.md\n"),
        (["--similar", "tea", "."], "limits.md\n"),
        (["burst", "--sections"], "limits.md\nsub/tea.md\n"),
    ],
)
def test_filters_and_ways_to_ask(corpus: Path, words: list[str], paths: str):
    done = search(corpus, *words, "--files")
    assert done.out == (paths or done.out)
    assert done.status == int(not done.out)


def test_paths_are_named_from_where_one_stands(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(corpus.parent)
    assert search(corpus, "burst", "corpus", "--files").out == "corpus/limits.md\ncorpus/sub/tea.md\n"
    monkeypatch.chdir(corpus / "sub")
    assert search(corpus, "twenty", "--files").out == f"{corpus}/limits.md\n"
    hit = json.loads(search(corpus, "twenty", "--format", "jsonl").out)
    assert hit["path"] == "limits.md" and Path(hit["file"]).samefile(corpus / "limits.md")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ([], "say what to search for", "a filter such as --tag"),
        ([" "], "say what to search for", "a filter such as --tag"),
        (["rate", "limits"], "limits: no such file or folder", 'prosa search "rate limits"'),
        (["a", "b", "c"], "c: no such file or folder", 'prosa search "a b c"'),
        (["x", "--since", "yesterday"], "--since yesterday: not a date", "2026-03-01"),
        (["x", "--limit", "0"], "'0' is not a number from 1 to 10000", "--help"),
        (["x", "--dialect", "word"], "--dialect word: expected ", "--help"),
        (["x", "--where", "audiense"], "--where: column 9: found the end, expected an operator", "the field audience?"),
        (["x", "--where", "a = 1 or"], "--where: column 9: found the end, expected the name of a field", "        ^"),
        (["--similar", "none.md"], "no document is called none.md", "its path, its id"),
        (["--similar", "limits.md", "x"], "x: no such file or folder", "takes no query"),
        (["--similar", "sub"], "sub is a folder", "a folder"),
        (["--tag", "api", "--semantic"], "--semantic needs a query", "a sentence will do"),
        (["x", "--semantic", "--similar", "limits.md"], "not allowed with argument", "--help"),
        (["x", "--root", "none"], "none: no such folder, so it cannot be the root", ""),
    ],
)
def test_wrong_use_is_told(corpus: Path, words: list[str], message: str, hint: str):
    done = search(corpus, *words)
    assert (done.status, done.out) == (2, "")
    assert message in done.err and hint in done.err


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["--where", "audiense = developers"], "note: no document has the field audiense; did you mean audience?\n"),
        (["burst", "--where", "not has nothing"], "note: no document has the field nothing\n"),
        (["--tag", "apis"], "note: no document has the tag apis; did you mean api?\n"),
        (["--kind", "guide"], "note: no document has the kind guide\n"),
        (["--rel", "extends"], "note: no document has the rel extends\n"),
        (["--where", "audience = x"], ""),
    ],
)
def test_names_that_no_document_has_are_told(corpus: Path, words: list[str], note: str):
    assert search(corpus, *words).err == note


def test_an_answer_is_never_stale_unless_asked_for(corpus: Path):
    assert search(corpus, "zebra").status == 1
    (corpus / "new.md").write_text("A zebra.\n")
    assert search(corpus, "zebra", "--no-refresh").status == 1
    assert search(corpus, "zebra", "--files").out == "new.md\n"
    (corpus / "new.md").unlink()
    assert search(corpus, "zebra").status == 1


def test_x6_a_search_leaves_the_documents_alone(corpus: Path):
    """X6: nothing is written below the root, nothing in a document is executed."""
    (corpus / "program.md").write_text("---\nname: p\noutput: {type: string}\n---\n{{ .x }} zebra\n")
    before = {path: path.stat().st_mtime_ns for path in sorted(corpus.rglob("*"))}
    assert search(corpus, "zebra").status == 0
    assert {path: path.stat().st_mtime_ns for path in sorted(corpus.rglob("*"))} == before


def test_x6_meaning_is_asked_of_the_service_that_the_user_named_and_of_no_other(corpus: Path):
    """X6b: only `--semantic` sends text, and none of a classified document."""
    (corpus / "secret.md").write_text("---\nclassification: secret\n---\n# Cabbage\n\nabc abc\n")
    with serving() as service:
        flags = ("--base-url", service.base_url, "--embedding-model", "m")
        assert search(corpus, "burst", *flags).status == 0
        assert search(corpus, "--similar", "limits.md", *flags).status == 0
        assert service.bodies == []
        done = search(corpus, "abcdefgh cabbage", "--semantic", "--files", *flags)
        assert (done.status, done.err) == (0, "")
        assert "limits.md" in done.out and "sub/tea.md" in done.out
        assert any("ten requests" in text for text in service.texts)
        assert not [text for text in service.texts if "abc abc" in text]
        sent = len(service.texts)
        search(corpus, "something", "--semantic", *flags)
        assert service.texts[sent:] == ["something"]


def test_x6_only_what_still_is_as_indexed_and_looks_harmless_is_sent(corpus: Path):
    """X6b: a reader knows one of two classifications, and an index that is not refreshed knows only the past."""
    (corpus / "twice.md").write_text("---\nclassification: public\nclassification: secret\n---\n# Cabbage\n\nabc abc\n")
    (corpus / "open.md").write_text("---\nclassification: secret\n# Cabbage\n\nabc abc\n")
    assert search(corpus, "burst").status == 0
    (corpus / "limits.md").write_text(LIMITS.replace("audience:", "classification: secret\naudience:"))
    with serving() as service:
        flags = ("--base-url", service.base_url, "--embedding-model", "m", "--no-refresh")
        assert search(corpus, "burst", "--semantic", *flags).status == 0
        assert service.texts == ["Tea\nTea\n# Tea\n\nA burst of flavour, ten requests.", "burst"]


def test_an_index_that_was_never_made_is_no_empty_corpus(corpus: Path):
    done = search(corpus, "burst", "--no-refresh")
    assert (done.status, done.out) == (2, "")
    assert f"there is no index of {corpus} yet" in done.err and "leave out --no-refresh" in done.err


def test_words_behind_two_hyphens_are_no_flags(corpus: Path):
    assert search(corpus, "--files", "--", "-requests", ".").out == "limits.md\n"


def test_files_that_cannot_be_read_are_named_in_few_lines(corpus: Path):
    for number in range(9):
        (corpus / f"bad{number}.md").write_bytes(b"\xff")
    assert len(search(corpus, "burst").err.splitlines()) == 6


def test_a_search_by_meaning_needs_a_model(corpus: Path):
    done = search(corpus, "burst", "--semantic")
    assert done.status == 1 and "no model is chosen" in done.err


def test_ma18_fields_that_a_meta_file_lends_are_found(corpus: Path):
    """MA18: metadata of a meta file fills gaps of the documents that its globs name."""
    (corpus / "meta.mda").write_text('---\nglobs: ["sub/**"]\naudience: tasters\n---\n')
    assert search(corpus, "--where", "audience = tasters and not has globs", "--files").out == "sub/tea.md\n"


def test_control_characters_of_documents_never_reach_a_terminal(corpus: Path):
    (corpus / "bad.md").write_text("# Zebra \x1b[2J\n\nzebra \x1b]0;x\x07 here\u202e\n")
    assert not set(search(corpus, "zebra").out) & {"\x1b", "\x07", "\u202e"}


def test_names_that_are_no_utf_8_are_taken(corpus: Path):
    assert search(corpus, os.fsdecode(b"x\xff"), "--tag", os.fsdecode(b"\xff")).status == 1
