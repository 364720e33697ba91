"""What a person reads, and documents taken apart and put together again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import read_yaml, to_value
from prosa.dialects.magi.envelope import from_envelope, to_envelope
from prosa.dialects.magi.parts import EnvelopeError, clean, decode, encode, write
from prosa.dialects.magi.parts import footnote as written_footnote
from tests.depth import examples
from tests.dialects.magi.reading import PARENT, found, front, model, names, script

DOCUMENT = (
    front('title: "a: b" # kept', "tags: [x]")
    + "\n# One\n\nSee it[^a] and a note[^n].\n\n<!-- AI-PROCESSOR: for programs -->\n"
    + script('"parameters": {"a": 1.0}')
    + f"\nMore.\n\n[^n]: A note.\n[^a]: `{PARENT}`\n\n# Two\n\n"
    + f"> {script(name='b').replace(chr(10), chr(10) + '> ')}\n> Quoted.\n"
)


def test_m42_people_read_no_instructions():
    """M42. Ordinary footnotes stay, references to relationships go with them."""
    assert clean(model(DOCUMENT)).text == (
        "# One\n\nSee it and a note[^n].\n\nMore.\n\n[^n]: A note.\n\n# Two\n\n> \n> Quoted.\n"
    )


@pytest.mark.parametrize(
    ("text", "text_left"),
    [
        (f"A\n\n{script()}", "A\n"),
        (f"A\n\n{script()}\nB\n", "A\n\nB\n"),
        (f"{script()}\n\nB\n", "B\n"),
        (f"A\n{script()}B\n", "A\n\nB\n"),
        (f"A\n\n{script()}B\n", "A\n\nB\n"),
        (f"A\n{script()}", "A\n"),
        (f"A\n\n{script()}\n{script(name='b')}\n\nB", "A\n\n\nB"),
        (f"---\na: 1\n---\n{script()}", ""),
        ("---\na: 1\n---\n\n\nA", "A"),
        (f"- {script().replace(chr(10), chr(10) + '  ').rstrip()}\n", "- \n"),
        (f"A[^a]\n\n[^a]: `{PARENT}`", "A\n"),
        ("", ""),
    ],
)
def test_m42_blank_lines_go_with_their_block(text: str, text_left: str):
    """M42, MW5. Neighbours never run together, and nothing is lost."""
    cleaned = clean(model(text))
    assert cleaned.text == text_left
    assert cleaned.restored == text[model(text).front.body.start :]


def test_a_document_has_four_parts():
    """M3, M42, MW5."""
    parts = decode(DOCUMENT)
    assert parts["front_matter"] == {"title": "a: b", "tags": ["x"]}
    assert [each["script-id"] for each in parts["ai_scripts"]] == ["sum", "b"]
    assert parts["relationships"] == [{"ref": "a", "data": json.loads(PARENT)}]
    assert parts["content"].startswith("# One\n")
    assert json.loads(json.dumps(parts)) == parts


def test_mw5_parts_give_the_original_back():
    """MW5, M3. Comments, order, white space and number forms are the author's."""
    parts = decode(DOCUMENT)
    assert encode(parts) == DOCUMENT
    assert encode(json.loads(json.dumps(parts))) == DOCUMENT


@pytest.mark.parametrize(
    "change",
    [
        {"content": "New.\n"},
        {"front_matter": None},
        {"front_matter": {"title": "other"}},
        {"ai_scripts": []},
        {"ai_scripts": [{"script-id": "sum", "prompt": "Other"}]},
        {"relationships": []},
        {"layout": None},
        {"layout": {"head": "", "removed": [{"at": 3, "text": "```ai-script\n{}\n```\n"}]}},
        {"layout": {"head": 5, "removed": "x"}},
        {"layout": {"removed": [{"at": True, "text": "x"}, {}]}},
    ],
)
def test_mw5_changed_parts_give_a_new_document_that_says_the_same(change: dict[str, object]):
    """MW5. The layout never wins against a part."""
    parts = decode(DOCUMENT) | change
    again = decode(encode(parts))
    assert {name: again[name] for name in ("front_matter", "ai_scripts", "relationships")} == {
        name: parts[name] for name in ("front_matter", "ai_scripts", "relationships")
    }
    assert again["content"].rstrip("\n") == str(parts["content"]).rstrip("\n")


def test_m41_the_envelope_of_an_api():
    """M41, M3."""
    envelope = to_envelope(DOCUMENT)
    assert [next(iter(each)) for each in envelope["ai-scripts"]] == ["id", "id"]
    assert "```ai-script" not in envelope["markdown-content"].replace("blocks", "")
    assert "[^a]: `{" in envelope["markdown-content"]
    assert from_envelope(json.loads(json.dumps(envelope))) == DOCUMENT


