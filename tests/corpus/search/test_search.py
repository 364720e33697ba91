"""What a search finds, in which order, and where it says it is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prosa
from prosa.adapters.sqlite import search as search_module
from prosa.adapters.sqlite.search import _MATCHED, search_in
from prosa.adapters.sqlite.search_hits import WEIGHTS
from prosa.corpus.query import parse_query
from prosa.corpus.search import Hit, Search
from prosa.corpus.snippet import MAX_SNIPPET
from tests.corpus.search.memory import index_of
from tests.corpus.search.reference import answers
from tests.depth import examples

LIMITS = """\
---
title: Rate limits
tags: [api, traffic]
aliases: [Throttling]
updated: 2026-02-01
kind: guide
---
Above the first heading.

# Rate limits

Every client gets **ten requests** per [second](https://example.org/second).

## Burst

- A burst of twenty
- then slow
"""
OTHER = """\
# Tea

A burst of flavour. Every request for tea
is `welcome`.

## Notes

Throttling is not tea.
""".replace("\n", "\r\n")
JAPANESE = "# 東京の案内\n\n日本語の文書です。Prosa文書も読めます。\n\n## 交通\n\n地下鉄と電車 train\n"
TEXTS = {"docs/limits.md": LIMITS, "tea.md": OTHER, "ja.md": JAPANESE}
INDEX = index_of(TEXTS)


def found(text: str, **how: object) -> list[Hit]:
    return search_in(INDEX, Search(text, **how))  # type: ignore[arg-type]


def places(text: str, **how: object) -> list[str]:
    return [f"{hit.path}:{hit.line}:{hit.column}" for hit in found(text, **how)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ten requests", ["docs/limits.md:12:21"]),
        ('"ten requests"', ["docs/limits.md:12:21"]),
        ('"requests ten"', []),
        ("burst twenty", ["docs/limits.md:16:5"]),
        ("burst -flavour", ["docs/limits.md:16:5"]),
        ("burst -limits", ["tea.md:3:3"]),
        ("flavour OR twenty", ["docs/limits.md:16:14", "tea.md:3:12"]),
        ("welc*", ["tea.md:4:5"]),
        ("WELCOME", ["tea.md:4:5"]),
        ("wélcome", ["tea.md:4:5"]),
        ("heading:burst", ["docs/limits.md:14:1"]),
        ("title:tea burst", ["tea.md:3:3"]),
        ("tag:traffic twenty", ["docs/limits.md:16:14"]),
        ("text:limits", ["docs/limits.md:10:8"]),
        ("nothing", []),
        ("日本語", ["ja.md:3:1"]),
        ("文書", ["ja.md:3:5"]),
        ("本", ["ja.md:3:2"]),
        ("prosa文書", ["ja.md:3:10"]),
        ("地下鉄 train", ["ja.md:7:1"]),
        ("電車 train", ["ja.md:7:5"]),
        ("train -電車", []),
        ("電車 OR flavour", ["ja.md:7:5", "tea.md:3:12"]),
        ("title:案内 交通", ["ja.md:5:4"]),
        ("_%", []),
        ("日_", []),
    ],
)
def test_a_search_finds_at_line_and_column(text: str, expected: list[str]):
    assert sorted(places(text)) == expected


def test_ha22_a_document_is_found_by_its_title_and_its_other_names():
    """HA22: titles and aliases feed search."""
    assert places("title:throttling") == ["docs/limits.md:8:1"]
    assert places("throttling") == ["docs/limits.md:8:1", "tea.md:8:1"]
    assert found("title:throttling")[0].title == "Rate limits"


def test_words_that_nearly_all_sections_hold_are_not_ranked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_module, "COMMON", 2)
    pages = {f"p{number}.md": f"# P{number}\n\nsome water {'filler ' * number}\n" for number in range(9)}
    index = index_of({**pages, "w.md": "# Water\n\nnothing\n"})
    hits = search_in(index, Search("water"))
    assert [hit.path for hit in hits] == ["w.md", *pages]
    assert [hit.path for hit in search_in(index, Search("water some -p3", limit=3))] == ["p0.md", "p1.md", "p2.md"]
    assert [hit.path for hit in search_in(index, Search("water -nothing"))] == list(pages)


@pytest.mark.parametrize("many", [2, 1])
def test_of_very_many_sections_those_are_ranked_that_hold_the_words_in_title_or_heading(
    many: int, monkeypatch: pytest.MonkeyPatch
):
    pages = {f"p{number}.md": f"# P{number}\n\nsome hot water {'filler ' * number}\n" for number in range(9)}
    named = {"x.md": "# Hot water\n\nnothing\n", "w.md": "# Other\n\n## Much too long about hot water\n\nnothing\n"}
    index = index_of({**pages, **named, "z.md": "# Nothing\n"})
    wanted = [hit.path for hit in search_in(index, Search('"hot water"'))]
    assert wanted[:2] == ["x.md", "w.md"]
    monkeypatch.setattr(search_module, "MANY", many)
    hits = search_in(index, Search('"hot water"'))
    assert [hit.path for hit in hits] == ["x.md", "w.md", *pages]
    assert [hit.path for hit in search_in(index, Search('"hot water" -filler'))] == ["x.md", "w.md", "p0.md"]
    assert [hit.path for hit in search_in(index, Search('"hot water"', below="p7.md"))] == ["p7.md"]
    assert len(search_in(index, Search('"hot water"', sections=True))) == len(pages) + len(named)


def test_ha22_the_aliases_of_an_mdh_node_feed_search():
    """HA22."""
    node = "---\nid: svc:pricing\ntype: service\ntitle: Pricing\naliases: [Tariffs]\n---\nWhat it costs.\n"
    index = index_of({"pricing.md": node, "other.md": "# Other\n"})
    (hit,) = search_in(index, Search("tariffs", dialects=("mdh",), kinds=("service",)))
    assert (hit.path, hit.title, hit.snippet) == ("pricing.md", "Pricing", "What it costs.")


def test_what_stands_in_a_title_comes_before_what_stands_in_a_text():
    index = index_of({"a.md": "# One\n\nwater water water\n", "b.md": "# Water\n\nsome text\n", "c.md": "# Other\n"})
    assert [hit.path for hit in search_in(index, Search("water"))] == ["b.md", "a.md"]


def test_one_hit_for_each_document_or_all_sections():
    assert len(found("burst")) == 2
    assert [hit.heading for hit in found("throttling", sections=True)].count("Rate limits › Burst") == 1
    assert len(found("throttling", sections=True)) == 4
    assert len(found("burst", limit=1)) == 1


def test_a_hit_says_all_about_itself():
    (hit,) = found("twenty")
    assert hit.score > 0
    assert hit == Hit(
        path="docs/limits.md", node="docs/limits.md", title="Rate limits", heading="Rate limits › Burst",
        anchor="burst", line=16, column=14, end_line=17, score=hit.score,
        snippet="A burst of twenty then slow", marks=((11, 17),), dialect="plain",
    )  # fmt: skip


def test_without_a_query_documents_come_by_path():
    assert places("") == ["docs/limits.md:8:1", "ja.md:1:1", "tea.md:1:1"]
    assert places("-tea") == ["docs/limits.md:8:1", "ja.md:1:1"]
    assert places("???") == []


@pytest.mark.parametrize(
    ("how", "paths"),
    [
        ({"tags": ("api",)}, ["docs/limits.md"]),
        ({"tags": ("#api", "traffic")}, ["docs/limits.md"]),
        ({"tags": ("api", "x")}, []),
        ({"kinds": ("Guide", "note")}, ["docs/limits.md"]),
        ({"dialects": ("plain",)}, ["docs/limits.md", "ja.md", "tea.md"]),
        ({"dialects": ("ymj", "mdh")}, []),
        ({"since": "2026-02"}, ["docs/limits.md"]),
        ({"since": "2026-02-02"}, []),
        ({"until": "2026-02-01"}, ["docs/limits.md"]),
        ({"until": "2026-01-31"}, []),
        ({"path_glob": "docs/**"}, ["docs/limits.md"]),
        ({"path_glob": "*.md"}, ["docs/limits.md", "ja.md", "tea.md"]),
        ({"below": "docs"}, ["docs/limits.md"]),
        ({"below": "tea.md"}, ["tea.md"]),
        ({"below": "do"}, []),
        ({"where": "kind = guide and has tags"}, ["docs/limits.md"]),
        ({"tags": ("\udcff' OR 1=1",)}, []),
    ],
)
def test_filters_say_which_documents(how: dict[str, object], paths: list[str]):
    assert [hit.path for hit in found("", **how)] == paths
    assert sorted(hit.path for hit in found("burst OR 日本語 OR 案内", **how)) == paths
    assert {hit.path for hit in found("burst", **how)} == set(paths) - {"ja.md"}


def test_a_rel_is_one_of_an_edge_of_the_document():
    note = (
        '# A\n\nSee it[^r].\n\n[^r]: {"rel-type": "extends", "doc-id": "b", "rel-desc": "more", "rel-strength": 0.5}\n'
    )
    index = index_of({"a.mda": f"---\ndoc-id: a\ntitle: A\n---\n{note}", "b.mda": "---\ndoc-id: b\n---\n# B\n"})
    rels = {rel for (rel,) in index.execute("SELECT rel FROM edge")}
    assert rels == {"extends"}
    assert [hit.path for hit in search_in(index, Search("", rels=("extends",)))] == ["a.mda"]
    assert search_in(index, Search("", rels=("supports",))) == []


@pytest.mark.parametrize(
    ("now", "paths"),
    [
        ("2026-03-01T00:00:00Z", ["day.md", "never.md", "time.md"]),
        ("2026-03-09T23:59:59Z", ["day.md", "never.md", "time.md"]),
        ("2026-03-10T11:59:59Z", ["day.md", "never.md", "time.md"]),
        ("2026-03-10T12:00:01Z", ["day.md", "never.md"]),
        ("2026-03-11T00:00:00Z", ["never.md"]),
        ("", ["day.md", "never.md", "time.md"]),
    ],
)
def test_ma20_a_search_can_leave_out_what_has_expired(now: str, paths: list[str]):
    """MA20b: retrieval can exclude what is past; a day is past when it has ended."""
    fronts = {"day": "expired-date: 2026-03-10\n", "time": "expired-date: 2026-03-10T12:00:00Z\n", "never": ""}
    index = index_of({f"{name}.md": f"---\nstatus: x\n{front}---\n# T\n\nword\n" for name, front in fronts.items()})
    assert sorted(hit.path for hit in search_in(index, Search("word", current=now))) == paths


def test_x6_a_search_writes_nothing_and_runs_nothing():
    """X6."""
    done: list[int] = []

    def watch(action: int, name: object, *_: object) -> int:
        if (action, name) != (sqlite3.SQLITE_PRAGMA, "data_version"):  # full text asks whether the file changed
            done.append(action)
        return sqlite3.SQLITE_OK

    index = index_of(TEXTS)
    index.set_authorizer(watch)
    for text in ("burst", "日本語 train", "-tea", ""):
        search_in(index, Search(text, where="has tags or not has tags"))
    reading = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
    assert set(done) <= reading


def test_full_text_is_asked_once_and_gives_its_rows_in_order():
    statement = f"EXPLAIN QUERY PLAN {_MATCHED}"
    plan = [row[3] for row in INDEX.execute(statement, ("burst", f"bm25({WEIGHTS})"))]
    assert [step for step in plan if step.startswith("SCAN")] == plan[:1]
    assert "VIRTUAL TABLE" in plan[0] and not any("TEMP B-TREE" in step for step in plan)


WORDS = st.sampled_from(
    [
        "burst",
        "tea",
        "ten",
        "requests",
        "bur*",
        "limits",
        "日本語",
        "文書",
        "東京",
        "train",
        "é",
        "every",
        "of",
        "slow",
        "api",
    ]
)
PIECES = st.one_of(
    WORDS,
    WORDS.map("-{}".format),
    WORDS.map("title:{}".format),
    WORDS.map("tag:{}".format),
    st.tuples(WORDS, WORDS).map(lambda two: f'"{two[0]} {two[1]}"'),
    st.just("OR"),
    st.text(alphabet=st.characters(max_codepoint=0xFF), max_size=6),
    st.text(alphabet="\"'*()-:{}^+.,\\\0", max_size=4),
)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(PIECES, max_size=6).map(" ".join))
def test_any_query_answers_as_the_reference_does(text: str):
    query = parse_query(text)
    rows = INDEX.execute(
        "SELECT d.path, s.line, s.title, s.heading, s.tags, s.text FROM section s JOIN document d ON d.id = s.document"
    ).fetchall()
    columns = ("title", "heading", "tags", "text")
    wanted = [(path, line) for path, line, *row in rows if answers(dict(zip(columns, row, strict=True)), query)]
    if query.is_empty and text.strip():
        wanted = []
    hits = search_in(INDEX, Search(text, sections=True))
    lines = {(path, line) for path, line, *_ in rows}
    got = [(hit.path, max(line for path, line in lines if path == hit.path and line <= hit.line)) for hit in hits]
    assert sorted(got) == sorted(wanted)
    assert {hit.path for hit in search_in(INDEX, Search(text))} == {path for path, _ in wanted}
    for hit in hits:
        assert len(hit.snippet) <= MAX_SNIPPET and "\n" not in hit.snippet
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.marks)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(PIECES, max_size=4).map(" ".join), st.integers(0, 3))
def test_very_common_words_are_found_in_the_same_sections(text: str, many: int):
    before = search_in(INDEX, Search(text, sections=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "MANY", many)
        patch.setattr(search_module, "_BEST", 1 + many)
        found = search_in(INDEX, Search(text, sections=True))
        patch.setattr(search_module, "_may_be_in_heads", lambda *_: True)
        assert search_in(INDEX, Search(text, sections=True)) == found
    assert {(hit.path, hit.line, hit.snippet) for hit in found} == {(hit.path, hit.line, hit.snippet) for hit in before}


@settings(max_examples=examples(100), deadline=None)
@given(st.text(), st.text(), st.text())
def test_no_text_in_any_place_fails(text: str, tag: str, path: str):
    """Nothing raises, and no text reaches beyond its filter: a hit has the tag that was asked for."""
    asked = Search(text, tags=(tag,), kinds=(path,), rels=(text,), since=tag, until=path, below=path, path_glob=tag)
    tags = {name for (name,) in INDEX.execute("SELECT text FROM metadata WHERE key = 'tag'")}
    assert not search_in(INDEX, asked) or tag in tags


@settings(max_examples=examples(60), deadline=None)
@given(st.text(alphabet="ab é日本\n\r#*_`[]()>|-<!\ue000", max_size=120))
def test_a_hit_lies_where_the_word_stands(body: str):
    text = f"---\nstatus: {json.dumps('x')}\n---\n{body}\n\nzebra\n"
    index = index_of({"a.md": text})
    for hit in search_in(index, Search("zebra", sections=True)):
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert lines[hit.line - 1][hit.column - 1 :].startswith("zebra")
        assert [hit.snippet[start:end] for start, end in hit.marks] == ["zebra"]


@pytest.mark.parametrize("query", ["two words", '"a phrase"', "word", "wor*"])
def test_the_first_question_of_a_connection_may_be_any(tmp_path: Path, query: str):
    """Full-text tables are made ready at their first use, by statements that no query may send itself."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Two words\n\nHere stands a phrase of two words, and a word.\n")
    environ = {"PROSA_CACHE_DIR": str(tmp_path / "cache")}
    with prosa.Corpus(tmp_path / "docs", environ=environ):
        pass
    with prosa.Corpus(tmp_path / "docs", environ=environ, refresh=False) as corpus:
        assert [hit.path for hit in corpus.search(query)] == ["a.md"]
