"""Markdown on a page: links, headings, footnotes, code, pictures, raw HTML."""

from __future__ import annotations

import pytest

from prosa.render.page.clean import OUTSIDE, safe_html
from prosa.render.page.obsidian import UNRESOLVED
from prosa.render.page.state import MAX_TAGS
from prosa.render.page.writer import MAX_DEPTH
from tests.render.page.elements import tree
from tests.render.page.sample import html_of, seen, view


def test_hw3_markdown_is_rendered():
    """HW3."""
    page = seen("Ferries are *quick* and **safe**.\n\n- one\n- two\n\n> a word\n\n~~old~~ `code`\n")
    article = page.one("article")
    assert "Ferries are quick and safe." in article.text
    assert [each.text for each in page.all("em")] == ["quick"]
    assert [each.text for each in page.all("strong")] == ["safe"]
    assert [each.text for each in page.all("li") if "article" in each.inside and not each.get("class")][:2] == [
        "one",
        "two",
    ]
    assert page.one("del").text == "old"


def test_every_link_is_asked_about():
    page = seen(
        "[here](/here) [gone](/gone) <https://other.example/a> [mail](mailto:a@b.example) [raw](x) <a href='/raw'>y</a>"
    )
    links = {each.text: each for each in page.all("a") if "article" in each.inside}
    assert links["here"]["href"] == "/here"
    assert "href" not in links["gone"].attributes
    assert "rel" not in links["gone"].attributes
    assert links["https://other.example/a"]["rel"] == OUTSIDE
    assert links["mail"]["href"] == "mailto:a@b.example"
    assert "rel" not in links["here"].attributes
    assert links["y"]["href"] == "/raw"


def test_a_link_of_raw_html_leaves_with_the_same_words():
    page = seen('<a href="https://other.example" rel="opener" target="_blank">out</a> <a>none</a> [in](/in)')
    links = {each.text: each.attributes for each in page.all("a") if "article" in each.inside}
    assert links["out"] == {"href": "https://other.example", "rel": OUTSIDE}
    assert links["none"] == {}
    assert links["in"] == {"href": "/in"}


def test_ha22_wikilinks_are_links_in_every_dialect():
    """HA22."""
    for dialect in ("ymj", "plain", "mdh", "magi"):
        page = seen("---\nymj_spec: 1.0.0\n---\nSee [[Fog bell|the bell]] and [[gone]].\n", dialect)
        assert page.one("a", href="/fog-bell").text == "the bell"
        gone = page.one("span", class_="missing")
        assert gone.text == "[[gone]]"
        assert gone["title"] == UNRESOLVED


def test_headings_have_the_anchors_of_the_document():
    text = "# Start\n\n## The way\n\n## The way\n\n### `Code` & more\n\n## Ende für alle\n"
    page = seen(text)
    reading = view(text).reading
    assert reading is not None
    anchors = [section.anchor for section in reading.document.sections]
    found = [each for each in page.elements if each.tag in ("h1", "h2", "h3") and "article" in each.inside]
    assert [each.get("id") for each in found] == anchors
    assert [each["href"] for each in page.all("a", class_="self")][3] == "#code--more"
    assert [each["href"] for each in page.all("a", class_="self")][4] == "#ende-f%C3%BCr-alle"


def test_headings_of_raw_html_take_no_anchor_away():
    page = seen("# One\n\n<h2 id='two'>Raw</h2>\n\n## Two\n")
    assert [each.get("id") for each in page.all("h2") if "article" in each.inside] == ["", "two"]


def test_the_title_stands_once():
    own = seen("# The crossing\n\nText.\n", title="The crossing")
    assert [each.text.removesuffix(" #") for each in own.all("h1")] == ["The crossing"]
    without = seen("Text.\n\n## Part\n", title="The crossing")
    assert [each.text for each in without.all("h1")] == ["The crossing"]
    hint = seen("<!-- for editors -->\n\n# The crossing\n", title="Other")
    assert [each.text.removesuffix(" #") for each in hint.all("h1")] == ["The crossing"]
    late = seen("## Part\n\n# The crossing\n", title="Title")
    assert [each.text.removesuffix(" #") for each in late.all("h1")] == ["Title", "The crossing"]


