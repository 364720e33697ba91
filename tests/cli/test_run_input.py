"""The input of a run: typed pairs, JSON, files, standard input (L12, L35, L37)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.programs import (
    ran,
    rendered,
)


def test_values_are_typed_by_the_input_schema(count: Path):
    status, at = ran(
        count, "text=07", "times=3", "ratio=2", "loud=true", "tags=a", "tags=b", "where.page=4", "--events", "jsonl"
    )
    assert status == 0
    status, at = rendered(count, "text=07", "where.page=4", "where.line=5")
    assert (status, at.out) == (0, "Count 07 at 4:5.\n")


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("times=three", "times: expected an integer"),
        ("loud=maybe", "true or false"),
        ("txet=a", "did you mean `text`?"),
        ("where.page=x", "integer"),
        ("words", "expected KEY=VALUE, found 'words'"),
        ("=x", "expected KEY=VALUE"),
    ],
)
def test_l12_a_value_of_the_wrong_type_is_wrong_use_and_named(pair: str, words: str, count: Path):
    status, at = ran(count, pair)
    assert status == 2
    assert words in at.err


def test_l12_an_input_that_breaks_the_schema_fails_before_the_model_is_asked(count: Path):
    status, at = ran(count, "times=12", "--events", "jsonl")
    assert status == 1
    assert "the input of count is not valid: /times" in at.err
    assert "run: prosa run count.md --help" in at.err
    assert "model-asked" not in at.err


@pytest.mark.parametrize("how", ["text", "file", "stdin", "bom"])
def test_l35_input_is_json_a_file_or_standard_input(how: str, count: Path, tmp_path: Path):
    text = '{"text": "from JSON"}'
    (tmp_path / "in.json").write_text("\ufeff" + text if how == "bom" else text, encoding="utf-8")
    given = {"text": text, "stdin": "-"}.get(how, f"@{tmp_path / 'in.json'}")
    status, at = rendered(count, "--input", given, typed=text)
    assert (status, at.out) == (0, "Count from JSON.\n")


def test_pairs_win_over_input_and_change_only_what_they_name(count: Path):
    given = '{"text": "a", "where": {"page": 1, "line": 2}}'
    status, at = rendered(count, "where.page=9", "--input", given)
    assert (status, at.out) == (0, "Count a at 9:2.\n")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{", "--input is not valid JSON: line 1, column 2"),
        ("{'a': 1}", "--input is not valid JSON"),
        ("@gone.json", "gone.json: no such file"),
        ("@.", "is a folder"),
        ("-", "standard input is not valid JSON"),
        ('{"a": NaN}', "NaN"),
        ("[" * 5000, "--input is not valid JSON"),
    ],
    ids=range(7),
)
def test_l37_an_input_that_cannot_be_read_is_wrong_use(given: str, words: str, count: Path):
    status, at = ran(count, "--input", given, typed="not json")
    assert status == 2
    assert words in at.err


def test_pairs_need_an_object_beside_them(count: Path):
    status, at = ran(count, "text=a", "--input", "[1]")
    assert status == 2
    assert "KEY=VALUE needs an input that is an object" in at.err


def test_x9_standard_input_has_the_limit_of_a_document(count: Path, tmp_path: Path):
    status, at = ran(count, "--input", "-", "--max-size", "2KB", typed=json.dumps({"text": "x" * 4096}))
    assert status == 2
    assert "standard input is larger than 2,048 bytes" in at.err
    (tmp_path / "big.json").write_text(json.dumps({"text": "x" * 4096}))
    status, at = ran(count, "--input", f"@{tmp_path / 'big.json'}", "--max-size", "2KB")
    assert (status, "too large" in at.err) == (2, True)


def test_an_argument_that_is_not_utf_8_is_an_error_and_no_traceback(count: Path):
    status, at = ran(count, "text=\udcff")
    assert status == 1
    assert "half of a surrogate pair" in at.err
