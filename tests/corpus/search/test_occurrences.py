"""Places of matches in long texts: the same that the full-text index tells, in one pass."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.adapters.sqlite import search_hits
from prosa.adapters.sqlite.search import search_in
from prosa.corpus.query import Term, occurrences
from prosa.corpus.search import Search
from tests.corpus.search.memory import index_of
from tests.depth import examples
from tests.work import is_linear


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("a bee, a Bee", [Term("bee")], ["bee", "Bee"]),
        ("one two-three two four", [Term("two three"), Term("fo", prefix=True)], ["two-three", "four"]),
        ("Café cafe", [Term("cafe")], ["Café", "cafe"]),
        ("a bee", [Term("bee", field="title"), Term("...")], []),
        ("", [Term("bee")], []),
    ],
)
def test_words_and_phrases_have_places(text: str, terms: list[Term], expected: list[str]):
    assert [text[start:end] for start, end in occurrences(text, terms, "text")] == expected


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.sampled_from(["ab", "AB", "äb", "b", "abc", "a-b", "x_y", "# ab", "日本"]), max_size=20),
    st.sampled_from(["ab", "a*", '"ab b"', "ab OR abc", "text:b", "heading:ab b", "a-b x", "ab -abc"]),
)
def test_the_places_are_those_that_the_index_tells(monkeypatch: pytest.MonkeyPatch, parts: list[str], query: str):
    index = index_of({"a.md": "# b ab\n\n" + " ".join(parts) + "\n"})
    told = search_in(index, Search(query, sections=True))
    with monkeypatch.context() as patch:
        patch.setattr(search_hits, "LONG", 0)
        patch.setattr(search_hits, "MAX_COPIED", -1)
        assert search_in(index, Search(query, sections=True)) == told


@pytest.mark.parametrize("text", ["word " * 200_000, "wörd " * 200_000])
def test_a_long_text_full_of_matches_takes_no_longer_than_reading_it(text: str):
    indexes = {size: index_of({"a.md": text[:size]}) for size in (len(text) // 8, len(text))}
    assert is_linear(lambda size: search_in(indexes[size], Search("word")), *indexes, part=1)
    (hit,) = search_in(indexes[len(text)], Search("word"))
    assert (hit.line, hit.column) == (1, 1)
