"""Conditions answer as plain Python does, whatever is asked, and read no metadata but what they name."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.sqlite import search
from prosa.adapters.sqlite.search import filter_condition, prepare, search_in
from prosa.corpus.search import Search
from prosa.corpus.where import WhereError, parse_where
from prosa.corpus.where.match import is_met
from tests.corpus.search.memory import index_of
from tests.corpus.search.reference import passes
from tests.depth import examples

FRONTS = {
    "a.md": {"status": "draft", "n": 3, "tags": ["x", "y"], "updated": "2026-01-05", "ok": True, "version": "1.10.0"},
    "b.md": {"status": "done", "n": 20, "tags": ["y"], "updated": "2026-01-05T10:00:00Z", "ok": False, "none": None},
    "c.md": {"status": "Done", "n": 3.5, "tags": [], "updated": "2025-12-31", "version": "1.9.2", "o": {"p": {"q": 1}}},
    "d.md": {
        "n": "3",
        "o": {"p": {"q": [1, 2]}, "r": "s"},
        "note": "50% of_all\\",
        "version": "1.9.2-rc1",
        "year": 2026,
    },
    "e.md": {"note": "ÄRGER im Büro", "empty": "", "people": [{"name": "Ann"}, {"name": "Bo", "age": 7}]},
}
INDEX = index_of({path: f"---\n{json.dumps(front)}\n---\nText.\n" for path, front in FRONTS.items()})


def found(where: str) -> list[str]:
    return [hit.path[0] for hit in search_in(INDEX, Search("", where=where))]


@pytest.mark.parametrize(
    ("where", "paths"),
    [
        ("status = draft", "a"),
        ("status == draft", "a"),
        ("status = 'draft'", "a"),
        ("status=done", "b"),
        ("status != done", "acde"),
        ("status ~ DO", "bc"),
        ("status !~ do", "ade"),
        ("status > draft", ""),
        ("status >= done", "ab"),
        ("n = 3", "ad"),
        ("n = 3.0", "a"),
        ("n = '3'", "ad"),
        ("n > 3", "bc"),
        ("n >= 3", "abc"),
        ("n < 10", "ac"),
        ("n in (3, 20)", "abd"),
        ("n not in (3, 20)", "ce"),
        ("status in (draft, 'Done')", "ac"),
        ("tags = y", "ab"),
        ("tags != x", "bcde"),
        ("tag = y", "ab"),
        ("has tags", "ab"),
        ("not has status", "de"),
        ("has none", ""),
        ("none = null", "b"),
        ("status = null", ""),
        ("ok = true", "a"),
        ("ok = FALSE", "b"),
        ("updated = 2026-01-05", "ab"),
        ("updated > 2026-01-05", ""),
        ("updated > 2026-01-04", "ab"),
        ("updated <= 2026-01-05", "abc"),
        ("updated < 2026-01", "c"),
        ("updated >= 2026", "ab"),
        ("updated = 2026", "ab"),
        ("updated > 2025-12-31", "ab"),
        ("updated > '2026-01-05'", "b"),
        ("year = 2026", "d"),
        ("year < 2027", "d"),
        ("version > 1.9.2", "a"),
        ("version >= 1.9.2", "ac"),
        ("version < 1.9.2", "d"),
        ("version = 1.9.2", "c"),
        ("version < 1.10.0.0", "cd"),
        ("o.p.q = 1", "cd"),
        ("o.p.q = 2", "d"),
        ("has o", "cd"),
        ("has o.p", "cd"),
        ("o = 1", ""),
        ("people.name = Bo and people.age < 8", "e"),
        ("note ~ '50%'", "d"),
        ("note ~ 'f_a'", "d"),
        ("note ~ 'fxa'", ""),
        (r"note ~ '\\'", "d"),
        ("note ~ ärger", "e"),
        ("note ~ ''", "de"),
        ("empty = ''", "e"),
        ("none = ''", ""),
        ("tags = x or n = 20 and ok = false", "ab"),
        ("(tags = x or n = 20) and ok = false", "b"),
        ("not (n = 3 or n = 20)", "ce"),
        ("not not n = 3", "ad"),
        ("x' OR '1'='1", None),
        ('status = "\' OR 1=1 --"', ""),
        ('"\' OR 1=1 --" = 1', ""),
        ("status = draft\0", ""),
        ("status = \udcff", ""),
    ],
)
def test_a_condition_finds_what_it_says(where: str, paths: str | None):
    """Issue 4: any front-matter field, lists, numbers, dates, versions."""
    if paths is None:
        with pytest.raises(WhereError):
            found(where)
    else:
        assert "".join(found(where)) == paths


FIELDS = [
    "status",
    "n",
    "tags",
    "updated",
    "ok",
    "version",
    "o",
    "o.p.q",
    "people.name",
    "note",
    "none",
    "year",
    "nope",
]
VALUES = [
    *("draft", "done", "'Done'", "3", "3.5", "20", "2026", "2026-01-05", "2026-01", "1.10.0", "1.9.2", "true", "null"),
    *("x", "'50%'", "Ann", "''", "1", "-1", "1e400", "2", '"a b"', "s", "büro"),
]
COMPARISONS = st.one_of(
    st.tuples(
        st.sampled_from(FIELDS), st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "~", "!~"]), st.sampled_from(VALUES)
    ).map(" ".join),
    st.sampled_from(FIELDS).map("has {}".format),
    st.tuples(
        st.sampled_from(FIELDS),
        st.sampled_from(["in", "not in"]),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
    ).map(lambda parts: f"{parts[0]} {parts[1]} ({', '.join(parts[2])})"),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or", "AND"]), inner).map(" ".join),
        inner.map("not ({})".format),
        inner.map("({})".format),
    ),
    max_leaves=6,
)


@settings(max_examples=examples(150), deadline=None)
@given(CONDITIONS, st.sampled_from([0, 2, 1_000]))
def test_any_condition_answers_as_the_reference_does(where: str, many: int):
    expression = parse_where(where)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "MANY_FOUND", many)
        answer = found(where)
    assert answer == [path[0] for path, front in FRONTS.items() if passes(front, expression)]
    assert answer == [path[0] for path, front in FRONTS.items() if is_met(expression, front)]


@pytest.mark.parametrize(("where", "paths"), [("ok", "a"), ("not ok and has n", "bcd"), ("(ok or n > 10)", "ab")])
def test_a_field_may_stand_alone_where_that_is_asked_for(where: str, paths: str):
    expression = parse_where(where, bare=True)
    assert "".join(path[0] for path, front in FRONTS.items() if is_met(expression, front)) == paths
    with pytest.raises(WhereError):
        parse_where(where)


@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet="ab'\"()=<>~!,. \\-;%_*1has notinand", max_size=40)))
def test_any_text_is_a_condition_or_a_clear_error(where: str):
    try:
        expression = parse_where(where)
    except WhereError as error:
        assert 1 <= error.column <= len(where) + 1
        assert error.found and error.expected and error.excerpt.endswith("^")
        return
    assert found(where) == [path[0] for path, front in FRONTS.items() if passes(front, expression)]


@pytest.mark.parametrize(
    "where",
    [
        *("status = draft", "n >= 3", "updated > 2026", "version > 1.2.3", "note ~ x", "note ~ ä", "has o"),
        *("n in (1, x, 2.5)", "not (tags = x) and n < 4 or ok = true", "none = null", "status < x"),
    ],
)
@pytest.mark.parametrize("many", [0, 1_000])
def test_a_condition_never_reads_all_metadata(where: str, many: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "MANY_FOUND", many)
    prepare(INDEX)
    condition = filter_condition(Search("", where=where, tags=("x",), rels=("r",)), INDEX)
    assert condition is not None
    statement = f"EXPLAIN QUERY PLAN SELECT d.id FROM document AS d WHERE {condition.sql}"
    plan = [row[3] for row in INDEX.execute(statement, condition.parameters)]
    assert any("metadata" in step for step in plan)
    assert [step for step in plan if "metadata" in step and not re.search(r"SEARCH.*\((key|document)[=>]", step)] == []
    assert [step for step in plan if "edge" in step and "SCAN" in step] == []
