"""What is no Markdown in a Markdown file: JavaScript in MDX, TOML in shortcodes (X3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.document.foreign import mdx_spans, shortcode_spans
from prosa.source import Span


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("import A from '[[a]]'\n\ntext\n", ["import A from '[[a]]'"]),
        ("export const x = [\n  [[1]],\n]\n\n[a](b)\n", ["export const x = [\n  [[1]],\n]"]),
        ("a {/* [[no]] */} b", ["{/* [[no]] */}"]),
        ("<Card a={{ b: [[1, 2]] }} />", ["{{ b: [[1, 2]] }}"]),
        ("`{a}` and ``{`b}``", []),
        ("```js\nexport const a = {}\n```\n\n{b}", ["{b}"]),
        ("\\{a} { b", []),
        ("we import things", []),
    ],
)
def test_x3_javascript_in_mdx(text: str, hidden: list[str]):
    """X3."""
    assert [each.of(text) for each in mdx_spans(text)] == hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("{{< code-toggle >}}\n[[cascade]]\nx = 1\n{{< /code-toggle >}}\n", ["[[cascade]]"]),
        ("{{< a/b x=1 >}}\n[[x.y]]\n{{</ a/b >}}\n", ["[[x.y]]"]),
        ("{{< note >}}\nsee [[other]]\n{{< /note >}}", []),
        ("[[note]]\n{{< figure src=x >}}\n", []),
    ],
)
def test_x3_headings_of_toml_in_a_shortcode_are_no_wikilinks(text: str, hidden: list[str]):
    """X3."""
    assert [each.of(text) for each in shortcode_spans(text)] == hidden


@pytest.mark.parametrize("spans", [mdx_spans, shortcode_spans])
@given(text=st.text("{}<>/`~[]\\ \nimportexa", max_size=60) | st.text(max_size=30))
def test_spans_are_ordered_and_inside(spans: Callable[[str], Iterator[Span]], text: str):
    done = 0
    for each in spans(text):
        assert done <= each.start < each.end <= len(text)
        done = each.end
