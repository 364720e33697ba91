"""Wikilinks, callouts and the other notations of Obsidian on a page: what they become, and what nobody can make of
them (Y21, YA21, HW3)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.render.page.clean import cleaner
from prosa.render.page.obsidian import UNRESOLVED
from prosa.render.page.writer import write
from tests.depth import examples
from tests.render.page.elements import Tree, forbidden
from tests.render.page.sample import embed, html_of, link, seen, wiki
from tests.work import PART


def article(text: str, **more: bool) -> Tree:
    """The page of a plain document."""
    return seen(text, **more)


@pytest.mark.parametrize(
    ("written", "look", "word"),
    [
        ("note", "note", "Note"),
        ("NOTE", "note", "Note"),
        ("info", "note", "Info"),
        ("Tip", "tip", "Tip"),
        ("IMPORTANT", "tip", "Important"),
        ("WARNING", "warning", "Warning"),
        ("CAUTION", "warning", "Caution"),
        ("bug", "danger", "Bug"),
        ("quote", "quote", "Quote"),
        ("my-own", "note", "My own"),
    ],
)
def test_a_quotation_with_a_type_is_a_box(written: str, look: str, word: str) -> None:
    page = article(f"> [!{written}]\n> The *text*.\n> - a\n")
    box = page.one("div", class_=look)
    assert (box["role"], box["aria-label"]) == ("note", word)
    assert page.one("p", class_="title").text == word
    assert "The text." in box.text
    assert "[!" not in page.one("article").text
    assert page.all("blockquote") == []


def test_a_box_has_the_title_of_its_author_and_may_be_folded() -> None:
    page = article("> [!faq]- Is it *foldable*?\n> Yes.\n\n> [!tip]+ Open\n> x\n>\n> > [!todo] Inside\n> > y\n")
    closed, opened = page.all("details", class_="warning")[0], page.all("details", class_="tip")[0]
    assert ("open" in closed.attributes, "open" in opened.attributes) == (False, True)
    assert [each.text for each in page.all("summary")][:2] == ["Is it foldable?", "Open"]
    assert "details" in page.one("div", class_="note").inside
    for gap in (" ", "\t", "\xa0"):
        assert article(f"> [!tip]{gap}Title alone\n").one("p", class_="title").text == "Title alone"


@pytest.mark.parametrize("text", ["> quoted [!note]\n", "> [!not a type]\n", "[!note] no quotation\n", "> [!x](/y)\n"])
def test_what_only_looks_like_a_box_is_none(text: str) -> None:
    assert "callout" not in html_of(text)


def test_ya21_embeds_stand_where_they_can() -> None:
    page = article("![[a.png|30x40]] ![[b.png|A bell]] ![[gone.png]] ![[Fog bell]] ![[1]] | [[1]](/x)\n")
    first, second = (each for each in page.all("img") if "article" in each.inside)
    assert (first["src"], first["width"], first["height"], first["alt"]) == ("/a.png", "30", "40", "a.png")
    assert (second["src"], second["alt"], second.get("width")) == ("/b.png", "A bell", "")
    assert page.one("span", class_="missing")["title"] == UNRESOLVED
    assert page.one("a", href="/fog-bell").text == "Fog bell"
    assert "![[1]]" in page.one("article").text


def test_other_notations_count_in_a_vault_only() -> None:
    text = (
        "A ==mark== and %%no%% word. ^end\n\n![bell|50](/b.png) `==x== %%y%%` 1 == 2 == 3\n\n"
        "%%\n\n# Gone\n\n%%\n\n# Kept\n"
    )
    vault = article(text, vault=True)
    assert vault.one("mark").text == "mark"
    assert vault.one("span", id="^end").text == ""
    assert "A mark and  word." in vault.one("article").text and "^end" not in vault.one("article").text
    assert "==x== %%y%%" in vault.one("code").text
    assert (vault.one("img", src="/b.png")["width"], vault.one("img", src="/b.png")["alt"]) == ("50", "bell")
    assert "Gone" not in vault.seen
    assert vault.one("a", href="#kept", class_="self")
    plain = article(text)
    assert "==mark== and %%no%% word. ^end" in plain.one("article").text
    assert "Gone" in plain.seen


def test_wikilinks_stay_in_tables_and_headings() -> None:
    page = article("# Of [[Fog bell]]\n\n| a | b |\n|---|---|\n| [[Fog bell\\|bell]] | ![[Fog bell]] |\n")
    assert [each.text for each in page.all("a", href="/fog-bell") if "article" in each.inside] == [
        "Fog bell",
        "bell",
        "Fog bell",
    ]


PIECES = (
    *(
        "[[",
        "]]",
        "![[",
        "|",
        "#",
        "^",
        "a",
        "b.png",
        "gone",
        "300",
        " ",
        "\n",
        "\n\n",
        "> ",
        "> [!note]- ",
        "- ",
        "%%",
    ),
    *(
        "==",
        "`",
        "```\n",
        "<script>",
        "<img src=x onerror=alert(1)>",
        '"><b onclick=x>',
        "javascript:alert(1)",
        "](",
        ")",
    ),
    *("' onload='x", "*", "<a href='", "</p>", "\\", "k0/quote:0;", "&lt;", "<!--", "-->", "[^1]", "[^1]: "),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.booleans())
def test_hw3_no_text_makes_a_script_or_a_handler(text: str, vault: bool) -> None:
    page = seen(text, vault=vault)
    assert forbidden(page) == []
    assert not page.unbalanced


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from([each for each in PIECES if "[" not in each]), max_size=40).map("".join))
def test_a_text_without_these_notations_is_written_as_before(text: str) -> None:
    assert write(text, link=link, embed=embed, wiki=wiki) == write(text, link=link, embed=embed)


N = 50_000 // PART
LARGE = (
    *(
        "[[" * 4 * N,
        "[[a" * 2 * N,
        "![[a]] " * N,
        "> [!a]" * N,
        "==a" * 2 * N,
    ),
    *(
        "[[a|" * 2 * N + "]]" * 2 * N,
        "%%" * 4 * N,
        " ^a" * 2 * N,
        "> " * N,
    ),
)


@pytest.mark.parametrize("text", LARGE, ids=lambda text: text[:6])
def test_megabytes_of_brackets_take_linear_work(text: str) -> None:
    written = write(text, link=link, embed=embed, wiki=wiki, vault=True)
    clean = cleaner(written.key, link, embed)
    made = "".join(clean(each) for each in written.pieces if isinstance(each, str))
    assert len(made) < 30 * len(text)
    assert not re.search(r"<script|onerror=", made)


def test_the_attributes_of_a_checkbox_stand_in_one_order_in_every_build() -> None:
    """Forced attributes leave the library in another order each time; a page that did not change stays as it is."""
    given = '<input type="checkbox" checked title="a > &lt;b&quot;">'
    made = {cleaner("key", link, embed)(given) for _ in range(40)}
    assert made == {'<input aria-label="Task" checked="" disabled="" title="a &gt; &lt;b&quot;" type="checkbox">'}
