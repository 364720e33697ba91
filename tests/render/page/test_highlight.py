"""Code in colours: the text stays what it is, whatever it is, and nothing but our own classes stands around it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.render.page import highlight
from prosa.render.page.highlight import LANGUAGES, MAX_BLOCK, can_be_coloured, highlighted
from tests.depth import examples
from tests.render.page.elements import forbidden, tree
from tests.render.page.sample import html_of

SPAN = re.compile(r'<span class="([a-z])">|</span>')
NAMES = st.sampled_from(sorted(LANGUAGES))
HOSTILE = st.text(st.sampled_from("<>&\"'`$#{}[]()/*\\-=:;.,!?|%@~^ \n\tabcAB01é中"), max_size=300)


def test_a_block_of_a_known_language_has_colours():
    assert '<span class="t">port</span>' in highlighted("port: 8080 # free\n", "yaml")
    assert '<span class="k">def </span><span class="f">f</span>' in highlighted("def f(): pass\n", "Python")
    assert '<span class="i">+ new</span>' in highlighted("- old\n+ new", "diff")
    assert '<span class="p">$ </span>' in highlighted("$ prosa check notes/\nclean\n", "console")


def test_front_matter_of_a_document_is_yaml():
    made = highlighted("---\nname: greet\n---\n\n# Greet\n", "markdown")
    assert '<span class="t">name</span>' in made
    assert '<span class="h"># Greet' in made


@pytest.mark.parametrize("language", ["", "nonesuch", "text", "ai-script"])
def test_an_unknown_language_stays_plain(language: str):
    assert highlighted("a < b", language) == "a &lt; b"


def test_a_long_block_stays_plain_and_a_page_has_so_many_colours():
    assert not can_be_coloured("a = 1\n" * MAX_BLOCK, "python")
    assert not can_be_coloured("a" + " " * 200, "python")
    block = "```yaml\n" + "key: 1\n" * 700 + "```\n\n"
    page = html_of(block * 20)
    coloured = page.count('<span class="t">key</span>')
    assert 0 < coloured * len("key: 1\n") <= highlight.MAX_PAGE
    assert page.count("key") == 20 * 700


@settings(max_examples=examples(150))
@given(text=HOSTILE, language=NAMES)
def test_hw3_colours_change_no_character_and_add_only_our_classes(text: str, language: str):
    made = highlighted(text, language)
    assert unescape(SPAN.sub("", made)) == text
    assert "<" not in SPAN.sub("", made)
    assert made.count("<span") == made.count("</span>")


@settings(max_examples=examples(60))
@given(text=HOSTILE, language=NAMES, near=HOSTILE)
def test_hw3_a_hostile_block_puts_nothing_into_its_page(text: str, language: str, near: str):
    block = text.replace("`", "'").replace("\r", "")
    page = tree(html_of(f"{near}\n\n```{language}\n{block}\n```\n"))
    assert forbidden(page) == []


@pytest.mark.parametrize("text", ["k0code:0;", "quote:0;", "\x00code:1;"])
def test_a_mark_that_an_author_writes_is_text(text: str):
    assert text.strip("\x00") in html_of(f"{text}\n\n```yaml\na: {text}\n```\n").replace(
        "\N{REPLACEMENT CHARACTER}", ""
    )
