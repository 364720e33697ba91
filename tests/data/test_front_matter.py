"""Where front matter ends: X1, X2, LW11."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import split_front_matter
from prosa.data.limits import MAX_FRONT_MATTER_BYTES
from tests.depth import examples
from tests.work import is_quick


@pytest.mark.parametrize(
    ("text", "yaml", "body"),
    [
        ("---\na: 1\n---\nbody\n", "a: 1\n", "body\n"),
        ("\ufeff---\na: 1\n---\nbody", "a: 1\n", "body"),
        ("---\r\na: 1\r\n---\r\nbody", "a: 1\r\n", "body"),
        ("---\ra: 1\r---\rbody", "a: 1\r", "body"),
        ("---\n---\n", "", ""),
        ("---\n---", "", ""),
        ("---\n\n---\n\nbody", "\n", "\nbody"),
        ("---\na: |\n  ---\n  x\n---\nbody", "a: |\n  ---\n  x\n", "body"),
        ("---\na: 1\n--- \n----\n---\nbody", "a: 1\n--- \n----\n", "body"),
        ("---\na: 1\n---\nbody\n---\nmore", "a: 1\n", "body\n---\nmore"),
        ("---\na: x\u2028---\u2028\n---\nbody", "a: x\u2028---\u2028\n", "body"),
    ],
)
def test_x1_x2_lw11_the_first_line_that_is_exactly_a_fence_closes(text: str, yaml: str, body: str) -> None:
    parts, problems = split_front_matter(text)
    assert parts is not None
    assert not problems
    assert (parts.yaml.of(text), parts.body.of(text)) == (yaml, body)
    assert parts.open.of(text) == parts.close.of(text) == "---"
    assert parts.bom == text.startswith("\ufeff")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", []),
        ("body", []),
        ("\n---\na: 1\n---\n", []),
        ("text\n---\na: 1\n---\n", []),
        ("-- -\n", []),
        ("***\n", []),
        (" ---\na: 1\n---\n", ["front-matter-fence"]),
        ("--- \na: 1\n---\n", ["front-matter-fence"]),
        ("----\na: 1\n---\n", ["front-matter-fence"]),
        ("\ufeff---\t\na: 1\n---\n", ["front-matter-fence"]),
        ("—\na: 1\n---\n", ["front-matter-fence"]),
        ("---", ["unclosed-front-matter"]),
        ("---\na: 1\n", ["unclosed-front-matter"]),
        ("---\na: 1\n ---\n", ["unclosed-front-matter"]),
    ],
)
def test_x1_lw11_all_else_is_body(text: str, rules: list[str]) -> None:
    parts, problems = split_front_matter(text)
    assert parts is None
    assert [problem.rule for problem in problems] == rules


def test_an_unclosed_fence_points_at_what_was_perhaps_meant() -> None:
    text = "---\na: 1\n--- \nbody"
    (problem,) = split_front_matter(text)[1]
    assert problem.span.of(text) == "---"
    assert [note.span.of(text) for note in problem.annotations] == ["--- "]


@pytest.mark.parametrize(("filling", "count"), [("x", MAX_FRONT_MATTER_BYTES), ("é", MAX_FRONT_MATTER_BYTES // 2)])
def test_x9_front_matter_has_a_size_in_bytes(filling: str, count: int) -> None:
    def rules(text: str) -> list[str]:
        parts, problems = split_front_matter(text)
        assert parts is not None
        return [problem.rule for problem in problems]

    assert rules(f"---\n{filling * (count - 1)}\n---\n") == []
    assert rules(f"---\n{filling * count}\n---\n") == ["front-matter-too-large"]


@given(st.text(st.sampled_from("-\r\n a\ufeff"), max_size=40).map(lambda text: "---\n" + text))
@settings(max_examples=examples(150), deadline=None)
def test_x1_splitting_is_lossless(text: str) -> None:
    parts, _ = split_front_matter(text)
    if parts is None:
        return
    spans = (parts.open, parts.yaml, parts.close, parts.body)
    gaps = [text[left.end : right.start] for left, right in pairwise(spans)]
    assert text[: parts.open.start] == ("\ufeff" if parts.bom else "")
    assert gaps[0] in ("\n", "\r", "\r\n")
    assert gaps[1] == ""
    assert gaps[2] in ("\n", "\r", "\r\n", "")
    assert parts.body.end == len(text)
    assert gaps[2] or not len(parts.body)


@pytest.mark.parametrize("filling", ["----\n", "\r", " ", "\n ---", "-" * 50 + "x\n"])
def test_splitting_takes_linear_time(filling: str) -> None:
    text = "---\n" + filling * (1_000_000 // len(filling))
    assert is_quick(lambda: split_front_matter(text), 3)
