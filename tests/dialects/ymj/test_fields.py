"""The fields of header and footer: types, forms, values, what is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.data import read_json
from prosa.dialects.ymj.read import Visibility, read_visibility
from tests.dialects.ymj.records import BODY, HEADER, diagnostics, facts, found, read, record, sha


@pytest.mark.parametrize("name", ["doc_summary", "kind", "version", "subject", "maintained_by"])
@pytest.mark.parametrize("line", ["", "{}:\n", '{}: ""\n'])
def test_y7_yw3_required_header_fields(name: str, line: str):
    """Y7, YW3: absent, without a value, empty."""
    header = "".join(each for each in HEADER.splitlines(keepends=True) if not each.startswith(name))
    text = record(header=header + line.format(name))
    assert found(text)["missing-field"] == "error"
    assert not facts(text)["accepted"]


@pytest.mark.parametrize("name", ["schema", "index"])
def test_y10_required_footer_fields(name: str):
    """Y10."""
    footer = {"schema": "1", "payload_hash": sha(BODY), "index": {}}
    del footer[name]
    assert found(record(footer=footer)) == {"missing-field": "error"}


def test_y6_only_the_place_of_the_summary_matters():
    """Y6: the other keys may stand in any order."""
    first, *rest = HEADER.splitlines(keepends=True)
    assert found(record(header=first + "".join(reversed(rest))), strict=True) == {}


def test_ya7_y23_header_strings_keep_their_text():
    """YA7, Y23, X1: no number and no date is made of them; the three versions stay apart."""
    header = HEADER.replace("1.0.0", "1.10") + "ymj_spec: 0.5\ncreated: 2026-03-31\nlanguage: no\n"
    text = record(header=header, footer={"schema": 1, "payload_hash": sha(BODY), "index": {}})
    shown = facts(text)
    assert shown["header"]["version"] == "1.10"
    assert shown["header"]["ymj_spec"] == "0.5"
    assert shown["header"]["created"] == "2026-03-31"
    assert shown["header"]["language"] == "no"
    assert shown["footer"]["schema"] == 1
    assert found(text) == {}


def test_y23_versions_that_repeat_each_other_are_a_hint():
    """Y23."""
    text = record(header=HEADER.replace("1.0.0", "0.7") + "ymj_spec: 0.7\n")
    assert found(text, strict=True) == {"confused-versions": "hint"}


GOOD_HEADER = """\
validation_mode: permissive
created: 2026-03-31
updated: 2026-03-31T14:05:00+02:00
language: zh-Hant-TW
classification: confidential
provenance: {source: log, tool: ferry 2, run_id: 7}
attachments:
  - {uri: https://example.org/timetable.pdf, note: the printed one}
"""


def test_y8_recommended_header_fields():
    """Y8: all of them, well-formed."""
    assert found(record(more=GOOD_HEADER), strict=False) == {}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("validation_mode: lax", "unknown-value"),
        ("classification: top-secret", "unknown-value"),
        ("created: 31.03.2026", "wrong-form"),
        ("updated: 2026-02-30", "wrong-form"),
        ("updated: 2026-03", None),
        ("updated: 2026-03-31T25:00", "wrong-form"),
        ("updated: 2026-03-31 14:05", None),
        ("language: english language", "wrong-form"),
        ("attachments: timetable.pdf", "wrong-type"),
        ("attachments: [timetable.pdf]", "wrong-type"),
        ("attachments: [{note: nothing}]", "missing-field"),
        ("provenance: a ferry", "wrong-type"),
        ("provenance: {tool: [1]}", "wrong-type"),
        ("kind: {a: 1}", "duplicate-key"),
        ("payload_sha256: [1]", "wrong-type"),
    ],
)
def test_y8_forms_of_header_fields(line: str, rule: str | None):
    """Y8."""
    rules = found(record(more=line + "\n"))
    assert (rule is None and "wrong-form" not in rules) or rules[str(rule)] == "error"


def footer(**more: Any) -> dict[str, Any]:
    return {"schema": "1", "payload_hash": sha(BODY), "index": {}} | more


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"schema": 1.5}, "wrong-type"),
        ({"schema": True}, "wrong-type"),
        ({"payload_hash": 7}, "wrong-type"),
        ({"index": []}, "wrong-type"),
        ({"index": {"tags": "a"}}, "wrong-type"),
        ({"index": {"tags": [1]}}, "wrong-type"),
        ({"index": {"embedding": ["a"]}}, "wrong-type"),
        ({"schema_uri": "schema.json"}, "wrong-form"),
        ({"ai": "model"}, "wrong-type"),
        ({"ai": {"vector_ref": 7}}, "wrong-type"),
        ({"ops": []}, "wrong-type"),
    ],
)
def test_y10_y11_shapes_of_footer_fields(more: dict[str, Any], rule: str):
    """Y10, Y11."""
    assert found(record(footer=footer(**more)))[rule] == "error"


def test_y10_y11_well_formed_footer_fields():
    """Y10, Y11: the index takes any key, and an embedding is a list of numbers."""
    index = {"tags": ["a"], "embedding": [0.5, 1, -2e-3], "model": "m", "shelf": {"row": 7}}
    more = {"index": index, "schema_uri": "https://example.org/s.json", "ai": {"embedding_model": "m"}}
    assert found(record(footer=footer(**more)), strict=True) == {}


GOOD_OPS: dict[str, Any] = {
    "handlers": [{"name": "render", "args": {"theme": "dark"}}, {"name": "check"}],
    "page": {"route": "/ferry", "layout": "wide", "seo": {"title": "Ferry"}},
    "retention": {"days": 30, "expiry": "2027-01-01"},
    "priority": "high",
    "cache": {"key": "k", "etag": "e"},
    "localization": {"locales": ["en", "de-CH"]},
    "chunking": {"chunk_id": 1, "total": 3, "prev_sha256": "0" * 64},
    "ticket": {"severity": 2, "code": "LATE", "related_ids": ["7"]},
    "trace": {"parent_id": "p", "lineage_id": "l", "revision": 3},
    "graph": {"edges": [{"type": "see", "to": "timetable"}]},
    "prompt_role": "assistant",
    "auto_summary": False,
    "visibility": {"role": ["crew"]},
}


def test_y12_all_directives():
    """Y12, YA19: well-formed, each of them. The ticket and the trace that they name are no records here."""
    assert found(record(ops=GOOD_OPS), strict=True) == {"unknown-record": "warning"}
    assert found(record(ops={"routes": {"route": "/ferry"}}), strict=True) == {}


@pytest.mark.parametrize(
    ("ops", "rule"),
    [
        ({"body_format": "xml"}, "unknown-value"),
        ({"body_selector": ""}, "wrong-form"),
        ({"body_selector": 7}, "wrong-type"),
        ({"payload_mime": "csv"}, "wrong-form"),
        ({"attachments": {}}, "wrong-type"),
        ({"attachments": [{"uri": 7}]}, "wrong-type"),
        ({"handlers": [{"args": {}}]}, "missing-field"),
        ({"handlers": [{"name": "a", "args": []}]}, "wrong-type"),
        ({"handlers": ["render"]}, "wrong-type"),
        ({"page": "/ferry"}, "wrong-type"),
        ({"routes": {"route": 7}}, "wrong-type"),
        ({"retention": {"days": "30"}}, "wrong-type"),
        ({"retention": {"expiry": "soon"}}, "wrong-form"),
        ({"priority": "urgent"}, "unknown-value"),
        ({"cache": {"key": 1}}, "wrong-type"),
        ({"localization": {"locales": ["x y"]}}, "wrong-form"),
        ({"chunking": {"chunk_id": 1}}, "missing-field"),
        ({"ticket": {"code": "LATE"}}, "missing-field"),
        ({"ticket": {"severity": True}}, "wrong-type"),
        ({"trace": {"revision": 1.5}}, "wrong-type"),
        ({"graph": {}}, "missing-field"),
        ({"graph": {"edges": [{"type": "see"}]}}, "missing-field"),
        ({"graph": {"edges": [{"type": "", "to": "a"}]}}, "missing-field"),
        ({"body_encoding": "rot13"}, "unknown-value"),
        ({"data_signature": {"alg": "ed25519"}}, "missing-field"),
        ({"prompt_role": "wizard"}, "unknown-value"),
        ({"auto_summary": "yes"}, "wrong-type"),
        ({"visibility": "friends"}, "unknown-value"),
        ({"visibility": {"role": []}}, "wrong-type"),
        ({"visibility": {"role": ["a"], "team": ["b"]}}, "wrong-type"),
        ({"visibility": ["public"]}, "wrong-type"),
    ],
)
def test_y12_shapes_of_directives(ops: dict[str, Any], rule: str):
    """Y12."""
    assert found(record(ops=ops))[rule] == "error"


@pytest.mark.parametrize(
    ("directive", "rule"),
    [
        ({"retention": {"days": 0}}, None),
        ({"retention": {"days": 3650}}, None),
        ({"retention": {"days": -1}}, "wrong-form"),
        ({"ticket": {"severity": 0}}, None),
        ({"ticket": {"severity": 10}}, None),
        ({"ticket": {"severity": -1}}, "wrong-form"),
        ({"ticket": {"severity": 11}}, "wrong-form"),
        ({"ticket": {"severity": 10**40}}, "wrong-form"),
    ],
)
def test_y12_numbers_of_directives_have_a_range(directive: dict[str, Any], rule: str | None):
    """Y12."""
    text = record(footer={"schema": "1", "payload_hash": sha(BODY), "index": {}, "ops": directive})
    assert found(text) == ({rule: "error"} if rule else {})


@pytest.mark.parametrize(
    ("text", "visibility"),
    [
        ('"public"', Visibility(public=True)),
        ('"private"', Visibility(public=False)),
        ('"role:[crew, office]"', Visibility(public=False, roles=("crew", "office"))),
        ('{"role": ["crew"]}', Visibility(public=False, roles=("crew",))),
        ('"role:[]"', None),
        ('"role:[a,,b]"', None),
        ("null", None),
    ],
)
def test_ya20_forms_of_visibility(text: str, visibility: Visibility | None):
    """YA20."""
    node = read_json(text).node
    assert node is not None
    assert read_visibility(node)[0] == visibility


def test_ya19_page_is_the_name_that_counts():
    """YA19."""
    assert found(record(ops={"page": {}, "routes": {}})) == {"routes-beside-page": "warning"}


def test_ya24_unknown_keys_are_kept_and_mentioned():
    """YA24: in the header, below `ops`, deeper; and kept."""
    text = record(more="tags: [sea]\n", ops={"continuity": {"x": 1}, "trace": {"step": 2}})
    assert found(text, strict=True) == {"unknown-field": "info"}
    shown = facts(text)
    assert shown["accepted"]
    assert shown["header"]["tags"] == ["sea"]
    assert shown["footer"]["ops"]["continuity"] == {"x": 1}


def test_ya24_a_key_that_is_nearly_a_field_is_a_warning_with_a_guess():
    """YA24."""
    (each,) = [d for d in diagnostics(record(more="clasification: public\n")) if d.rule == "unknown-field"]
    assert each.severity == "warning"
    assert each.notes == ("did you mean `classification`?",)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (record(more="kind: card\n"), "duplicate-key"),
        (record(footer='{"schema": "1", "schema": "2", "index": {}}'), "duplicate-key"),
        (record(more="a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
                     "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
                     "e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n"), "alias-bomb"),
        (record(more="x: !!python/object/apply:os.system [ls]\n"), "custom-tag"),
        (record(more="x: !env HOME\n"), "custom-tag"),
        (record(footer='{"schema": "1", "index": {"x": Infinity}}'), "footer-syntax"),
    ],
)  # fmt: skip
def test_y17_ya24_hostile_data_is_an_error(text: str, rule: str):
    """Y17, YA24."""
    assert found(text)[rule] == "error"
    assert not facts(text)["accepted"]


def test_y13_ya1_mirrors():
    """Y13, YA1: a warning, an error in strict mode, and a fix that is safe only where nothing is lost."""
    index = {"title": "Ferry hours", "owner": "The captain", "tags": []}
    text = record(footer=footer(index=index))
    assert found(text) == {"identity-mirror": "warning"}
    assert facts(text)["accepted"]
    assert found(text, strict=True) == {"identity-mirror": "error"}
    fixes = {d.source.slice(d.span): d.fix.applicability.value for d in diagnostics(text) if d.fix}
    assert fixes == {'"title"': "safe", '"owner"': "unsafe"}
    assert facts(text)["header"]["maintained_by"] == "Harbour office"


def test_y12_media_type_and_format():
    """Y12: strict refuses a mismatch, permissive warns, and the format counts."""
    body = BODY + "```csv\na,b\n```\n"
    same = record(body=body, ops={"body_format": "csv", "payload_mime": "text/csv"})
    other = record(body=body, ops={"body_format": "csv", "payload_mime": "application/json"})
    assert found(same, strict=True) == {"deprecated-payload-mime": "warning"}
    assert found(other)["payload-mime-mismatch"] == "warning"
    assert found(other, strict=True)["payload-mime-mismatch"] == "error"
    assert facts(other)["payload"]["content"] == "a,b"


def test_y20_secrets_below_ops():
    """Y20: secrets are errors, references are not."""
    assert found(record(ops={"encryption": {"password": "sesame"}}))["secret-in-footer"] == "error"
    assert found(record(ops={"signature": {"key_id": "k1", "secret": "vault:keys/ferry"}}), strict=True) == {}


def test_ya23_signatures_are_unverified():
    """YA23."""
    ops = {"data_signature": {"alg": "ed25519", "signature": "c2ln"}}
    assert found(record(ops=ops), strict=True) == {"unverified-signature": "info"}


def test_spans_of_header_problems_are_exact():
    text = record(more="classification: internl\n")
    (each,) = diagnostics(text)
    assert each.source.slice(each.span) == "internl"
    assert read(text).text("classification") is None
