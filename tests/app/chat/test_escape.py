"""Replies in a file: nothing in them becomes structure, and they can be had back (PA6, X19, PW2)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.prapti.content import MAX_PROBED, Escaping, escaped, restored
from prosa.dialects.prapti.write import closing
from tests.app.chat.chats import chat
from tests.depth import examples
from tests.work import is_linear

BEFORE = "% n = 2\n\n### @system:\n\nBe brief.\n\n### @user/Ada:\n\nHi.\n% temperature = 0.5\n\n"
AFTER = "\n\n### @user:\n\nNext.\n"

PIECES = (
    *("### @user:", "### @", "###", "%", "%% x = 1", "//%", "> %", ">", "> ", "<!--", "-->", "<div>", "</div>", "#"),
    *("<script>", "<?", "<![CDATA[", "<!X", "<a>", "<a href='", "<pre", "<style>", "<textarea>", "<b", ">\n", "`"),
    *("```", "````", "~~~", "``` py", "- ```", "  ```", "   ```", "  ~~~", " ", "  ", "   ", "    ", "\t", "\\"),
    *("- ", "-\n", "1. ", "10) ", "* ", "+ ", "\n- ", "\n  - ", "\n\t", "\n> ", "[ ] ", "\n", "\n\n", "\n\n", "\r"),
    *("\r\n", "\n  ", "\n   ", "\n    ", "[^1]: ", "[a]: /u", "'t'", "---", "===", "=", "|", "--|--", "\x0b", "\x0c"),
    *("\u00a0", "\u2028", "@user:", "// @x", "x", "foo", "& ", "[[", "]]", "<https://a.b>", "\0", "$", "\ud800"),
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
LETTERS = st.text(alphabet="`~#@%<!->/ \n\t\\x:us1.[]^*_=|\r\x0b\x0c", max_size=80)


def signature(model):
    rows = [(m.role, m.name, m.disabled, m.content, tuple(line.raw for line in m.config)) for m in model.messages]
    return [(*row[:3], row[3].replace("\r\n", "\n"), row[4]) for row in rows]


def plain(text):
    """A text up to line ends, blank lines at its ends, blank space at its very end."""
    lines = re.sub("[\ud800-\udfff]", "\ufffd", re.sub(r"\r\n|\r", "\n", text))
    return re.sub(r"\A(?:[ \t]*\n)*", "", lines).rstrip()


@settings(max_examples=examples(200), deadline=None)
@given(HOSTILE | LETTERS, st.sampled_from(["\n", "\r\n"]))
def test_pa6_pa6b_x19_pw2_any_reply_reads_back_as_itself_and_changes_nothing_else(reply, line_end):
    """PA6, PA6b, X19, PW2."""
    model = chat((BEFORE + "### @assistant:\n\n" + escaped(reply) + AFTER).replace("\n", line_end))
    seen, before = signature(model), signature(chat(BEFORE))
    assert seen[: len(before)] == before
    assert [row[:3] for row in seen[len(before) :]] == [("assistant", None, False), ("user", None, False)]
    assert seen[-2][4] == () and seen[-1][3:] == ("Next.", ())
    assert [span for span in model.document.comments if span.start >= model.messages[-2].body.start] == []
    back, wanted = restored(seen[-2][3]), plain(reply)
    assert back.startswith(wanted)
    assert re.fullmatch(r"\s*(?:`{3,}|~{3,})?", back[len(wanted) :])


@settings(max_examples=examples(100), deadline=None)
@given(HOSTILE, st.integers(1, 7))
def test_pa6_a_reply_that_streams_is_written_as_the_whole_one(reply, size):
    """PA6."""
    stream = Escaping()
    written = "".join(stream.feed(reply[at : at + size]) for at in range(0, len(reply), size)) + stream.finish()
    assert written.removesuffix("\n") == escaped(reply)
    assert written == "" or written.endswith("\n")


@settings(max_examples=examples(100), deadline=None)
@given(HOSTILE)
def test_pa6_escaping_can_be_repeated_and_undone_as_often(reply):
    """PA6."""
    once = escaped(reply)
    assert restored(restored(escaped(once))) == restored(once)


ROWS = [
    ("### @user:", "\\### @user:"),
    (" ### //@user:", " \\### //@user:"),
    ("### A title", "### A title"),
    ("% n = 2", "\\% n = 2"),
    ("//% n = 2", "\\//% n = 2"),
    ("> > % n = 2", "> > \\% n = 2"),
    ("10 % of all", "10 % of all"),
    ("\\% n = 2", "\\\\\\% n = 2"),
    ("a <!-- b --> c", "a <\\!-- b --> c"),
    ("<div>", "\\<div>"),
    ("<?php", "\\<?php"),
    ("<https://example.org>", "<https://example.org>"),
    ("a < b", "a < b"),
    ("```\n% n = 2\n### @user:\n<div>\n```", "```\n% n = 2\n### @user:\n<div>\n```"),
    ("1. a\n\n   ```\n   % n = 2\n   ```", "1. a\n\n   ```\n   % n = 2\n   ```"),
    ("1. a\n\n   ```\n% n = 2", "1. a\n\n   ```\n\\% n = 2"),
    ("```\nopen", "```\nopen\n```"),
    ("~~~~ py\nopen", "~~~~ py\nopen\n~~~~"),
    ("[a]: /u", "[a]: /u"),
    ("[^1]: note", "[^1]: note"),
    ("\n\na\n\n", "a"),
    (" \n\t\n", ""),
]


@pytest.mark.parametrize(("reply", "written"), ROWS)
def test_pa6b_only_what_would_be_structure_gets_a_backslash(reply, written):
    """PA6b."""
    assert escaped(reply) == written
    assert plain(restored(written)).startswith(plain(reply))


def test_pa6_a_backslash_of_the_author_stays():
    """PA6."""
    assert restored("\\\\% even, so no work of ours") == "\\\\% even, so no work of ours"
    assert restored("a \\* b") == "a \\* b"


def test_pa6_fences_that_cannot_be_placed_are_written_as_text():
    """PA6. A list that never ends, with more fences than can be looked at."""
    item = "- a\n\n  ```\n  x\n  ```\n\n"
    reply = item.replace("- a", "  a") * 2000
    text = "- " + reply.lstrip() + "  ```\n% n = 3\n"
    written = escaped(text)
    assert len(text) < MAX_PROBED and "\\```" in written
    assert restored(written) == text.rstrip("\n")
    assert len(chat(BEFORE + "### @assistant:\n\n" + written + AFTER).messages) == 5


def test_x9_escaping_takes_time_in_proportion():
    """X9."""
    assert is_linear(lambda size: escaped("- a\n  ```\n  % b\n" * size), 2000, 20_000)
    assert is_linear(lambda size: restored("\\" * size + "% <!--\n" * size), 4000, 40_000)
    assert is_linear(lambda size: escaped("> " * size + "- " * size), 4000, 40_000)


@pytest.mark.parametrize(
    ("end", "mark"),
    [
        ("All said.", ""),
        ("```\ncode", "```"),
        ("```\ncode\n```", ""),
        ("- a\n\n  ```\n  code", ""),
        ("<!-- open", "-->"),
        ("<!-- shut -->", ""),
        ("<script>\n\nx", "</script>"),
        ("<pre>\n\nx", "</pre>"),
        ("<div>\nx", ""),
        ("<?php\n\nx", "?>"),
    ],
)
def test_p3_what_a_person_left_open_is_closed_in_front_of_a_heading(end, mark):
    """P3."""
    model = chat(BEFORE + end + "\n")
    assert closing(model.document) == mark
    shut = f"{end}\n{mark}" if mark else end
    assert [each.role for each in chat(BEFORE + shut + "\n\n### @assistant:\n").messages][-1] == "assistant"
