"""The links and the anchors of a document, on input that means harm."""

from __future__ import annotations

import pytest

from prosa.document import parse
from prosa.rules.analyse import anchors, local_links
from prosa.source import SourceText
from tests.work import is_quick

HOSTILE = {
    "attribute lists": "# {#a" + "#a" * 100_000 + "\n",
    "attribute lists with words": "# " + "{ a #b" * 50_000 + "\n",
    "escaped labels": "{#" + "\\_" * 150_000 + "\n",
    "comments that do not end": "{/*" * 100_000 + "\n",
    "comments and links": "{/**/}[a](b.md) " * 15_000 + "\n",
    "shortcodes": "# " + ":a" * 100_000 + "\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_x2_hostile_links_and_anchors_are_found_in_linear_time(text: str) -> None:
    document = parse(SourceText(text))
    assert is_quick(lambda: (anchors(document), local_links(document)), 2)
    assert len(local_links(document)) == text.count("](")


def test_anchors_are_those_of_headings_and_of_attribute_lists() -> None:
    text = "# One :star:\n\nA ^b^{#\\_fn} c {: .x #y }\n\n```css\na {b: #c}\n```\n"
    assert anchors(parse(SourceText(text))) >= {"one-star", "one", "_fn", "y"}
