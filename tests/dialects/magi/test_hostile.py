"""Any text at all: nothing crashes, places are true, formatting is idempotent, work is linear."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.magi import definitions, facts, format_edits, references
from prosa.dialects.magi.embedded import comment_lines, tolerate
from prosa.dialects.magi.envelope import from_envelope, to_envelope
from prosa.dialects.magi.parts import clean, decode, encode
from prosa.source import apply_edits
from tests.depth import examples
from tests.dialects.magi.reading import PARENT, formatted, found, model, reading
from tests.work import is_linear

PIECES = (
    "```ai-script\n", "````ai-script\n", "~~~ai-script\n", "```\n", "````\n", "~~~\n", "> ", "- ", "    ",
    "\n", "\r\n", "\r", '{"script-id": "a", "prompt": "b"}\n', "# e\n", "<!-- f -->\n",
    '{\n  // c\n  "script-id": "a", /* d */\n  "prompt": "b",\n}\n',
    "---\n", "doc_id: x\n", "tags: a, b\n", "created-date: 2024/1/5\n", "audience: 'x'\n", "relationships: [{a: b}]\n",
    "[^a]", "[^a]: ", f"`{PARENT}`", PARENT, '{"rel_type": "cites",\n', '"doc-id": "x", "rel-desc": "`"}\n',
    '<!-- ai-result {"script-id": "a", "sha256": "b"} -->\n', "<!-- /ai-result -->\n",
    "`", "``", "{", "}", '"', ",", "\u2028", "\ufeff", "\ud800", "é", "\0",
)  # fmt: skip
DOCUMENTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=24).map("".join)


@settings(max_examples=examples(300), deadline=None)
@given(DOCUMENTS)
def test_any_text_is_read(text: str):
    """M1, MW2. Every place lies in the text; a script without data has a diagnostic."""
    read, problems = reading(text)
    for problem in problems:
        assert problem.span.end <= len(text)
    assert list(facts(read)) == ["dialect", "scripts", "relationships", "regions"]
    assert len(references(read)) <= len(read.relationships)
    assert len(definitions(read)) <= 2
    broken = sum(script.node is None for script in read.scripts)
    assert sum(problem.rule in ("script-syntax", "nested-too-deep") for problem in problems) >= broken
    for each in read.scripts:
        assert each.opening.of(text)[:3] in ("```", "~~~")
    for each in read.relationships:
        assert each.span.of(text).strip()[:1] == "{"
    for _, severity, _ in found(text):
        assert severity in ("error", "warning", "info", "hint")


@settings(max_examples=examples(300), deadline=None)
@given(DOCUMENTS)
def test_formatting_is_idempotent_and_keeps_every_meaning(text: str):
    """MA1, MA8, MA17, X22. What was understood before is understood after."""
    before = model(text)
    once = apply_edits(text, format_edits(before, FormatOptions()))
    after = model(once)
    assert format_edits(after, FormatOptions()) == ()
    assert [each.data for each in after.scripts] == [each.data for each in before.scripts]
    assert [each.data for each in after.relationships] == [each.data for each in before.relationships]
    assert {name: after.fields.value(name) for name in after.fields.entries if "date" not in name} == {
        name: before.fields.value(name) for name in before.fields.entries if "date" not in name
    }


@settings(max_examples=examples(200), deadline=None)
@given(DOCUMENTS)
def test_mw5_taken_apart_and_put_together_again(text: str):
    """MW5. For any text at all."""
    assert clean(model(text)).restored == text[model(text).front.body.start :]
    assert from_envelope(to_envelope(text)) == text
    assert encode(decode(text)) == text


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet='"\\/*#<!->\n\r{}[], a', max_size=40))
def test_ma1_blanking_keeps_every_place(text: str):
    """MA1."""
    passed = tolerate(text)
    assert len(passed.text) == len(text)
    blanked = [offset for offset, (old, new) in enumerate(zip(text, passed.text, strict=True)) if old != new]
    spans = (*passed.comments, *passed.commas)
    assert all(any(offset in span for span in spans) for offset in blanked)
    assert all(isinstance(comment_lines(comment.of(text)), list) for comment in passed.comments)


def hostile(kind: str, size: int) -> str:
    many = size // 10
    return {
        "scripts": "```ai-script\n{}\n```\n\n" * (size // 20),
        "comments on a line": "```ai-script\n{" + "/**/ " * (size // 5) + "}\n```\n",
        "comments on lines": "```ai-script\n" + "// a b c d\n" * many + "{}\n```\n",
        "open comments": "```ai-script\n" + "/*<!--" * (size // 6) + "\n```\n",
        "quotes": "```ai-script\n" + '"' * size + "\n```\n",
        "brackets": "```ai-script\n" + "[" * size + "\n```\n",
        "footnotes": "".join(f"[^{n}]: {{}}\n" for n in range(many)),
        "relationships": "".join(f"[^{n}]: {PARENT}\n" for n in range(size // 80)),
        "references": f"[^a]: `{PARENT}`\n\n" + "[^a] " * (size // 5),
        "one label": f"[^a]: `{PARENT}`\n" * (size // 80),
        "blank lines": ("\n" * 50 + "```ai-script\n{}\n```\n") * (size // 70),
        "quoted blocks": "> ```ai-script\n> {}\n> ```\n\n" * (size // 25),
        "regions": '<!-- ai-result {"script-id":"a","sha256":"b"} -->\n\n<!-- /ai-result -->\n\n' * (size // 70),
        "results": (
            '```ai-script\n{"script-id":"a","prompt":"b"}\n```\n\n'
            '<!-- ai-result {"script-id":"a","sha256":"b"} -->\n\nText.\n\n<!-- /ai-result -->\n\nText.\n\n'
        )
        * (size // 140),
        "markers": "<!-- /ai-result -->\n\n" * (size // 20),
        "braces": "[^a]: {" + "{" * size + "}\n",
        "list items": "---\ntags: [" + "a, " * (size // 3) + "]\n---\n",
        "custom fields": "---\n" + "".join(f"tagg{n}: 1\n" for n in range(size // 12)) + "---\n",
        "relationship objects": "---\nrelationships: [" + "{a: b}, " * (size // 8) + "]\n---\n",
    }[kind]


KINDS = (
    "scripts", "comments on a line", "comments on lines", "open comments", "quotes", "brackets", "footnotes",
    "relationships", "references", "one label", "blank lines", "quoted blocks", "regions", "results", "markers",
    "braces",
    "list items", "custom fields", "relationship objects",
)  # fmt: skip


def everything(text: str) -> None:
    read = model(text)
    format_edits(read, FormatOptions())
    clean(read)
    found(text)


@pytest.mark.parametrize("kind", KINDS)
def test_work_is_linear_in_the_text(kind: str):
    """MW1. Sixteen times the text takes about sixteen times as long; quadratic work would take 256 times."""
    assert is_linear(lambda size: everything(hostile(kind, size)), 4_000, 64_000)


def test_what_formatting_touches_is_only_what_it_is_about():
    """MA1, MA8, MA17. A document with everything odd in it: all other lines stay byte for byte."""
    text = (
        "---\r\ntags:   a   # one\r\ncustom: [ x ,y]\r\n---\r\n\r\nA  B[^a] \r\n\r\n* x\r\n+ y\r\n\r\n"
        '```ai-script\r\n{ "script-id" : "a","prompt":"b" , // c\r\n}\r\n```\r\n\r\n[^a]: ' + PARENT + "\r\n"
    )
    expected = (
        "---\r\ntags:   [a]   # one\r\ncustom: [ x ,y]\r\n---\r\n\r\nA  B[^a] \r\n\r\n* x\r\n+ y\r\n\r\n"
        '<!-- c -->\r\n```ai-script\r\n{ "script-id" : "a","prompt":"b"\r\n}\r\n```\r\n\r\n[^a]: `' + PARENT + "`\r\n"
    )
    assert formatted(text) == expected.replace('"b"\r\n}', '"b" \r\n}')
