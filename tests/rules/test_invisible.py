"""X39: invisible characters that nothing needs are found, named and removable, and shown on a terminal as escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.diagnostics import Applicability
from prosa.regex import UNSEEN
from prosa.render.plain import for_terminal, safe, safe_source
from prosa.rules.engine import check_text
from prosa.source import SourceText
from prosa.source.invisible import invisible
from tests.work import is_linear

NEEDED = {
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "a plural of a Latin word": "PDF\u200c\u0647\u0627",
    "Arabic shaped as within a word": "\u0647\u200d \u0648 \u200d\u0647",
    "Urdu": "\u0639\u0644\u0645\u200c\u0627\u0644",
    "Malayalam": "\u0d28\u0d4d\u200d",
    "Khmer": "\u1780\u17d2\u1796\u200b\u1794",
    "Myanmar": "\u1019\u103c\u1014\u200b\u1005\u102c",
    "tones and parts": "\U0001f3c3\U0001f3fe\u200d\u2640\ufe0f\u200d\u27a1\ufe0f \U0001fac1\U0001f3fb",
    "flags of no country": "\U0001f3f3\ufe0f\u200d\U0001f308 \U0001f3f4\u200d\u2620\ufe0f",
    "Hindi": "\u0915\u094d\u200d\u0937",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Thai": "\u0e44\u0e17\u0e22\u200b\u0e44\u0e17\u0e22",
    "Hebrew with a mark": "\u05d0\u05d1 C++\u200e",
    "Mongolian": "\u1820\u180b",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "skin": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "heart": "\u2764\ufe0f\u200d\U0001f525",
    "keycap": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "signs": "\u00a9\ufe0f \u2122\ufe0f \u2139\ufe0f \u2194\ufe0f \u203c\ufe0f \u26a0\ufe0e",
    "England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "ideograph": "\u845b\U000e0100",
    "soft hyphen": "Donau\u00addampf",
    "mark of order": "\ufeffText",
    "blanks": "a\u00a0b\u202fc",
}


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
def test_x39_what_a_script_or_an_emoji_needs_is_no_finding(text: str) -> None:
    assert list(invisible(text)) == []


@pytest.mark.parametrize(
    "char", "\u200b\u200c\u200d\u200e\u2060\ufeff\u202e\u2066\ufe0f\u034f\u3164\u00ad\U000e0041\U000e0100"
)
def test_x39_beside_what_does_not_need_it_each_is_found(char: str) -> None:
    (run,) = invisible(f"a {char} b")
    assert run == (2, 3, (ord(char),))


def test_x39_tags_spell_what_they_hide() -> None:
    (run,) = invisible("a" + "".join(chr(0xE0000 + ord(each)) for each in "run it"))
    assert run.hidden == "run it"


@given(st.text())
def test_x39_a_text_without_such_characters_has_no_finding(text: str) -> None:
    assert list(invisible(UNSEEN.sub("", text))) == []


SPECIAL = (
    "\u200b\u200c\u200d\u200e\u2060\ufe0f\ufe00\ufeff\u00ad\u034f\u115f\u17b4\u180b\u202e"
    "\U000e0067\U000e007f\U000e0100\U0001d173"
)
BASES = (
    "a1# \n\u0645\u0915\u094d\u0e44\u05d0\u1820\U0001f468\U0001f3fd\u2764\U0001f3f4\u845b\u1100\u1780\u0301\U0001d15f"
)


@given(st.text(alphabet=SPECIAL + BASES, max_size=40))
def test_x39_what_is_removed_leaves_nothing_to_find(text: str) -> None:
    kept, end = [], 0
    for run in invisible(text):
        assert run.end > run.start >= end
        kept.append(text[end : run.start])
        end = run.end
    assert list(invisible("".join((*kept, text[end:])))) == []


def test_x39_a_terminal_shows_escapes() -> None:
    for gate in (safe, safe_source, for_terminal):
        assert gate("a\u200bb\ufe0f\U000e0041") == "a\\u200bb\\ufe0f\\U000e0041"
        assert gate("\u26a0\ufe0f") == "\u26a0\ufe0f"


def test_x39_a_destination_is_changed_only_when_that_is_asked_for():
    """X39. A link without the character leads elsewhere, so the fix is unsafe there; in prose it is safe."""
    fixes = [
        each.fix
        for text in ("See [a](b\u200bc.md).\n", "Some wo\u200brds.\n")
        for each in check_text(SourceText(text, "a.md")).diagnostics
        if each.rule == "invisible-character"
    ]
    assert [fix.applicability for fix in fixes if fix] == [Applicability.UNSAFE, Applicability.SAFE]


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
def test_x39_a_terminal_shows_what_is_needed_as_it_is(text: str) -> None:
    """X39: joiners of Persian and of emoji stay as they are; a byte-order mark is shown as an escape."""
    for gate in (safe, safe_source, for_terminal):
        assert gate(text) == text.replace("\ufeff", "\\ufeff")


@given(st.text(alphabet=SPECIAL + BASES + "\x1b\x9b\u2028", max_size=40))
def test_x39_nothing_that_is_found_reaches_a_terminal(text: str) -> None:
    for gate in (safe, safe_source, for_terminal):
        shown = gate(text)
        assert list(invisible(shown)) == [] and not {"\x1b", "\x9b", "\u2028", "\u202e"} & {*shown}


@pytest.mark.parametrize("text", ["\u200e", "\u200e\u05d0", "\u200b ", "a\u200d", "\U0001f3f4\U000e0061", "\u200c\n"])
def test_x39_the_search_takes_linear_time(text: str) -> None:
    assert is_linear(lambda size: list(invisible(text * size)), 2_000, 32_000)
