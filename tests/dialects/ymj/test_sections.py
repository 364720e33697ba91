"""The three sections of a record: where they begin and end, to the byte."""

from __future__ import annotations

import pytest

from tests.dialects.ymj.records import BODY, HEADER, diagnostics, facts, found, read, record, sha

GOOD = record()


def test_y2_y6_y31_a_record_has_three_sections():
    """Y2, Y6, Y31: header, body and footer, the same on every reading."""
    shown = facts(GOOD)
    assert shown == facts(GOOD)
    assert shown["header"]["subject"] == "Ferry hours"
    assert shown["body"] == BODY
    assert shown["footer"]["schema"] == "1"
    assert found(GOOD, strict=True) == {}


def test_the_keys_of_a_record_are_those_of_the_interface():
    keys = ["mode", "accepted", "header", "footer", "body", "body_sha256", "payload", "attachments", "wikilinks"]
    assert list(facts(GOOD))[4:] == [*keys, "catalog"]


def test_y1_ya25_marks_and_crlf_are_read_and_do_not_change_the_hash():
    """Y1, YA25, Y18: the hash is that of LF text without the mark."""
    text = "\ufeff" + GOOD.replace("\n", "\r\n")
    shown = facts(text)
    assert shown["body"] == BODY
    assert shown["body_sha256"] == sha(BODY)
    assert shown["accepted"]
    assert found(text) == {"byte-order-mark-in-record": "warning", "crlf-in-record": "warning"}


def test_a_lone_cr_is_a_line_end():
    """X2, YA3."""
    text = record(body="one\ntwo\n").replace("\n", "\r")
    assert facts(text)["body"] == "one\ntwo\n"


@pytest.mark.parametrize("body", ["", "\n\n  text  \n\n\n", "text", "\u2028\x0c\n", "---\n\n", "\ttab\n"])
def test_ya3_yw1_the_body_is_not_trimmed(body: str):
    """YA3, YW1, Y18, Y10: everything between the header's last line and the footer's first, as it is."""
    text = record(body=body if body.endswith("\n") or not body else body + "\n")
    shown = facts(text)
    assert shown["body"] == (body if body.endswith("\n") or not body else body + "\n")
    assert shown["body_sha256"] == sha(shown["body"])
    assert "payload-hash-mismatch" not in found(text)


TRAPS = {
    "a json fence": '```json\n{"schema": "9", "index": {}}\n```\n\nmore\n\n',
    "an unclosed fence": "```python\nx = 1\n\n",
    "an unclosed longer fence": "`````\n```json\n{}\n\n",
    "a whole record, quoted": f"````markdown\n{GOOD}````\n\n",
    "a whole record, in the open": f"{GOOD}\n",
    "a fence in a string": "a line with ```json in it and ``` too\n",
    "tildes": "~~~json\n{}\n~~~\n",
    "an unclosed comment": "<!-- never closed\n\n",
    "hyphens": "text\n---\nmore: text\n---\n",
}


@pytest.mark.parametrize("body", TRAPS.values(), ids=TRAPS)
def test_ya8_y5_yw5_no_body_misleads_the_footer(body: str):
    """YA8, Y5, YW5: the last block is the footer, whatever the body holds."""
    shown = facts(record(body=body))
    assert shown["body"] == body
    assert shown["footer"]["payload_hash"] == sha(body)
    assert shown["accepted"]


REFUSED = {
    "no header": (GOOD.split("---\n")[-1], "missing-header"),
    "four hyphens": ("-" + GOOD, "missing-header"),
    "a header that is not closed": (GOOD.replace("---\n# ", "----\n# "), "unclosed-front-matter"),
    "a header that is a list": (record(header="- a\n"), "front-matter-not-a-mapping"),
    "a header with broken YAML": (record(header="kind: [\n"), "yaml-syntax"),
    "no footer": (f"---\n{HEADER}---\n{BODY}", "missing-footer"),
    "a footer that is not closed": (GOOD.removesuffix("```\n"), "missing-footer"),
    "a list": (record(footer="[1]"), "missing-footer"),
    "a text": (record(footer='"a"'), "missing-footer"),
    "an empty fence": (record(footer=""), "missing-footer"),
    "another language": (GOOD.replace("```json\n", "```yaml\n"), "missing-footer"),
    "a language that begins alike": (GOOD.replace("```json\n", "```json5\n"), "missing-footer"),
    "other runs": (GOOD.removesuffix("```\n") + "~~~\n", "missing-footer"),
    "broken JSON": (record(footer='{"schema": 1,}'), "footer-syntax"),
    "NaN": (record(footer='{"schema": 1, "index": {"x": NaN}}'), "footer-syntax"),
    "text behind": (GOOD + "signed\n", "text-after-footer"),
    "an empty file": ("", "missing-header"),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("text", "rule"), REFUSED.values(), ids=REFUSED)
