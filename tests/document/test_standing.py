"""In which part of a document an offset stands: `¦` marks it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.document.standing import Standing, standing


def at(text: str) -> tuple[Standing, str]:
    offset = text.index("¦")
    plain = text.replace("¦", "")
    return standing(plain, offset), plain


@pytest.mark.parametrize(
    ("text", "part", "region"),
    [
        ("¦", "body", ""),
        ("---\n¦\n---\n", "front", ""),
        ("---\na: 1\nb¦\n---\nx", "front", "a: 1\nb"),
        ("---\r\na: 1\r\nb¦\r\n---\r\nx", "front", "a: 1\r\nb"),
        ("\ufeff---\na: ¦\n---\n", "front", "a: "),
        ("---\na: ¦\n...\n", "front", "a: "),
        ("---\na: 1\nb: ¦\n\ntext", "front", "a: 1\nb: "),
        ("---\r\na: 1\r\nb: ¦\r\n\r\ntext", "front", "a: 1\r\nb: "),
        ("---\na: 1\n\nte¦xt", "body", "\n\ntext"),
        ("--¦-\na: 1\n---\n", "mark", "a: 1"),
        ("---\na: 1\n--¦-\nx", "mark", "x"),
        ("---\na: 1\n---\nx¦", "body", "x"),
        ("a\n```json\n{¦}\n```\n", "fence", "{}\n"),
        ("a\n```json\n{¦", "fence", "{"),
        ("a\n```js¦on\n{\n```", "opening", "a\n```json\n{\n```"),
        ("a\n```\nx\n```\nb¦", "body", "a\n```\nx\n```\nb"),
        ("````\n```\nx¦\n```\n````", "fence", "```\nx\n```\n"),
        ("- ```yaml\n  a: ¦\n  ```", "fence", "  a: \n"),
        ("```\nx\n``¦`", "mark", "```\nx\n```"),
    ],
)
def test_an_offset_stands_in_a_part(text: str, part: str, region: str):
    found, plain = at(text)
    assert (found.part, found.region.of(plain)) == (part, region)


def test_the_last_fence_is_known_with_its_info():
    found, _ = at("```a\nx\n```\n\n```json\n{¦}\n```\n")
    assert found.last and found.info == "json"
    found, _ = at("```a b\n¦x\n```\n\n```json\n{}\n```\n")
    assert not found.last and found.info == "a b"


_PIECES = st.sampled_from(
    ["---", "\n", "\r\n", "\r", "a: 1", "```", "~~~", "json", " ", "...", "> ", "- ", "\ufeff", "é"]
)


@given(st.lists(_PIECES, max_size=40).map("".join), st.integers(0, 200))
def test_no_text_and_no_offset_fail(text: str, offset: int):
    offset = min(offset, len(text))
    found = standing(text, offset)
    assert found.line.start <= offset <= found.line.end <= len(text)
    assert found.region.end <= len(text)
    if found.part in ("front", "fence"):
        assert found.region.start <= offset <= found.region.end
