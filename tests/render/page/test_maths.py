"""Mathematics on pages: every sign between dollars as its author wrote it, and prices as prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.dialects.reading import open_document
from prosa.document import parse
from prosa.document.maths import joined, maths
from prosa.graph.records import record_of
from prosa.render.page.clean import safe_html
from prosa.source import SourceText
from tests.render.page.elements import Tree, tree
from tests.render.page.sample import seen
from tests.work import PART, is_quick

MATRIX = "\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}"


def shown(page: Tree) -> list[str]:
    """What is marked as mathematics."""
    return [each.text for each in page.all("span", class_="math")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Let $a_{1}\\,b_{2}$ and $f_*g_*$ be.", ["$a_{1}\\,b_{2}$", "$f_*g_*$"]),
        ("So $$x\\\\y \\{z\\}$$ ends.", ["$$x\\\\y \\{z\\}$$"]),
        (f"$${MATRIX}$$", [f"$${MATRIX}$$"]),
        ("$$\n\\int_0^1\n$$", ["$$\n\\int_0^1\n$$"]),
        ("$$\na\n- b\n\n+ c\n=\n$$\n\nText.", ["$$\na\n- b\n\n+ c\n=\n$$"]),
        ("a\n$$\nb\n$$\nc\n$$\n- d\n$$\ne $f$", ["$$\nb\n$$", "$$\n- d\n$$", "$f$"]),
        ("> [!note] Proof\n> $$\n> a &= b \\\\\n> - c\n> $$", ["$$\na &= b \\\\\n- c\n$$"]),
        ("> > $$\n> > a > b\n> > > c\n> > $$", ["$$\na > b\n> c\n$$"]),
        ("- one\n  $$\n  - a\n  $$\n- two", ["$$\n  - a\n  $$"]),
        ("1. $$\n   a\n   $$", ["$$\n   a\n   $$"]),
        ("$$\r\na\r\n- b\r\n$$\r\n", ["$$\na\n- b\n$$"]),
        ("# On $\\mathbb{R}^n$\n\nText.", ["$\\mathbb{R}^n$"]),
        ("| a | b |\n|---|---|\n| $x_{1}$ | $\\alpha$ |", ["$x_{1}$", "$\\alpha$"]),
        ("[$x^2$](/b) and **$a*b^2$** and ~~$y^2$~~", ["$x^2$", "$a*b^2$", "$y^2$"]),
        ("Note[^1].\n\n[^1]: $x^2$", ["$x^2$"]),
        ("$a < b^2$ and $c & d$ and $\\text{<b>}$", ["$a < b^2$", "$c & d$", "$\\text{<b>}$"]),
        ("$[h, x](v)$, $[[1,2]]$ and $x^2$", ["$[h, x](v)$", "$[[1,2]]$", "$x^2$"]),
        ("$x^2$,$y$ and a$z^2$b", ["$x^2$", "$y$", "$z^2$"]),
        ("$\\alpha$ for $5-$10", ["$\\alpha$"]),
        ("$x \\$ y^2$", ["$x \\$ y^2$"]),
    ],
)
@pytest.mark.parametrize("vault", [False, True])
def test_mathematics_is_verbatim(text: str, expected: list[str], vault: bool):
    page = seen(text, vault=vault)
    assert shown(page) == expected
    for each in page.all("span", class_="display"):
        assert each.text.startswith("$$")


PROSE = [
    "$5 and $10",
    "It costs $5-$10, *really*.",
    "Set $HOME and $PATH.",
    "$HOME/bin:$PATH and *so* on",
    "US$5 or *US$6*",
    "\\$x_{1}\\$ and \\$\\$x\\$\\$",
    "`$x_{1}$` and `$$y$$`",
    "```\n$$\nx_{1}\n$$\n```",
    "    $$\n    x_{1}\n    $$",
    "<b title='$x_{1}$'>x</b>",
    "$ x_{1} $ and $ y$",
    "a $ b_{1} * c * d",
    "$$\n\n# A heading\n\n$$",
    "> $$\n\nout of it $$",
    "I have $x, and you *$y* and $z",
]


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("vault", [False, True])
def test_prices_variables_and_code_stay_prose(text: str, vault: bool):
    assert shown(seen(text, vault=vault)) == []


def test_outside_of_vaults_something_must_be_tex_beyond_doubt():
    """In a vault single letters are mathematics too, as in Obsidian."""
    text = "Between $n$ and $a*b*c$ there is *more*.\n"
    assert shown(seen(text)) == []
    assert [each.text for each in seen(text).all("em")] == ["b", "more"]
    assert shown(seen(text, vault=True)) == ["$n$", "$a*b*c$"]
    assert shown(seen(f"{text}\n$x^2$\n")) == ["$n$", "$a*b*c$", "$x^2$"]


def test_what_a_model_wrote_is_verbatim_too():
    found = tree(safe_html("So $a_{1}*b*$:\n\n$$\n- c\n$$\n"))
    assert shown(found) == ["$a_{1}*b*$", "$$\n- c\n$$"]


def test_headings_keep_their_anchors_beside_mathematics():
    text = "## One $x_1$\n\n$$\na\n=\n$$\n\n## Two\n\n$$\na\n=\n\n# no block\n$$\n\n## Three\n"
    page = seen(text)
    found = [each.get("id") for each in page.elements if each.tag in ("h1", "h2") and "article" in each.inside]
    assert found == ["", "one-x_1", "two", "-a", "no-block", "three"]


@pytest.mark.parametrize("inside", ["a } b", "a { b", "a $ b", "a\\", "\\text{if $n$}", ""])
def test_a_block_needs_no_sign_in_pairs(inside: str):
    assert shown(seen(f"one\n\n$$\n{inside}\n- c\n$$\n\ntwo $x^2$\n")) == [f"$$\n{inside}\n- c\n$$", "$x^2$"]


def test_nothing_in_mathematics_is_a_link():
    text = "$[h, x](v.md)$, $[[A]]$, $x^2$ https://a.example $$\n[y](w.md) https://b.example\n$$ [z](u.md) $5 [[B]]\n"
    document = parse(SourceText(text))
    assert [each.destination for each in document.links] == ["u.md"]
    assert [each.target for each in document.wikilinks] == ["B"]
    found = record_of(open_document(SourceText(text, "a.md")), "a.md").references
    assert [each.target for each in found] == ["https://a.example", "u.md", "B"]


TOKENS = [
    "a",
    "_",
    "*",
    "\\\\",
    "\\,",
    "\\{",
    "<",
    ">",
    "&",
    "^2",
    "x_{1}",
    "[x](y)",
    "[[b]]",
    '"',
    "|",
    "~~",
    "==",
    "#t",
]
TEX = st.lists(st.sampled_from([*TOKENS, " ", "https://a.example", "![i](j)", "[^1]", "-", "=", "é"]), max_size=12).map(
    lambda some: f"x{''.join(some)}y"
)


@given(TEX, st.booleans(), st.sampled_from(["{}", "**{}**", "- {}", "> {}", "## {}", "*a* {} [b](/c)", "[[z|{}]]"]))
def test_the_text_of_a_page_has_mathematics_verbatim(tex: str, vault: bool, around: str):
    text = around.format(f"${tex}\\alpha$") + "\n"
    assert f"${tex}\\alpha$" in seen(text, vault=vault).one("article").text


LINES = st.lists(
    st.sampled_from(["a", "- b", "+ c", "=", "===", "", "> d", "1. e", "| f |", "\\\\", "    g", "***"]), max_size=8
)


@given(LINES, st.sampled_from(["", "> ", "> > "]))
def test_a_block_of_mathematics_is_verbatim_over_its_lines(lines: list[str], mark: str):
    text = "\n".join(f"{mark}{each}" for each in ["before", "", "$$", *lines, "$$", "", "after"]) + "\n"
    assert "\n".join(["$$", *lines, "$$"]) in seen(text).one("article").text


@given(st.text(alphabet="$\\a_{}^ \n\r>-`#5=", max_size=80))
def test_joining_keeps_every_offset_and_no_text_breaks_a_page(text: str):
    document = parse(SourceText(text))
    whole = joined(document.parsed.text, document.in_code)
    assert len(whole) == len(document.parsed.text)
    assert all(new == old or old in "\r\n> \t{}$" for new, old in zip(whole, document.parsed.text, strict=True))
    assert all(each.tex in text.replace("\r\n", "\n").replace("\r", "\n") or ">" in text for each in maths(whole))
    seen(text, vault=True)


@pytest.mark.parametrize(
    "sign", ["$", "$$", "$a$", "$$\n", "$$\na\n", "> $$\n", "$a_{1}$", "${", "$\\", "- $$\n", "$$\n# a\n"]
)
def test_x2_mathematics_is_found_in_linear_time(sign: str):
    text = sign * (20_000 // PART)
    assert is_quick(lambda: parse(SourceText(f"[a](b)\n{text}")).links, 3 / PART)
    assert is_quick(lambda: safe_html(text), 6 / PART)
