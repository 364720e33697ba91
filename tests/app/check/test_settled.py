"""A check of a whole corpus with a cache finds what one without finds, whatever happened since (X10)."""

from __future__ import annotations

import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.app.check import check as checks
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.corpus.found import RACY_NS
from prosa.diagnostics import Diagnostic
from prosa.rules.analyzer import Analyzer
from tests.depth import examples
from tests.rules.test_beside import SETTINGS, put
from tests.rules.test_resident import NAMES

LINES = (
    *("# One", "## Two", "text", "[x](a.md)", "[x](b.md#one)", "![p](p.png)", "[y](sub/)", "[[a]]", "```\ncode\n```"),
    *("[z](pages/)", "[z](sub/a)", "<!-- prosa-ignore unresolved-link -->\n[x](gone.md)"),
)
"""Most of them are fine in most places."""

FRONTS = ("", "", "", "---\ntitle: A\n---\n", "---\nid: a\ntype: b\n---\n")

CLEAN = st.builds(
    lambda front, lines: front + "\n\n".join(lines) + "\n",
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from(LINES), max_size=3),
)

OTHERS = ("p.png", "sub/x.txt", "pages/x.txt", "prosa.toml", ".gitignore", ".obsidian/app.json", "AGENTS.md")
"""Files that findings may rest on."""

CHANGES = st.lists(
    st.tuples(st.sampled_from((*NAMES, *OTHERS)), st.one_of(CLEAN, CLEAN, st.sampled_from(("", None)))),
    min_size=1,
    max_size=6,
)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is young, and every corpus is large enough."""
    monkeypatch.setattr("prosa.adapters.files.stamps.RACY_NS", -RACY_NS)
    monkeypatch.setattr(checks, "_MANY", 0)


def found(root: Path, cache: Path | None, options: CheckOptions | None = None) -> tuple[Diagnostic, ...]:
    options = options or CheckOptions()
    how = CheckOptions(strict=options.strict, select=options.select, cache=cache is not None)
    return Checker.of(how, {"PROSA_CACHE_DIR": str(cache)}).diagnostics(gather([root], agents=True))


def change(root: Path, name: str, text: str | None) -> None:
    if text is None:
        (root / name).unlink(missing_ok=True)
    elif name == "prosa.toml":
        put(root, name, SETTINGS[len(text) % len(SETTINGS)])
    else:
        put(root, name, "*.md\n" if name == ".gitignore" and text else text)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.fixed_dictionaries(dict.fromkeys(NAMES[:4], CLEAN)), changes=CHANGES)
def test_x10_no_finding_is_missed(
    tmp_path: Path, later: None, start: dict[str, str], changes: list[tuple[str, str | None]]
):
    """X10."""
    root, cache = tmp_path / "corpus", tmp_path / "cache"
    for folder in (root, cache):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    put(root, "keep.md", "[x](a.md)\n")
    for name, text in start.items():
        put(root, name, text)
    for name, text in (("keep.md", "[x](a.md)\n"), *changes):
        change(root, name, text)
        expected = found(root, None)
        assert found(root, cache) == expected
        assert found(root, cache) == expected


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    """A folder without findings, and a cache."""
    root, cache = tmp_path / "corpus", tmp_path / "cache"
    cache.mkdir(mode=0o700)
    put(root, "a.md", "# A\n\n[b](b.md) ![p](p.png)\n")
    put(root, "b.md", "# B\n\n[end](a.md#a)\n")
    put(root, "p.png", "")
    return root, cache


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many documents were asked for, one number for each question."""
    asked: list[int] = []
    analyses = Analyzer.analyses

    def noted(self: Analyzer, paths: list[Path], known: object = ()) -> object:
        asked.append(len(paths))
        return analyses(self, paths, known)

    monkeypatch.setattr(Analyzer, "analyses", noted)
    return asked