def test_y16_ya9_ya12_yw3_what_cannot_be_read_is_refused_in_both_modes(text: str, rule: str, strict: bool):
    """Y16, YA8, YA9, YA12, YW3."""
    assert found(text, strict=strict)[rule] == "error"
    shown = facts(text, strict=strict)
    assert not shown["accepted"]
    assert shown["header"] is None or shown["footer"] is None


def test_ya9_blank_lines_may_follow_the_footer():
    """YA9."""
    assert found(GOOD + "\n \t\n\n", strict=True) == {}


def test_a_broken_footer_is_no_part_of_the_body():
    """YA3: what is wrong in the footer does not change the hash of the body."""
    assert facts(record(footer='{"schema": 1,}'))["body"] == BODY
    assert facts(record(footer="[1]"))["body"] == BODY + "```json\n[1]\n```\n"


FENCES = [("```json ", "```"), ("````json", "````"), ("````json", "```"), ("```JSON", "```"), ("``` json", "```"),
          ("~~~json", "~~~"), ("~~~~json", "~~~~ "), ("```json", "```  ")]  # fmt: skip


@pytest.mark.parametrize(("opening", "closing"), FENCES)
def test_y9_ya10_other_fences_are_tolerated(opening: str, closing: str):
    """Y9, YA10, X4: a warning, and an error in strict mode."""
    text = GOOD.replace("```json", opening).removesuffix("```\n") + closing + "\n"
    assert found(text) == {"unusual-footer-fence": "warning"}
    assert facts(text)["accepted"]
    assert found(text, strict=True) == {"unusual-footer-fence": "error"}
    assert not facts(text, strict=True)["accepted"]


def test_ya12_a_record_for_version_one_gets_a_note():
    """YA12."""
    (missing,) = [each for each in diagnostics(f"---\n{HEADER}ymj_spec: 1.0.0\n---\n{BODY}") if "footer" in each.rule]
    assert any("1.0" in note for note in missing.notes)


def test_ya26_one_line_too_many_is_recognised():
    """YA26."""
    rules = found("---\n" + GOOD)
    assert rules["second-header"] == "warning"
    assert rules["missing-field"] == "error"


def test_yw5_an_example_at_the_end_makes_no_valid_record():
    """YW5, YW3: a JSON object without the fields of a footer, and a header with nothing in it."""
    rules = found('---\nfoo: 1\n---\nText.\n\n```json\n{"a": 1}\n```\n')
    assert rules["missing-field"] == "error"
    assert not facts('---\nfoo: 1\n---\nText.\n\n```json\n{"a": 1}\n```\n')["accepted"]


def test_ya11_flag_then_record_then_permissive():
    """YA11, X4."""
    loose = record(footer={"schema": "1", "index": {}})
    strict = record(more="validation_mode: strict\n", footer={"schema": "1", "index": {}})
    modes = [
        (loose, None, "permissive"),
        (strict, None, "strict"),
        (strict, False, "permissive"),
        (loose, True, "strict"),
    ]
    for text, flag, mode in modes:
        shown = facts(text, strict=flag)
        assert shown["mode"] == mode
        assert shown["accepted"] is (mode == "permissive")


@pytest.mark.parametrize("spec", ["1.0.0", "0.8", "9", "draft"])
def test_ya11_y28_an_unknown_specification_is_permissive(spec: str):
    """YA11, Y28: whatever mode the record asks for; only the command line outweighs it."""
    text = record(more=f"validation_mode: strict\nymj_spec: {spec}\n", footer={"schema": "1", "index": {}})
    assert found(text)["unknown-spec-version"] == "warning"
    assert facts(text)["mode"] == "permissive"
    assert facts(text)["accepted"]
    assert not facts(text, strict=True)["accepted"]


@pytest.mark.parametrize("spec", ["0.5", "0.7", "0.7.0", "v0.6", '"0.1"'])
def test_y28_known_specifications(spec: str):
    """Y28."""
    assert found(record(more=f"ymj_spec: {spec}\n"), strict=True) == {}


def test_spans_are_what_they_claim():
    """X2b: every span of the model, sliced from the source."""
    text = record(more="ymj_spec: 0.7\n")
    model = read(text)
    assert model.footer is not None
    assert text[model.body.start : model.body.end] == BODY
    assert model.footer.place.open.of(text) == "```json"
    assert model.footer.place.close.of(text) == "```"
    assert model.fields["ymj_spec"].value.span.of(text) == "0.7"
    assert model.entries["schema"].value.span.of(text) == '"1"'