@pytest.mark.parametrize("name", ["id", "script-id"])
def test_m41_an_envelope_from_elsewhere_becomes_a_document(name: str):
    """M41, M23. Both names of the id are read."""
    envelope = {
        "markdown-content": "# Title\n\nText.",
        "ai-scripts": [{name: "a", "prompt": "One", "priority": "high"}, {name: "b", "prompt": "Two"}],
    }
    text = from_envelope(envelope)
    assert [each.data for each in model(text).scripts] == [
        {"script-id": "a", "prompt": "One", "priority": "high"},
        {"script-id": "b", "prompt": "Two"},
    ]
    assert found(text) == []
    again = to_envelope(text)
    assert again["markdown-content"] == "# Title\n\nText.\n"
    assert [each["id"] for each in again["ai-scripts"]] == ["a", "b"]


def test_m41_a_changed_script_replaces_its_block():
    """M41, MW5."""
    envelope = to_envelope(DOCUMENT)
    envelope["ai-scripts"][0]["prompt"] = "Other"
    text = from_envelope(envelope)
    assert [each.data["prompt"] for each in model(text).scripts] == ["Other", "Summarise."]
    assert text.startswith(DOCUMENT[:40])


@pytest.mark.parametrize(
    "envelope",
    [
        {},
        {"markdown-content": 5},
        {"markdown-content": "", "ai-scripts": {}},
        {"markdown-content": "", "ai-scripts": ["a"]},
        {"markdown-content": "", "ai-scripts": [{"a": {1, 2}}]},
        {"markdown-content": "", "ai-scripts": [{"a": float("nan")}]},
    ],
)
def test_m41_a_wrong_envelope_is_refused(envelope: dict[str, object]):
    """M41."""
    with pytest.raises(EnvelopeError):
        from_envelope(envelope)


@pytest.mark.parametrize(
    "parts",
    [
        {"front_matter": []},
        {"content": []},
        {"ai_scripts": "x"},
        {"relationships": [{"ref": "a b", "data": {}}]},
        {"relationships": [{"ref": "", "data": {}}]},
        {"relationships": [{"ref": "a"}]},
    ],
)
def test_wrong_parts_are_refused(parts: dict[str, object]):
    """MW5."""
    with pytest.raises(EnvelopeError):
        encode(parts)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=4)
LABELS = st.from_regex(r"[A-Za-z0-9.ä-]{1,8}", fullmatch=True)
LINES = st.lists(st.sampled_from(["Text.", "# Head", "- item", "> quote", "", "`x`", "é"]), max_size=6)


@settings(max_examples=examples(120), deadline=None)
@given(
    st.none() | OBJECTS,
    LINES,
    st.lists(OBJECTS, max_size=3),
    st.lists(st.tuples(LABELS, OBJECTS.map(lambda data: {"rel-type": "parent"} | data)), max_size=3),
)
def test_mw5_mw6_what_is_written_is_read_back(fields, lines, scripts, relationships):
    """MW5, MW6, M23, M43. Whatever the strings hold: quotes, backslashes, backticks, line ends, front matter fences."""
    content = "\n".join(lines).strip("\n")
    parts = {
        "front_matter": fields,
        "content": content + "\n" if content else "",
        "ai_scripts": scripts,
        "relationships": [{"ref": ref, "data": data} for ref, data in relationships],
    }
    text = encode(parts)
    again = decode(text)
    assert {name: again[name] for name in parts} == parts
    assert encode(again) == text


@settings(max_examples=examples(150), deadline=None)
@given(st.dictionaries(TEXTS, JSON, max_size=4))
def test_mw6_front_matter_is_valid_yaml_whatever_it_holds(fields):
    """MW6."""
    text = write(fields)
    reading = read_yaml(text.removeprefix("---\n").removesuffix("---\n"))
    assert reading.problems == ()
    assert (to_value(reading.node) if reading.node is not None else {}) == fields


def test_m40_a_new_document_may_explain_its_blocks():
    """M40, MA1, MA8, MW6. It is in normal form, and nothing asks to run by itself."""
    text = write(
        {"title": "T"},
        "Text[^a].",
        [json.loads('{"script-id": "a", "prompt": "b"}')],
        [("a", json.loads(PARENT))],
        hints=True,
    )
    assert model(text).scripts[0].hint is not None
    assert names(text, strict=True) == ["missing-doc-id"]
    assert "auto-run" not in text
    assert written_footnote("a", {"x": "``"}) == '[^a]: ```{"x": "``"}```\n'
