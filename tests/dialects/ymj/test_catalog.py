"""The card catalog: two lines, and what keeps them readable; and whether the summary speaks of the body."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.ymj.edits import yaml_string
from prosa.dialects.ymj.sections import read_catalog, share_of_words
from tests.depth import examples
from tests.dialects.ymj.records import facts, formatted, found, record

REST = "kind: note\nversion: 1.0.0\nsubject: Ferry hours\nmaintained_by: Harbour office\n"


def with_summary(raw: str) -> str:
    return record(header=f"doc_summary: {raw}\n{REST}")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("Hours of the ferry", "Hours of the ferry"),
        ('"Hours: the \\"ferry\\""', 'Hours: the "ferry"'),
        ("'It''s late'", "It's late"),
        ("Hours # and a comment", "Hours"),
        ("1.10", "1.10"),
        ("2026-03-31", "2026-03-31"),
    ],
)
def test_y4_ya6_two_lines_are_enough(raw: str, value: str):
    """Y4, YA6: the second line parsed alone, quotes and escapes understood."""
    text = with_summary(raw)
    two_lines = "\n".join(text.split("\n")[:2]) + "\n"
    assert read_catalog(two_lines) == value
    assert facts(text)["catalog"] == {"doc_summary": value}
    assert found(text, strict=True) == {}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_y4_any_line_end_and_a_mark(end: str):
    """Y4, YA25."""
    assert read_catalog(f"\ufeff---{end}doc_summary: Hours{end}") == "Hours"


@pytest.mark.parametrize(
    "head",
    [
        "",
        "---",
        "---\n",
        "---\nkind: note\n",
        "----\ndoc_summary: Hours\n",
        "--- \ndoc_summary: Hours\n",
        "---\n doc_summary: Hours\n",
        "---\ndoc_summary: cut off befo",
        "---\ndoc_summary: goes on\n  below\n",
        "---\ndoc_summary: >-\n  below\n",
        '---\ndoc_summary: "closed\n  below"\n',
        "---\ndoc_summary:\n",
        "---\ndoc_summary: [Hours]\n",
        "---\ndoc_summary: *alias\n",
        "---\ndoc_summary: Hours: late\n",
        "---\ndoc_summary: !secret Hours\n",
    ],
)
def test_ya6_what_two_lines_do_not_give(head: str):
    """YA6: then there is no catalog entry, and never half of one."""
    assert read_catalog(head) is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120))
@settings(max_examples=examples(80), deadline=None)
def test_ya5_yw2_every_summary_fits_on_the_second_line(text: str):
    """YA5, YW2, Y25: whatever it holds, it is written so that the second line alone gives it back."""
    line = f"doc_summary: {yaml_string(text)}"
    assert "\n" not in line
    assert read_catalog(f"---\n{line}\n") == text


@pytest.mark.parametrize("header", [f"{REST}doc_summary: Hours\n", f"# comment\ndoc_summary: Hours\n{REST}"])
def test_ya5_the_summary_belongs_on_the_second_line(header: str):
    """YA5, Y4: a warning, an error in strict mode."""
    text = record(header=header)
    assert found(text) == {"summary-not-second": "warning"}
    assert facts(text)["catalog"] is None
    assert found(text, strict=True) == {"summary-not-second": "error"}
    assert found(formatted(text), strict=True) == {}


@pytest.mark.parametrize("raw", ["Hours of\n  the ferry", '"Hours of\n  the ferry"', ">-\n  Hours of\n  the ferry"])
def test_ya5_yw2_a_folded_summary(raw: str):
    """YA5: a warning, an error in strict mode, and put right on one line."""
    text = with_summary(raw)
    assert found(text)["summary-on-several-lines"] == "warning"
    assert facts(text)["accepted"]
    assert found(text, strict=True)["summary-on-several-lines"] == "error"
    assert facts(text)["header"]["doc_summary"] == "Hours of the ferry"
    assert formatted(text).splitlines()[1] == "doc_summary: Hours of the ferry"


def test_ya6_a_line_that_cannot_be_read_alone_is_reported():
    """YA6."""
    assert found(with_summary('"Hours of\n  the ferry"'))["not-catalog-readable"] == "warning"


@pytest.mark.parametrize(("length", "rule"), [(120, {}), (121, {"summary-too-long": "warning"})])
def test_ya5_length_counts_code_points_of_the_value(length: int, rule: dict[str, str]):
    """YA5, Y4, Y7: not bytes, not quotes."""
    assert found(with_summary('"' + "é" * length + '"')) == rule


LEAVING = "It opens and leaves every hour, said the harbour master to nobody in particular while rain fell all day."
LONG_BODY = "# Ferry\n\nThe ferry opens its gate at six and leaves ten minutes later, except on days of heavy fog.\n"


def test_y26_a_summary_of_something_else_is_reported_where_the_record_asks():
    """Y26: with the handler a warning, without it a hint; no error in any mode."""
    ops = {"handlers": [{"name": "validate_summary"}]}
    header = f"doc_summary: Recipe for apple cake\n{REST}"
    assert found(record(header=header, body=LONG_BODY, ops=ops), strict=True) == {"diverging-summary": "warning"}
    assert found(record(header=header, body=LONG_BODY), strict=True) == {"diverging-summary": "hint"}
    assert found(record(header=f"doc_summary: When ferries leave\n{REST}", body=LONG_BODY, ops=ops)) == {}


@pytest.mark.parametrize(
    ("summary", "body", "share"),
    [
        ("Leaving and opening hours", LEAVING, 1.0),
        ("Hours", LONG_BODY, None),
        ("Ferry hours", "Too short.", None),
        ("渡し船の時間", "渡し船の時間は毎日同じです。朝六時に門が開きます。霧の日は休みます。", 1.0),
    ],
)
def test_y26_words_are_compared_by_how_they_begin(summary: str, body: str, share: float | None):
    """Y26."""
    assert share_of_words(summary, body) == share