def test_footnotes_lead_there_and_back():
    page = seen("A[^b] and B[^a], A again[^b].\n\n[^a]: First *note*.\n[^b]: Second.\n[^c]: Alone.\n")
    references = [each for each in page.all("a") if "sup" in each.inside]
    assert [each["href"] for each in references] == ["#fn:1", "#fn:2", "#fn:1"]
    notes = page.one("section", class_="notes")
    assert notes.text.split("↩")[0].strip() == "Second."
    ids = {each.get("id") for each in page.elements}
    assert {each["href"][1:] for each in page.all("a", class_="back")} <= ids
    assert {each["href"][1:] for each in references} <= ids
    assert "Alone." in notes.text


def test_ids_are_unique():
    page = seen("# fn:1\n\n## fnref1\n\n## page main\n\n<p id='page:main'>x</p>\n\na[^1] b[^1]\n\n[^1]: n\n[^1]: m\n")
    ids = [each["id"] for each in page.elements if each.get("id")]
    assert len(ids) == len(set(ids))


def test_code_is_text():
    page = seen("```python x\nif a < b:\n    <script>\n```\n\n    indented & more\n")
    code = page.all("code")
    assert code[0]["class"] == "language-python"
    assert code[0].text == "if a < b:\n    <script>\n"
    assert code[1].text == "indented & more\n"
    assert all(each["tabindex"] == "0" for each in page.all("pre") if "article" in each.inside)


def test_tables_keep_their_alignment_and_scroll():
    page = seen("| a | b |\n|--:|:-:|\n| 1 | 2 |\n")
    assert [each.get("align") for each in page.all("td")] == ["right", "center"]
    assert len(page.all("thead")) == len(page.all("tbody")) == 1
    assert "scroll" in page.one("div", class_="scroll")["class"]


def test_task_lists_cannot_be_ticked():
    page = seen("- [x] done\n- [ ] open\n")
    boxes = [each for each in page.all("input") if "article" in each.inside]
    assert ["checked" in each.attributes for each in boxes] == [True, False]
    assert all("disabled" in each.attributes and each["aria-label"] for each in boxes)


def test_pictures_are_embedded_or_named():
    page = seen(
        '![A *chart*](/chart.png "t") ![far](https://x.example/y.png) [![in](https://x.example/z.png)](/in) ![no](gone)'
    )
    pictures = [each for each in page.all("img") if "article" in each.inside]
    assert [(each["src"], each["alt"]) for each in pictures] == [("/chart.png", "A chart"), ("gone", "no")]
    assert pictures[0]["loading"] == "lazy"
    assert page.one("a", href="https://x.example/y.png").text == "image: far"
    assert page.one("a", href="/in").text == "image: in"


def test_bitmaps_may_stand_in_the_text():
    page = seen("![dot](data:image/png;base64,iVBORw0KGgo=) ![svg](data:image/svg+xml;base64,PHN2Zz4=)")
    assert [each["src"] for each in page.all("img") if "article" in each.inside] == [
        "data:image/png;base64,iVBORw0KGgo="
    ]
    assert "image: svg" in page.one("article").text


def test_raw_html_stays_where_it_is_harmless():
    page = seen(
        "<details><summary>More</summary>\n\nText with **bold**.\n\n</details>\n\nH<sub>2</sub>O <kbd>Enter</kbd>\n"
    )
    details = next(each for each in page.all("details") if "article" in each.inside)
    assert "Text with bold." in details.text
    assert page.one("sub").text == "2"


@pytest.mark.parametrize(
    "tag", ["script", "style", "textarea", "title", "iframe", "xmp", "plaintext", "svg", "noscript"]
)
def test_what_would_swallow_the_page_is_text(tag: str):
    page = seen(f"before <{tag}> between\n\nafter\n")
    assert f"<{tag}>" in page.one("article").text
    assert "after" in page.all("p")[-2].text + page.one("article").text


@pytest.mark.parametrize("opened", ["<!-- no end", '<div title="', "<a href='", "<?php", "<![CDATA[ x", "<div\n"])
def test_what_is_never_closed_hides_nothing(opened: str):
    page = seen(f"{opened}\n\nThe rest.\n")
    assert "The rest." in page.one("article").text


