"""What joins a chat and the text below it: a heading there is one, whatever stands above (P3)."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from prosa.data.front_matter import split_front_matter
from prosa.dialects.prapti.content import escaped
from prosa.dialects.prapti.write import find_lines_below, keeps, line_end, says_the_same, separator, takes_replies
from tests.app.chat.chats import chat
from tests.app.chat.test_escape import HOSTILE, LETTERS, signature
from tests.depth import examples
from tests.work import is_linear

ROWS = [
    ("", ""),
    ("\ufeff", ""),
    ("\n", ""),
    ("  ", "\n"),
    ("hi", "\n\n"),
    ("hi\n", "\n"),
    ("hi\r\n", "\n"),
    ("hi\n\n", ""),
    ("hi\n  ", "\n"),
    ("hi\n  \n", ""),
    ("### @user:\n\n```\nopen", "\n```\n\n"),
    ("### @user:\n\n~~~~ py\nopen\n", "~~~~\n\n"),
    ("### @user:\n\n<!-- open\n", "-->\n\n"),
    ("---\nid: x\n---\n", "\n"),
    ("a\nb\n<div>\r", "\n\n"),
    ("a\rb\r", "\n"),
]


@pytest.mark.parametrize(("text", "wanted"), ROWS)
def test_p3_one_blank_line_and_what_was_left_open(text, wanted):
    """P3."""
    assert separator(text) == wanted


@settings(max_examples=examples(150), deadline=None)
@given(HOSTILE | LETTERS, st.sampled_from(["\n", "\r\n"]))
@example("<div>\r", "\n")
def test_p3_a_heading_below_any_text_is_one_and_changes_nothing_above(text, end):
    """P3. The text above stays as it was, but for a mark that closes what a person left open."""
    text = re.sub("[\ud800-\udfff]", "", text.replace("\n", end))
    end = line_end(text) if re.search("[\r\n]", text) else end
    before = signature(chat(text))
    after = signature(chat(text + separator(text).replace("\n", end) + f"### @assistant:{end}{end}Hello{end}"))
    assert after[-1] == ("assistant", None, False, "Hello", ())
    assert [row[:3] for row in after[:-1]] == [row[:3] for row in before]
    assert [row[3] for row in after[:-2]] == [row[3] for row in before[:-1]]
    assert after[-2][3].startswith(before[-1][3])


BEGINNINGS = (
    *(
        "",
        "\ufeff",
        "---\n",
        "\ufeff---\n",
        "---\nid: x\n",
        "---\nid: x\n...\n",
        "---\nid: x\n---\n",
        "--- \n",
        "----\n",
    ),
    *("---\n- a\n", "...\n", "+++\n", "\n---\n", "---\n### @_x:\n", "Title\n---\n"),
)
MESSAGES = ("### @system:\n\nRule: be brief.\n\n", "### @user:\n\nQ: hi\n", "% n = 2\n\n", "### //@user:\n\nno\n")
ENDS = (
    *("```\nopen", "~~~ py\n", "<!-- open", "<script>\n", "<div>\nx", "- list\n  - more", "1. ```\n   code", "> quote"),
    *("> ```\n> code", "Title", "words\n===", "[a]: /u\n", "| a |\n|---|", "    code", "%% x = 1", "", "\n\n"),
)
BASES = st.builds(
    lambda first, said, last, end: (first + "".join(said) + last).replace("\n", end),
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from(MESSAGES), max_size=3),
    st.sampled_from(ENDS) | HOSTILE.map(lambda text: re.sub("[\ud800-\udfff]", "", text)),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
)
RULES = st.sampled_from(
    ["---", "A: sure\n---\n\nok", "```\n---\n```", "---\n...\n---", "- x\n\n---", "x: y\n---\n%% n = 2"]
)


@settings(max_examples=examples(250), deadline=None)
@given(BASES, RULES | HOSTILE | LETTERS)
@example("--- \n", "A: sure\n---\n\nok")
@example("---\nid: x\n---\n", "ok")
def test_x19_pa6_a_chat_that_takes_replies_reads_back_as_it_was_and_one_message_more(base, reply):
    """X19, PA6. Whatever the chat begins and ends with, and whatever the reply says; where that cannot be had, because
    front matter that begins never ends, no reply is asked for."""
    before = chat(base)
    if not takes_replies(base):
        problems = [each.rule for each in split_front_matter(base)[1]]
        assert problems == ["unclosed-front-matter"]
        return
    added = f"{separator(base)}### @assistant:\n\n{escaped(reply)}\n\n### @user:\n".replace("\n", line_end(base))
    after = signature(chat(base + added))
    assert keeps(base, base + added, 2)
    assert after[: len(before.messages) - 1] == signature(before)[:-1]
    assert after[len(before.messages) - 1][3].startswith(signature(before)[-1][3])
    assert [row[:3] for row in after[len(before.messages) :]] == [("assistant", None, False), ("user", None, False)]


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from(["---\n", "\ufeff---\n", "---\nid: x\n", "---\n...\n"]),
    st.lists(st.sampled_from(MESSAGES)),
    st.text(),
)
def test_x19_a_chat_whose_front_matter_never_ends_takes_no_replies(first, said, last):
    """X19. Hyphens above a blank line are a thematic break where no fields follow (X1)."""
    base = first + "".join(said) + re.sub("[-\ud800-\udfff]", "", last)
    assume(re.match(r"\ufeff?---\n[ \t]*[\r\n]", base) is None)
    assert not takes_replies(base)
    assert takes_replies(base.replace("---", "***"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("", "\n"), ("a\nb\r\nc\r\n", "\r\n"), ("a\nb\nc\r\n", "\n"), ("a\rb\r", "\r"), ("a\r\nb\n", "\n")],
)
def test_the_line_end_of_a_text_is_its_most_frequent_one(text, wanted):
    assert line_end(text) == wanted


def test_pw4_lines_are_found_again_although_an_editor_took_blanks_away():
    """PW4."""
    lines = ["### @assistant:", "", "One  ", "", "two", ""]
    text = "### @user:\r\n\r\nHi.\r\n\r\n### @assistant:\r\n\r\nOne\r\n\r\ntwo"
    place = find_lines_below(lines, text)
    assert place is not None and text[place.start :].startswith("### @assistant") and place.end == len(text)
    assert find_lines_below(lines, text.replace("two", "three")) is None
    assert find_lines_below(["", ""], text) is None
    assert find_lines_below(lines[:1], "\ufeff### @assistant:\n") is not None


def test_comments_and_blank_space_are_no_change_of_what_was_said():
    text = "% n = 1\n\n### @user:\n\nHi.\n"
    assert says_the_same(text, "% n = 1\n### @user:\n\n\nHi. <!-- well -->\n\n### @user:\n")
    assert not says_the_same(text, text.replace("Hi", "Ho"))
    assert not says_the_same(text, text.replace("1", "2"))


def test_x9_finding_takes_time_in_proportion():
    """X9."""
    lines = ["### @assistant:", "", *["a"] * 200]
    assert is_linear(lambda size: find_lines_below(lines, "### @assistant:\n\n" * size), 2000, 20_000)
