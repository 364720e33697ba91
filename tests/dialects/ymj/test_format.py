"""Hashes, and the Strict form that `prosa fmt` writes by span edits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.cli.main import main
from prosa.dialects import ymj
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.ymj.format import after_fix
from prosa.dialects.ymj.write import Unwritable, write
from prosa.source import apply_edits
from tests.cli.desk import desk
from tests.depth import examples
from tests.dialects.ymj.records import BODY, HEADER, facts, formatted, found, read, record, sha

ZERO = "0" * 64


def footer(payload_hash: str | None, **index: Any) -> dict[str, Any]:
    stored = {} if payload_hash is None else {"payload_hash": payload_hash}
    return {"schema": "1", **stored, "index": {"tags": [], **index}}


def stored_hash(text: str) -> str | None:
    value: str | None = facts(text)["footer"].get("payload_hash")
    return value


def test_ya2_yw4_an_absent_hash():
    """YA2, YW4, Y10: a warning, an error in strict mode, and no crash."""
    text = record(footer=footer(None))
    assert found(text) == {"missing-payload-hash": "warning"}
    assert found(text, strict=True) == {"missing-payload-hash": "error"}
    assert found(record(footer=footer("")))["missing-payload-hash"] == "warning"


def test_y18_a_hash_that_is_not_that_of_the_body():
    """Y18, Y10: an error in both modes."""
    text = record(footer=footer(ZERO))
    assert found(text) == {"payload-hash-mismatch": "error"}
    assert not facts(text)["accepted"]
    assert found(record(footer=footer(sha(BODY).upper())), strict=True) == {}


@pytest.mark.parametrize("legacy", [BODY.strip(), BODY.strip() + "\n"])
def test_ya3_yw1_a_hash_of_the_trimmed_body(legacy: str):
    """YA3, YW1, X22: recognised, reported as a hint, left by `fmt`, written anew by `--rehash`."""
    text = record(footer=footer(sha(legacy)))
    assert found(text) == {"legacy-hash": "hint"}
    assert found(text, strict=True) == {"legacy-hash": "error"}
    assert facts(text)["accepted"]
    assert stored_hash(formatted(text)) == sha(legacy)
    assert stored_hash(formatted(text, rehash=True)) == sha(BODY)


def test_ya4_two_hashes_of_one_body():
    """YA4."""
    assert found(record(more=f"payload_sha256: {ZERO}\n"))["conflicting-hashes"] == "error"
    assert "conflicting-hashes" not in found(record(more=f"payload_sha256: {sha(BODY)}\n"))


def test_ya18_placeholders_are_told_from_hashes():
    """YA18: a warning, an error in strict mode."""
    text = record(footer=footer("<sha256>"))
    assert found(text) == {"placeholder-hash": "warning"}
    assert found(text, strict=True) == {"placeholder-hash": "error"}


@pytest.mark.parametrize(
    ("stored", "after"),
    [
        (None, sha(BODY)),
        ("", sha(BODY)),
        (sha(BODY.strip()), sha(BODY.strip())),
        (sha(BODY), sha(BODY)),
        (sha(BODY).upper(), sha(BODY).upper()),
        (ZERO, ZERO),
        ("<sha256>", "<sha256>"),
    ],
)
def test_x22_when_fmt_writes_a_hash(stored: str | None, after: str):
    """X22: when it is absent; one that matches in any form is kept, one that does not match is left."""
    assert stored_hash(formatted(record(footer=footer(stored)))) == after


@pytest.mark.parametrize("stored", [ZERO, "<sha256>", None, sha(BODY.strip())])
def test_x22_rehash_accepts_the_body(stored: str | None):
    """X22."""
    text = formatted(record(more=f"payload_sha256: {ZERO}\n", footer=footer(stored)), rehash=True)
    assert stored_hash(text) == sha(BODY)
    assert "payload_sha256" not in text


def test_x22_a_hash_that_was_true_stays_true_when_a_fix_changes_the_body():
    """X22: and one that was not stays what it was."""
    before = read(record())
    after = read(record().replace("gate", "door"))
    edited = apply_edits(after.source.text, after_fix(before, after))
    assert found(edited, strict=True) == {}
    wrong = read(record(footer=footer(ZERO)))
    assert after_fix(wrong, read(wrong.source.text.replace("gate", "door"))) == ()


@given(
    st.text("ab \n\t", max_size=12),
    st.text("ab \n\t", max_size=12),
    st.sampled_from([lambda body: body, str.strip, lambda body: body.strip() + "\n"]),
)
def test_x22_b3_a_hash_keeps_its_form_whatever_happens_to_the_body(old: str, new: str, form: Callable[[str], str]):
    """X22, YA3: what another tool verified before `fmt` or a fix it verifies afterwards."""
    before, after = (read(record(body=f"\nGate {body}.\n\n", footer=footer("@"))) for body in (old, new))
    was = sha(form(before.body_text))
    kept = read(before.source.text.replace('"@"', f'"{was}"'))
    edited = read(after.source.text.replace('"@"', f'"{was}"'))
    assert stored_hash(formatted(kept.source.text)) == was
    assert stored_hash(apply_edits(edited.source.text, after_fix(kept, edited))) == sha(form(edited.body_text))


@pytest.mark.parametrize(
    ("header_hash", "footer_hash", "moved", "after"),
    [
        (sha(BODY), None, True, sha(BODY)),
        (sha(BODY.strip()), None, True, sha(BODY.strip())),
        (sha(BODY), sha(BODY), True, sha(BODY)),
        (sha(BODY), sha(BODY.strip()), True, sha(BODY.strip())),
        (ZERO, None, False, None),
        (ZERO, sha(BODY), False, sha(BODY)),
        (sha(BODY), ZERO, False, ZERO),
    ],
)
def test_yw6_x22_the_deprecated_hash_moves_only_when_it_is_right(
    header_hash: str, footer_hash: str | None, moved: bool, after: str | None
):
    """YW6, Y8, X22: it moves as it is; one that is wrong is evidence and stays, and no new hash is written beside
    it."""
    text = record(more=f"payload_sha256: {header_hash}\n", footer=footer(footer_hash))
    formed = formatted(text)
    assert ("payload_sha256" not in formed) is moved
    assert stored_hash(formed) == after
    assert found(text)["payload-hash-in-header"] == "warning"


def test_yw6_a_comment_beside_the_deprecated_hash_is_not_lost():
    """YW6: then the author removes it."""
    text = record(more=f"payload_sha256: {sha(BODY)} # by hand\n")
    assert formatted(text) == text


MESSY = f"""\ufeff---\r
# about the ferry\r
kind: note   # a kind\r
version: "1.0.0"\r
doc_summary: Opening hours\r
  of the ferry\r
