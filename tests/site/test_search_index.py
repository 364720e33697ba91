"""The index of a static site: it finds every word that tells pages apart, stays small, and holds nothing but data."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.render.json import dump
from prosa.site.search_index import EACH, MOST, IndexedPage, IndexedSection, search_index, words_of
from tests.depth import examples


def page(title: str, path: str, *texts: str, heading: str = "") -> IndexedPage:
    return IndexedPage(title, path, tuple(IndexedSection(heading, heading.lower(), text) for text in texts))


def places(index: Any) -> dict[str, list[int]]:
    """The words of an index with their pages, as the script reads them."""
    found: dict[str, list[int]] = {}
    before = ""
    for word, where in zip(index["words"].split(), index["places"].split(), strict=True):
        before = before[: int(word[0], 36)] + word[1:]
        at, found[before] = 0, []
        for step in where.split(","):
            at += int(step, 36)
            found[before].append(at)
    return found


def test_every_word_leads_to_its_pages():
    index = search_index((page("One", "one.html", "sailing to Bergen"), page("Two", "two.html", "sailing home")))
    assert index["pages"] == [["One", "one.html"], ["Two", "two.html"]]
    assert places(index) == {"bergen": [0], "home": [1], "one": [0], "sailing": [0, 1], "to": [0], "two": [1]}


def test_a_heading_has_its_anchor_where_that_is_another():
    sections = (
        IndexedSection("A title", "a-title", ""),
        IndexedSection("limits.iterations", "limitsiterations", ""),
        IndexedSection("Über uns", "über-uns", ""),
        IndexedSection("Twice", "twice-1", ""),
        IndexedSection("A page", "a-page", ""),
    )
    index = search_index((IndexedPage("A page", "a.html", sections),))
    assert index["heads"] == [["A title", "limits.iterations", ["Über uns", "über-uns"], ["Twice", "twice-1"]]]


def test_words_are_folded_as_a_reader_types_them():
    assert [*words_of("Ærøskøbing CAFÉ x 12 ab_cd ML021")] == [
        "ærøskøbing",
        "café".replace("é", "e"),
        "ab",
        "cd",
        "ml021",
    ]
    assert [*words_of("連絡船 notice")] == ["連絡", "絡船", "notice"]


def test_a_large_site_loses_its_common_words_first_and_stays_small():
    pages = tuple(
        page(
            f"Page {number}",
            f"{number}.html",
            f"common word{number} " + " ".join(f"w{number * at % 997}x" for at in range(200)),
        )
        for number in range(400)
    )
    index = search_index(pages)
    assert len(json.dumps(index, separators=(",", ":"))) <= max(MOST, EACH * len(pages))
    assert "common" in index["common"].split()
    assert places(index)["word7"] == [7]


@settings(max_examples=examples(80))
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60)), max_size=8))
def test_hw3_an_index_is_data_whatever_documents_say(texts: list[tuple[str, str]]):
    pages = tuple(page(title, f"{at}.html", text, heading=title) for at, (title, text) in enumerate(texts))
    index: Any = search_index(pages)
    assert json.loads(dump(index)) == json.loads(json.dumps(index))
    assert [title for title, _ in index["pages"]] == [title for title, _ in texts]
    assert "\n" not in dump(index)
    found = places(index)
    for at, (title, text) in enumerate(texts):
        assert all(at in found.get(word, [at]) for word in words_of(f"{title} {text}"))
    assert set(index["words"]) <= set("0123456789abcdefghijklmnopqrstuvwxyz ") | {
        each for title, text in texts for word in words_of(f"{title} {text}") for each in word
    }
