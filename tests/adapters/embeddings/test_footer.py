"""The vector in the footer of a record: read with model and age, written without touching anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.reading import open_as
from prosa.dialects.table import YMJ
from prosa.dialects.ymj.embedding import embedding_of, with_embedding, with_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.source import SourceText
from tests.depth import examples

HEAD = '---\ndoc_summary: "Tides"\nkind: note\nversion: 1.0.0\nsubject: Tides\nmaintained_by: Harbour\n---\n'


def record(footer: str, body: str = "High water.\n") -> SourceText:
    return SourceText(f"{HEAD}{body}```json\n{footer}\n```\n", "tides.ymj")


def model_of(text: str) -> YmjModel:
    model: YmjModel = open_as(SourceText(text, "tides.ymj"), YMJ).model
    return model


FOOTERS = [
    '{"schema": "1", "index": {}}',
    '{"schema": "1"}',
    '{\n  "schema": "1",\n  "index": {\n    "tags": ["tide"]\n  },\n  "ops": {"priority": "low"}\n}',
    '{\r\n  "schema": "1",\r\n  "index": {"embedding": [1, 2], "model": "old"}\r\n}',
    '{"schema": "1", "index": [], "ai": {"embedding_model": "old", "embedding_id": "sha256:0"}}',
    '{"schema": 1, "ai": "?", "index": {"tags": []}}',
]


@pytest.mark.parametrize("footer", FOOTERS)
def test_y10_y11_a_written_vector_reads_back_with_its_model_and_is_fresh(footer: str):
    """Y10, Y11."""
    before = record(footer)
    after = with_embedding(before, [0.25, -1.5, 1e-7], "small")
    kept = embedding_of(model_of(after))
    assert kept is not None
    assert kept.vector == pytest.approx((0.25, -1.5, 1e-7))
    assert (kept.model_name, kept.fresh) == ("small", True)
    assert with_embedding(SourceText(after, "tides.ymj"), [0.25, -1.5, 1e-7], "small") == after


@pytest.mark.parametrize("footer", FOOTERS)
def test_everything_but_vector_model_and_hash_stays(footer: str):
    before = record(footer)
    after = with_embedding(before, [1.0], "small")
    assert after.startswith(before.text[: before.text.index('"schema"')])
    value = model_of(after).footer_value
    old = model_of(before.text).footer_value
    assert value is not None
    assert old is not None
    assert value["schema"] == old["schema"]
    assert value.get("ops") == old.get("ops")
    assert value["payload_hash"] == model_of(before.text).body_sha256
    index = old.get("index")
    assert value["index"].get("tags") == (index.get("tags") if isinstance(index, dict) else None)


def test_yw7_a_vector_is_stale_once_the_body_has_changed():
    """YW7: it says so even when the hash of the body has been written anew."""
    text = with_embedding(record('{"schema": "1", "index": {}}'), [1.0], "small")
    changed = text.replace("High water.", "Low water.")
    assert not embedding_of(model_of(changed)).fresh  # type: ignore[union-attr]
    stale = changed.replace(model_of(text).body_sha256, model_of(changed).body_sha256, 1)
    assert model_of(stale).footer_value["payload_hash"] == model_of(changed).body_sha256  # type: ignore[index]
    assert not embedding_of(model_of(stale)).fresh  # type: ignore[union-attr]


def test_yw7_a_vector_without_a_hash_of_its_own_is_as_fresh_as_its_body():
    """YW7."""
    digest = model_of(record("{}").text).body_sha256
    footer = {"schema": "1", "payload_hash": digest, "index": {"embedding": [1, 2], "model": "nomic"}}
    kept = embedding_of(model_of(record(json.dumps(footer)).text))
    assert kept is not None
    assert (kept.fresh, kept.model_name, kept.vector) == (True, "nomic", (1.0, 2.0))
    footer["payload_hash"] = "0" * 64
    assert not embedding_of(model_of(record(json.dumps(footer)).text)).fresh  # type: ignore[union-attr]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(["...\n# a remark\n", "...\n", "--- \n", "title: {{ .x }}\n", "# a remark\n", "\n"]),
    st.integers(0, 7),
)
def test_x1_what_is_written_does_not_depend_on_the_name_of_the_file(line: str, at: int):
    """X1. A project may call `.md` files records; what only plain Markdown may do above its body is not for them."""
    lines = HEAD.splitlines(keepends=True)
    text = "".join((*lines[:at], line, *lines[at:], 'High water.\n```json\n{"schema": "1"}\n```\n'))
    assert _written(text, "tides.md") == _written(text, "tides.ymj")


def _written(text: str, path: str) -> str | None:
    try:
        return with_embedding(SourceText(text, path), [0.5], "small")
    except ValueError:
        return None


@pytest.mark.parametrize("vector", ["[]", "[1, true]", '["1"]', "{}", "1", "[1e999]", f"[{10**400}]", "[1, null]"])
def test_what_is_no_vector_is_none(vector: str):
    text = record(f'{{"schema": "1", "index": {{"embedding": {vector}}}}}').text
    assert embedding_of(model_of(text)) is None


def test_x22_a_hash_that_does_not_match_is_evidence_and_stays():
    """X22."""
    wrong = "0" * 64
    text = with_embedding(record(f'{{"schema": "1", "payload_hash": "{wrong}", "index": {{}}}}'), [1.0], "small")
    assert wrong in text
    assert with_hash(record(f'{{"schema": "1", "payload_hash": "{wrong}", "index": {{}}}}')).count(wrong) == 1


def test_a_text_without_a_footer_is_refused():
    with pytest.raises(ValueError, match="footer"):
        with_embedding(SourceText(f"{HEAD}No footer.\n", "x.ymj"), [1.0], "small")


@settings(max_examples=examples(60), deadline=None)
@given(
    body=st.text(alphabet="ab#`~-\n {}[]:\"'é日", max_size=60),
    vector=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=4),
    name=st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable()),
)
def test_the_body_is_never_touched(body: str, vector: list[float], name: str):
    before = record('{"schema": "1", "index": {"tags": []}}', f"{body}\n")
    after = with_embedding(before, vector, name)
    assert model_of(after).body_text == model_of(before.text).body_text
    kept = embedding_of(model_of(after))
    assert kept is not None
    assert kept.vector == pytest.approx(tuple(vector), rel=1e-5, abs=1e-30)
    assert kept.model_name == name
