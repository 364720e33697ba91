"""Hostile and accidental texts: no crash, linear work, true spans."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, read_yaml
from prosa.dialects import ymj
from prosa.dialects.dialect import FormatOptions
from prosa.source import apply_edits
from tests.depth import examples
from tests.dialects.ymj.records import BODY, HEADER, diagnostics, facts, found, read, record
from tests.work import PART, is_quick

PIECES = st.sampled_from([
    "---", "\n", "\r\n", "\r", "```", "~~~", "json", " ", "{", "}", '"', ":", ",", "[", "]", "doc_summary: ", "kind: a",
    '{"schema": "1", "index": {"title": 1}, "ops": {"body_selector": "regex:(a*)*b", "attachments": [{"uri": "x"}]}}',
    '"ops": {"graph": {"edges": [{"to": "[[a]]"}]}}', "attachments: [{uri: a}]", "[[", "]]", "\ufeff", "\0", "\u2028",
    "&a", "*a", "<<: *a", "é", "💥", "#", "<!-- block_id: a -->", "    ", "> ", "- ", "payload_sha256: 1", "null",
])  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join))
@settings(max_examples=examples(200), deadline=None)
def test_y16_ya24_no_text_makes_the_reader_fail(text: str):
    """Y16, YA24, X4: whatever it is, it is read, shown, checked and formatted."""
    shown = facts(text)
    assert isinstance(shown["accepted"], bool)
    assert text.replace("\r\n", "\n").replace("\r", "\n").count(shown["body"]) or not shown["body"]
    assert all(0 <= each.span.start <= each.span.end <= len(text) for each in diagnostics(text))
    model = read(text)
    ymj.references(model)
    apply_edits(text, ymj.format_edits(model, FormatOptions(rehash=True)))


@given(st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=examples(100), deadline=None)
def test_ya3_ya8_the_body_is_what_lies_between(body: str, title: str):
    """YA3, YA8: whatever stands in it, as long as it ends its last line."""
    body = body + "\n"
    text = record(body=body, footer={"schema": "1", "index": {"note": title}})
    model = read(text)
    assert text[model.body.start : model.body.end] == body
    assert model.footer is not None


def spans(node: Node, text: str, offset: int) -> None:
    """Every scalar, read again from its span, has the same value."""
    if isinstance(node, Scalar):
        again = read_yaml(text[node.span.start : node.span.end]).node
        assert isinstance(again, Scalar)
        assert again.text == node.text
    for child in node.items if isinstance(node, Sequence) else node.entries if isinstance(node, Mapping) else ():
        for part in (child.key, child.value) if isinstance(child, Entry) else (child,):
            spans(part, text, offset)


def test_x2_spans_of_header_and_footer_hold_what_they_say():
    """X1, X2."""
    text = record(
        more="attachments:\n  - uri: a\n    note: 'it''s'\n", ops={"trace": {"revision": 7}, "x": ["é", None]}
    )
    model = read(text)
    assert model.header is not None
    assert model.footer is not None
    spans(model.header, text, 0)
    spans(model.footer.node, text, 0)


N = 20_000 // PART
HOSTILE = {
    "fence lines": record(body="```\n" * N),
    "openings": record(body="```json\n" * N),
    "tildes in lines": record(body="a ~~~ b ``` c\n" * N),
    "wikilinks": record(body="[[a]]" * N + "\n"),
    "open brackets": record(body="[[" * N + "\n"),
    "block ids": record(body="<!-- block_id: a -->\n\n" * (N // 8), ops={"body_selector": "block_id:b"}),
    "fences": record(body="```csv {#a}\n```\n" * (N // 8), ops={"body_selector": "nth_fenced:csv:99999999"}),
    "headings": record(body="# a\n" * (N // 8), ops={"body_selector": "heading_path:a/a/a/b"}),
    "attachments": record(ops={"attachments": [{"uri": f"x:{n}", "sha256": "1"} for n in range(N // 40)]}),
    "edges": record(ops={"graph": {"edges": [{"type": "[" * 20, "to": "[" * 20} for _ in range(N // 40)]}}),
    "colons": record(ops={"body_selector": "between:" + "(:" * 900}),
    "carriage returns": record(body="\r" * N),
    "white space at the end": record() + " \n" * N,
    "a long summary": record(header=HEADER.replace("Opening", "Opening " * (N // 10))),
    "words": record(body=BODY + "ferry words " * N, ops={"handlers": [{"name": "validate_summary"}]}),
    "keys": record(footer='{"schema": "1", "index": {' + ", ".join(f'"title{n}": 1' for n in range(N // 20)) + "}}"),
    "deep": record(footer="[" * N),
    "deep header": record(more="x: " + "[" * N + "\n"),
    "secrets": record(ops={"encryption": {"key": ["A" * 31] * (N // 40)}}),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_y31_work_is_linear(text: str):
    """Y31: reading, checking, showing and formatting; each far below what anything quadratic would take."""

    def work() -> None:
        found(text)
        ymj.facts(read(text))
        ymj.format_edits(read(text), FormatOptions(rehash=True))

    assert is_quick(work, 6.0 / PART)