def test_comments_are_not_shown():
    page = seen("a <!-- one --> b\n\n<!-- two\nlines -->\n\nc\n")
    assert page.comments == []
    assert "one" not in page.one("article").text
    assert "lines" not in page.one("article").text


def test_work_stays_linear_in_what_nests():
    deep = seen(">" * 5_000 + " deep")
    assert len(deep.all("blockquote")) == MAX_DEPTH
    assert "deep" in deep.one("article").text
    raw = seen("<div>\n\n" * (MAX_TAGS + 100) + "end")
    assert len([each for each in raw.all("div") if "article" in each.inside]) < MAX_TAGS + 10
    assert "end" in raw.one("article").text


def test_formatting_that_is_never_closed_is_not_repeated_for_ever():
    page = seen("".join(f'<b title="{number}">x\n\n' for number in range(500)))
    assert len(page.all("b")) < 3_000


def test_a_result_is_harmless_html():
    html = safe_html("# Title\n\n[out](https://a.example) [in](/in) ![p](/x.png) <script>alert(1)</script> **b**\n")
    made = tree(html)
    assert made.one("h1").attributes == {}
    assert made.one("a", href="https://a.example")["rel"] == OUTSIDE
    assert [each.get("href") for each in made.all("a")] == ["https://a.example", ""]
    assert made.all("img") == made.all("script") == []
    assert "image: p" in html


def test_half_a_surrogate_pair_breaks_nothing():
    page = seen("text \ud800 more", title="t\udfff", summary="s\ud83d")
    assert "text \ufffd more" in page.one("article").text
    assert set(page.one("h1").text) == {"t", "\ufffd"}


def test_an_empty_head_of_a_column_is_no_head():
    """A screen reader would announce a head that says nothing."""
    page = html_of("| | name |\n|:--|---|\n| a | b |\n")
    assert '<thead><tr><td align="left"></td><th>name</th></tr></thead>' in page


@pytest.mark.parametrize(
    ("info", "language", "file"),
    [
        ("json letters.jsonl", "language-json", "letters.jsonl"),
        ("markdown skills/refunds/SKILL.md more", "language-markdown", "skills/refunds/SKILL.md"),
        ("markdown Daily/2026-01-02.md", "language-markdown", "Daily/2026-01-02.md"),
        ("text .env.local", "language-text", ".env.local"),
        ("make Makefile", "language-make", "Makefile"),
        ("js title=a.js", "language-js", ""),
        ("js {1,3}", "language-js", ""),
        ("python 3.11", "language-python", ""),
        ("console escaped", "language-console", ""),
        ("letters.jsonl", "language-letters.jsonl", ""),
        ("js <b>.js", "language-js", ""),
    ],
)
def test_a_block_of_code_has_the_name_of_its_file_as_caption(info: str, language: str, file: str):
    """In the order in which it is read: the name first, and both as one figure."""
    page = seen(f"```{info}\ncode\n```\n")
    assert page.one("code").text == "code\n"
    assert page.one("code")["class"] == language
    assert [each.text for each in page.all("figcaption")] == ([file] if file else [])
    if file:
        assert page.one("figure", class_="file").text.split() == [file, "code"]
        assert page.one("pre").inside[-1] == "figure"


def test_a_table_without_rows_has_no_body():
    page = seen("| a |\n|---|\n\n| b |\n|---|\n| 1 |\n")
    assert len(page.all("table")) == len(page.all("thead")) == 2
    assert [each.text.strip() for each in page.all("tbody")] == ["1"]


def test_tables_of_raw_html_scroll_in_a_box_of_their_own():
    raw = "<table><tr><td>a <table><tr><td>b</td></tr></table></td></tr></table>"
    page = seen(f"Text\n\n{raw}\n\n<table>\n<tr><td>c</td></tr>\n\nafter </table> and </table>\n\n> <table>\n")
    boxes = page.all("div", class_="scroll")
    assert [each.text.split() for each in boxes][:1] == [["a", "b"]]
    assert len(boxes) == 3
    assert all(each["tabindex"] == "0" for each in boxes)
    outer = [each for each in page.all("table") if "table" not in each.inside]
    assert all(each.inside[-1] == "div" for each in outer)