\r
subject:   Ferry hours\r
maintained_by: Harbour office\r
payload_sha256: {sha(BODY)}\r
tags: [sea, boats]\r
---\r
{BODY.replace(chr(10), chr(13) + chr(10))}~~~~JSON\r
{{\r
  "schema" : 1,\r
  "index"  : {{ "title": "Ferry hours", "tags": ["a"], "owner": "Another", "summary": "Opening hours of the ferry" }},\r
  "x": [1.50, 1e3,   {{}}]\r
}}\r
~~~~ \r
\r
"""

TIDY = f"""---
doc_summary: Opening hours of the ferry
# about the ferry
kind: note   # a kind
version: "1.0.0"

subject:   Ferry hours
maintained_by: Harbour office
tags: [sea, boats]
---
{BODY}```json
{{
  "schema" : 1,
  "payload_hash" : "{sha(BODY)}",
  "index"  : {{ "tags": ["a"], "owner": "Another" }},
  "x": [1.50, 1e3,   {{}}]
}}
```

"""


def test_y25_x22_strict_form_by_span_edits():
    """Y25, YA25, YA1, YA5, X22, YW2: everything else survives byte for byte, and a mirror that differs stays."""
    assert formatted(MESSY) == TIDY
    assert formatted(TIDY) == TIDY


def test_y25_a_record_in_strict_form_is_left_alone():
    """Y25."""
    assert ymj.format_edits(read(record()), FormatOptions()) == ()


UNTOUCHED = {
    "a value with a real line break": record(header=HEADER.replace("Opening", "|\n  Opening\n  and closing")),
    "a block with a comment": record(header=HEADER.replace("Opening hours of the ferry", "> # why\n  Opening hours")),
    "a flow header": record(header='{doc_summary: "Hours", kind: note}\n'),
    "duplicate keys in the footer": record(footer='{"schema": "1", "schema": "2", "index": {"title": "Ferry hours"}}'),
    "an example at the end": '---\n' + HEADER + '---\n```json\n{"title": "Ferry hours"}\n```\n',
    "no footer": f"---\n{HEADER}---\n{BODY}",
    "no header": BODY,
    "broken YAML": record(header="kind: [\ndoc_summary: x\n"),
}  # fmt: skip


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED)
def test_yw2_yw5_what_cannot_be_put_right_is_left(text: str):
    """YW2, YW5: no half of a repair, and nothing is written into an example."""
    assert formatted(text) == text


def test_the_first_fields_on_one_line_each():
    """A footer on one line, an empty footer object's neighbours, a mirror that is alone."""
    text = record(footer={"index": {"title": "Ferry hours"}, "schema": "1"})
    assert f'"schema": "1", "payload_hash": "{sha(BODY)}"' in formatted(text)
    assert '"index": {}' in formatted(text)


