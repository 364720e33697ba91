"""Snippets: one line without markup, with the right places marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.corpus import snippet as under_test
from prosa.corpus.snippet import LONG, MAX_SNIPPET, Mark, Snippet, seen_of
from prosa.document.shown import shown_runs
from tests.depth import examples
from tests.work import is_linear


def snippet(text: str, marks: Sequence[Mark] = (), *, heading: bool = True) -> Snippet:
    """The snippet of a section as the index keeps it."""
    return under_test.snippet(text, seen_of(text), marks, heading=heading)


def marks_of(text: str, word: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(re.escape(word), text)] if word else []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a plain word here", "a plain word here"),
        ("two\nlines\n\n\nand a word", "two lines and a word"),
        ("**bold** _and_ `code` *word*", "bold and code word"),
        ("snake_case_name 2*3 word", "snake_case_name 2*3 word"),
        ("see [the word](https://x.org/a_b) now", "see the word now"),
        ('![a word](p.png "title") after', "a word after"),
        ("see [[page|a word]] and [[other]]", "see a word and other"),
        ("a word[^1] stands", "a word stands"),
        ("- one\n- [ ] word\n3. three", "one word three"),
        ("> quoted\n> word", "quoted word"),
        ("| a | word |\n|---|---|\n| 1 | 2 |", "a word 1 2"),
        ("```python\nword = 1\n```\nafter", "word = 1 after"),
        ("before <!-- hidden --> word", "before word"),
        ("<b>bold</b> word <br/>", "bold word"),
        ("---\nword", "word"),
        ("Title\n==\nword = 1", "Title word = 1"),
        ("[other](word.md) and a word", "other and a word"),
        ("see [the\nword][ref] and [x][word-ref]", "see the word and x"),
        ("<!-- word -->", "<!-- word -->"),
        ("a [word](<two parts.md>) [or](x_(y).md 'title') so", "a word or so"),
    ],
)
def test_markup_is_left_out_unless_it_matched(text: str, expected: str):
    found = snippet(text, marks_of(text, "word"), heading=False)
    assert found.text == expected
    assert [found.text[start:end] for start, end in found.marks] == ["word"]
    assert text[found.at :].startswith("word")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [x](http://word.org) b", "a x b"),
        ('a <i id="word">b', "a b"),
        ("a [x][word]", "a x"),
        ("[x](<a word>) b", "x b"),
    ],
)
def test_an_address_is_never_shown(text: str, expected: str):
    assert snippet(text, marks_of(text, "word"), heading=False) == (expected, (), text.index("word"))


def test_the_heading_is_left_out_where_the_rest_has_something():
    assert snippet("## A word\n\nText.", [(5, 9)]) == ("Text.", (), 5)
    assert snippet("## A word", [(5, 9)]) == ("A word", ((2, 6),), 5)
    assert snippet("## A word\n\nNext word.", [(5, 9), (16, 20)]) == ("Next word.", ((5, 9),), 16)
    assert snippet("", ()) == ("", (), 0)


def test_a_long_text_is_cut_between_words():
    text = f"{'before ' * 200}word {'after ' * 200}"
    found = snippet(text, marks_of(text, "word"), heading=False)
    assert len(found.text) <= MAX_SNIPPET
    assert found.text.startswith("…before ") and found.text.endswith(" after…")
    assert snippet("x" * 1_000, (), heading=False).text == "x" * (MAX_SNIPPET - 1) + "…"


def test_the_piece_with_most_different_matches_is_shown():
    text = f"one word {'filler ' * 60} word and other {'filler ' * 60} other"
    marks = sorted(marks_of(text, "word") + marks_of(text, "other"))
    found = snippet(text, marks, heading=False)
    assert "word and other" in found.text
    assert found.at == text.index("word and other")


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet="aé b日\n\r\t*_`#[]()<>!|-~^:.…", max_size=300), st.booleans())
def test_marks_show_what_matched(text: str, heading: bool):
    marks = marks_of(text, "a")
    found = snippet(text, marks, heading=heading)
    assert len(found.text) <= MAX_SNIPPET
    assert not re.search(r"[\r\n\t]", found.text)
    assert all(found.text[start:end] == "a" for start, end in found.marks)
    assert list(found.marks) == sorted(found.marks)
    assert 0 <= found.at <= len(text)
    if found.marks:
        assert text[found.at] == "a"


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet="aé b日\n\r\t*_`#[]()<>!|-~^:.…", max_size=300), st.booleans())
def test_what_is_kept_of_a_long_section_is_what_is_found_in_a_short_one(text: str, heading: bool):
    kept = msgspec.json.encode(shown_runs(text)).decode()
    marks = marks_of(text, "a")
    shown = under_test.snippet(text, kept, marks, heading=heading)
    assert under_test.snippet(text, None, marks, heading=heading) == shown


def test_only_what_a_search_would_parse_for_long_is_kept():
    assert seen_of("*a*" * (LONG // 3)) is None
    assert seen_of("*a*" * LONG) is not None


@pytest.mark.parametrize("piece", ["-", "[", "`", "*", "<", "<!--", "[[", "|", "[^", "> ", "_a"])
def test_no_text_takes_long(piece: str):
    def work(size: int) -> None:
        text = piece * (size // len(piece))
        snippet(text, [(at, at + 1) for at in range(0, size // 4, 10)], heading=False)

    assert is_linear(work, 50_000, 400_000)


LINKS = (
    *("[the word](https://x.example/a/long/way?q=1)", "[[Some page/Other word|its label]]", "![[pic word.png|300]]"),
    *("![a picture](long/path/to/word.png 'a title')", "<https://x.example/word/and/more>", "`some code word`"),
    *("``a ` word``", "[the **word**][ref]", "[a [nested] word](/x)", "[[word]]", "[[a#word]]", "a word[^1]"),
    *("[![alt word](a.png)](https://y.example/word)", f"[[{'long target ' * 20}|word]]", f"[word](/{'deep/' * 120})"),
)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.sampled_from([*LINKS, "plain words", "and", "word", "more of it,", "\n\n"]), min_size=1, max_size=60)
)
def test_no_link_is_shown_in_half(pieces: list[str]):
    """A snippet never cuts a link, a wikilink, a picture or code: none of their signs is left."""
    text = " ".join(pieces)
    for marks in (marks_of(text, "word"), marks_of(text, "word")[-1:], marks_of(text, "label"), []):
        found = snippet(text, marks, heading=False)
        assert len(found.text) <= MAX_SNIPPET
        assert not re.search(r"\[\[|\]\]|\]\(|\]\[|!\[|``|\[\^|<http|\[the|deep/", found.text)
        assert "https://" not in found.text.replace("https://x.example/word/and/more", "")
        assert "long target" not in found.text
        assert all(found.text[start:end] in ("word", "label") for start, end in found.marks)


def test_a_match_in_the_target_of_a_wikilink_does_not_show_the_target():
    text = "If the vault is [[Sync/Security and privacy|end-to-end encrypted]], enter the password for sync."
    found = snippet(text, [*marks_of(text, "Sync"), *marks_of(text, "password")], heading=False)
    assert found.text == "If the vault is end-to-end encrypted, enter the password for sync."


def test_a_long_section_is_parsed_around_the_match_only():
    text = f"{'[a](b) filler ' * 20_000}\n\nthe [word](x) here\n\n{'more ' * 20_000}"
    assert "the word here" in snippet(text, marks_of(text, "word"), heading=False).text