def test_a_link_to_nothing_stays_one():
    assert seen("[here](<>) [there]()").all("a", href="")[0].text == "here"


BARE = [
    ("Ask www.harbour.example", ["http://www.harbour.example"]),
    ("See www.harbour.example/tides today.", ["http://www.harbour.example/tides"]),
    (
        "Go to www.harbour.example. Or www.harbour.example/a.b.",
        ["http://www.harbour.example", "http://www.harbour.example/a.b"],
    ),
    ("www.tides.example/find?q=Low+(spring)", ["http://www.tides.example/find?q=Low+(spring)"]),
    ("(www.tides.example/find?q=Low+(spring)))", ["http://www.tides.example/find?q=Low+(spring)"]),
    ("(www.tides.example/find?q=Low+(spring)", ["http://www.tides.example/find?q=Low+(spring)"]),
    ("www.tides.example/find?q=(spring))+now", ["http://www.tides.example/find?q=(spring))+now"]),
    ("www.tides.example/find?q=low&l=en", ["http://www.tides.example/find?q=low&l=en"]),
    ("www.tides.example/find?q=low&zzz;", ["http://www.tides.example/find?q=low"]),
    ("www.tides.example/hi<gh", ["http://www.tides.example/hi"]),
    ("http://tides.example", ["http://tides.example"]),
    ("(Look at https://safe.tides.example/find?q=Low+(spring))", ["https://safe.tides.example/find?q=Low+(spring)"]),
    ("pilot@harbour.example", ["mailto:pilot@harbour.example"]),
    ("pilot@mail+x.example is none, pilot+x@mail.example is", ["mailto:pilot+x@mail.example"]),
    ("p.i-l_o@t.x p.i-l_o@t.x. p.i-l_o@t.x- p.i-l_o@t.x_", ["mailto:p.i-l_o@t.x"] * 2),
    ("mailto:pilot@harbour.example", ["mailto:pilot@harbour.example"]),
    ("*https://a.example/b_c_d* and **www.b.example**!", ["https://a.example/b_c_d", "http://www.b.example"]),
    ('"https://a.example/x", [https://b.example/y]', ["https://a.example/x", "https://b.example/y"]),
    ("见https://a.example，HTTPS://B.example/X", ["https://a.example，HTTPS://B.example/X"]),
    ("http://localhost:8000/a and https://a_b.example", ["http://localhost:8000/a"]),
    ("xhttps://a.example xwww.b.example foo@1.2.3 @pilot https://", []),
    ("`https://a.example` <span title='https://b.example'>x</span>", []),
    ("    https://a.example", []),
    ("<code>https://a.example</code>", []),
    ("## See https://a.example/x", ["https://a.example/x"]),
    ("| a |\n|---|\n| www.a.example |", ["http://www.a.example"]),
]


@pytest.mark.parametrize(("text", "expected"), BARE)
def test_gfm_an_address_in_the_text_is_a_link(text: str, expected: list[str]):
    """GFM 6.9; the rest of the text stays as it is."""
    page = seen(text)
    links = [each for each in page.all("a") if "article" in each.inside and each.get("class") != "self"]
    assert [each.get("href") for each in links] == expected
    assert [each.get("href").removeprefix("http://").removeprefix("mailto:") for each in links] == [
        each.text.removeprefix("http://").removeprefix("mailto:") for each in links
    ]


def test_gfm_an_address_inside_a_link_is_none():
    text = (
        "[see https://a.example](/b) ![www.c.example](d.png) <https://e.example> "
        "<a href='/f'>www.g.example</a> [[h|www.i.example]]"
    )
    links = [each["href"] for each in seen(text).all("a") if "article" in each.inside]
    assert links == ["/b", "https://e.example", "/f", "/h"]


def test_an_address_keeps_its_signs_in_a_vault():
    page = seen("==now== https://a.example/?x==y== ==then==", vault=True)
    assert [each.text for each in page.all("mark")] == ["now", "then"]
    assert page.one("a", rel=OUTSIDE)["href"] == "https://a.example/?x==y=="