PARTS = st.sampled_from([
    "---\n", "doc_summary: Hours\n", "kind: note\n", "doc_summary:\n  folded\n  text\n", "# comment\n", "subject: S\n",
    "version: 1.0\n", f"payload_sha256: {ZERO}\n", "maintained_by: M\n", "\n", "text\n", "```json\n", "```\n", "{\n",
    "~~~json\n", "~~~\n", "}\n", '"schema": "1",\n', '"index": {"title": "S", "x": 1}\n', "é\u2028", "- item\n",
    '{"schema": "1", "index": {}}\n', "\r\n", "\r", "\ufeff", " ", "a: &b [1]\n", "[[Link]]\n", '{"a": 1}\n',
])  # fmt: skip

CUT = MESSY.splitlines(keepends=True)
"""The lines of a record in which much is to be put right."""


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """That record with a few lines taken out, doubled or put in."""
    lines = list(CUT)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at : at + draw(st.integers(0, 1))] = draw(st.lists(PARTS | st.sampled_from(CUT), max_size=2))
    return "".join(lines)


@given(damaged() | st.lists(PARTS, max_size=24).map("".join), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_fmt_is_idempotent_and_loses_nothing(text: str, rehash: bool):
    """X22, YW2: formatted twice is formatted once; header and body stay what they were."""
    before, once = read(text), formatted(text, rehash=rehash)
    after = read(once)
    assert formatted(once, rehash=rehash) == once
    assert after.body_text == before.body_text
    kept = {
        key: value for key, value in (before.header_value or {}).items() if key not in ("doc_summary", "payload_sha256")
    }
    assert kept.items() <= (after.header_value or {}).items()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LINES = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cn", "Co", "Cf"]), min_size=1, max_size=60
).filter(lambda text: text.strip() == text and text.isprintable())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc-é: #", min_size=1, max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(LINES, LINES, VALUES, TEXTS)
@settings(max_examples=examples(80), deadline=None)
def test_y25_yw2_what_is_written_reads_back_in_strict_form(summary: str, subject: str, extra: Any, body: str):
    """Y25, YA2, YA5, YW2: whatever the data; the summary on the second line, the hash of the body, no mirrors."""
    header = {
        "kind": "note",
        "doc_summary": summary,
        "version": "1.0",
        "subject": subject,
        "maintained_by": "m",
        "x": extra,
    }
    text = write(header, body, {"index": {"title": subject, "tags": []}, "y": extra})
    shown = facts(text, strict=True)
    assert shown["catalog"] == {"doc_summary": summary}
    assert shown["header"] == {**header, "version": "1.0"}
    assert shown["footer"]["y"] == extra
    assert shown["footer"]["index"] == {"tags": []}
    assert shown["footer"]["payload_hash"] == shown["body_sha256"]
    assert formatted(text) == text


@pytest.mark.parametrize("summary", ["", "two\nlines", "x" * 121, "tab\there"])
def test_y25_a_summary_that_no_line_can_hold_is_not_written(summary: str):
    """Y25, YA5."""
    header = {"doc_summary": summary, "kind": "n", "version": "1", "subject": "s", "maintained_by": "m"}
    with pytest.raises(Unwritable):
        write(header, BODY, {})


def test_y25_a_footer_whose_index_is_no_mapping_is_not_written():
    header = {"doc_summary": "a", "kind": "n", "version": "1", "subject": "s", "maintained_by": "m"}
    with pytest.raises(Unwritable, match="`index`"):
        write(header, BODY, {"index": 3})


def test_the_footer_that_is_written_is_json():
    text = write({"doc_summary": "a", "kind": "n", "version": "1", "subject": "s", "maintained_by": "m"}, "x", {})
    assert json.loads(text.split("```json\n")[1].removesuffix("```\n"))["payload_hash"] == sha("x\n")


def test_x22_fixes_of_the_body_keep_a_true_hash_true(tmp_path: Path):
    """X22: `check --fix` and `fmt` on the command line; a hash that was wrong stays evidence."""
    body = "<!-- prosa-ignore unresolved-link -->\nText.\n"
    for name, text in (("true.ymj", record(body=body)), ("false.ymj", record(body=body, footer=footer(ZERO)))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["check", "--fix", str(tmp_path)], desk().console) == 1
    assert found((tmp_path / "true.ymj").read_text("utf-8"), strict=True) == {}
    assert found((tmp_path / "false.ymj").read_text("utf-8")) == {"payload-hash-mismatch": "error"}


@pytest.mark.parametrize("command", [["check", "--fix"], ["fmt"]])
def test_ya25_line_ends_are_put_right_on_the_command_line(tmp_path: Path, command: list[str]):
    """YA25, Y25."""
    file = tmp_path / "a.ymj"
    file.write_bytes(record().replace("\n", "\r\n").encode())
    assert main([*command, str(file)], desk().console) == 0
    assert file.read_bytes() == record().encode()


def test_x1_y25_the_result_is_compared_under_the_reading_of_a_record():
    """X1, Y25. `...` ends the data of a header, and not the header: that it may is for plain Markdown alone."""
    fields = HEADER.splitlines(keepends=True)
    header = "".join((*fields[1:], fields[0], "...\n# a remark\n"))
    assert formatted(record(header=header)).startswith(f"---\n{fields[0]}")
