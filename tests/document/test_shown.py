"""What a reader sees of a text: the same as the parser's events say, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import pyromark
import pytest
from hypothesis import given

from prosa.data import Value
from prosa.document.shown import shown_runs
from prosa.document.walk import OPTIONS, encodable
from tests.document.markdown import SOUP

_INLINE = {"Emphasis", "Strong", "Strikethrough", "Link", "Image"}


def seen(text: str) -> str:
    """The runs of a text as one text."""
    numbers = iter(shown_runs(text))
    return "".join(
        shown if isinstance(shown, str) else text[int(at) : int(at) + shown]
        for at, shown in zip(numbers, numbers, strict=True)
    )


def told(text: str) -> Iterator[str]:
    """What the events of the parser say is seen, a space for every break. The text has neither HTML nor references."""
    events: Iterator[tuple[Value, Value]] = pyromark.events_with_range(text, options=OPTIONS)
    for event, _ in events:
        kind, value = (event, "") if isinstance(event, str) else next(iter(event.items()))
        name = value if isinstance(value, str) else next(iter(value))
        if kind in ("Text", "Code"):
            yield value
        elif not (kind in ("Start", "End") and name in _INLINE) and kind != "InlineHtml":
            yield " "


@given(SOUP.filter(lambda text: "<" not in text and "]" not in text and "\x00" not in text))
def test_the_runs_show_what_the_parser_gives(text: str):
    text = encodable(text).replace("\r", "\n")
    assert seen(text).split() == "".join(told(text)).split()


@given(SOUP)
def test_x2_runs_are_in_order_and_inside_the_text(text: str):
    numbers = iter(shown_runs(text))
    done = 0
    for at, shown in zip(numbers, numbers, strict=True):
        assert done <= int(at) <= len(text)
        done = int(at) + (shown if isinstance(shown, int) else 0)


@pytest.mark.parametrize("text", ["```\nπ [^é]: ", "```\nπ [a][b]", "    π [r][k]"])
def test_x2_definitions_of_our_own_are_never_seen(text: str):
    assert seen(text).split() == text.replace("`", "").split()


def test_x2_blank_space_between_words_as_written_breaks_no_run():
    assert shown_runs("# One\n\nTwo\nthree é four.") == [2, 22]
    assert shown_runs("a&amp;b [c](d) e") == [0, 1, 1, "&", 6, 2, 9, 1, 14, 2]