def test_x10_where_nothing_was_found_and_nothing_changed_nothing_is_looked_at(
    corpus: tuple[Path, Path], later: None, analysed: list[int]
):
    """X10."""
    root, cache = corpus
    for expected in ([2], []):
        assert found(root, cache) == ()
        assert analysed == expected
        analysed.clear()
    (root / "p.png").unlink()
    (one,) = found(root, cache)
    assert one.path.endswith("a.md")
    assert found(root, cache) == (one,)
    put(root, "p.png", "other bytes")  # all is as it was: nobody looks into pictures
    analysed.clear()
    assert found(root, cache) == ()
    assert analysed == []


def test_x10_a_schema_is_what_findings_rest_on(corpus: tuple[Path, Path], later: None, analysed: list[int]):
    """X10."""
    root, cache = corpus
    put(root, "prosa.toml", "[schemas]\n'*.md' = 'front.json'\n")
    put(root, "front.json", "{}")
    put(root, "a.md", "---\ntitle: A\n---\n\n# A\n")
    for expected in ([2], []):
        analysed.clear()
        assert found(root, cache) == ()
        assert analysed == expected
    put(root, "front.json", '{"required": ["owner"]}')
    assert {each.rule for each in found(root, cache)} == {"schema-mismatch"}


def test_x10_findings_that_rest_on_the_time_settle_nothing(
    corpus: tuple[Path, Path], later: None, analysed: list[int], monkeypatch: pytest.MonkeyPatch
):
    """X10. Only a rule that asks for the time rests on it: the dialect of a document alone does not."""
    root, cache = corpus
    put(root, "meta.mda", '---\nglobs: ["*.md"]\naudience: [all]\n---\n')
    for expected in ([3], []):
        analysed.clear()
        assert found(root, cache) == ()
        assert analysed == expected
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    put(root, "meta.mda", f'---\nglobs: ["*.md"]\nexpired-date: {tomorrow:%Y-%m-%d}\n---\n')
    for expected in ([3], [3]):
        analysed.clear()
        assert found(root, cache) == ()
        assert analysed == expected


def test_x10_another_way_of_checking_is_another_check(corpus: tuple[Path, Path], later: None, analysed: list[int]):
    """X10."""
    root, cache = corpus
    assert found(root, cache) == ()
    for options in (CheckOptions(strict=True), CheckOptions(select=("MD",))):
        analysed.clear()
        found(root, cache, options)
        assert analysed == [2]


def test_x10_the_next_day_all_rows_are_used_once(
    corpus: tuple[Path, Path], later: None, analysed: list[int], monkeypatch: pytest.MonkeyPatch
):
    """X10."""
    root, cache = corpus
    assert found(root, cache) == ()
    now = time.time
    monkeypatch.setattr("prosa.app.check.check.time.time", lambda: now() + 24 * 60 * 60)
    for expected in ([2], []):
        analysed.clear()
        assert found(root, cache) == ()
        assert analysed == expected


def test_x10_a_young_document_settles_nothing(
    corpus: tuple[Path, Path], analysed: list[int], monkeypatch: pytest.MonkeyPatch
):
    """X10."""
    root, cache = corpus
    monkeypatch.setattr(checks, "_MANY", 0)
    for _ in range(2):
        analysed.clear()
        assert found(root, cache) == ()
        assert analysed == [2]


def test_x10_a_broken_row_is_no_row(corpus: tuple[Path, Path], later: None, analysed: list[int]):
    """X10."""
    import sqlite3

    root, cache = corpus
    assert found(root, cache) == ()
    with sqlite3.connect(cache / "check.sqlite") as store:
        store.execute("UPDATE row SET text = substr(text, 1, length(text) - 2) WHERE key LIKE 'settled:%'")
    store.close()
    analysed.clear()
    assert found(root, cache) == ()
    assert analysed == [2]


def test_x10_a_name_that_is_not_utf_8_settles_nothing(corpus: tuple[Path, Path], later: None, analysed: list[int]):
    """X10."""
    root, cache = corpus
    try:
        (root / os.fsdecode(b"\xff.md")).write_text("# C\n", encoding="utf-8")
    except OSError:  # a file system without such names
        (root / "c.md").write_text("# C\n", encoding="utf-8")
        return
    for _ in range(2):
        assert found(root, cache) == found(root, None)
