"""Relationships: footnotes with a JSON object."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.dialects.magi import definitions, facts, references
from prosa.document import Def, parse
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import CorpusScope, check
from prosa.rules.policy import Profile
from prosa.source import SourceText
from tests.dialects.magi.reading import PARENT, footnote, formatted, found, front, model, names, script
from tests.rules.literate import MemoryFiles

ID = "0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4"
OTHER = "7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a"
HEAD = front(f"doc-id: {ID}", "title: Minutes")

COMPLETE = (
    f'{{"rel-type": "supports", "doc-id": "{OTHER}", "rel-desc": "Why", "rel-strength": 0.8, "bi-directional": true, '
    '"context": {"section": "Intro", "relevance": "High", "more": [1]}}'
)


def test_every_field_is_read():
    """M43, M44, M45, M46, M47, M48, M49, MW4."""
    (each,) = model(footnote(f"`{COMPLETE}`")).relationships
    assert each.form == "backticked"
    assert each.fields.text("rel-type") == "supports"
    assert each.fields.text("doc-id") == OTHER
    assert each.fields.text("rel-desc") == "Why"
    assert each.fields.value("rel-strength") == 0.8
    assert each.fields.flag("bi-directional") is True
    assert (each.context.text("section"), each.context.text("relevance")) == ("Intro", "High")
    assert each.data["context"]["more"] == [1]
    assert found(HEAD + footnote(f"`{COMPLETE}`")) == []


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('"rel-type": "supports", ', "", "missing-field"),
        ('"supports"', "5", "wrong-type"),
        ('"rel-desc": "Why", ', "", "missing-field"),
        ('"Why"', '""', "missing-field"),
        (f'"doc-id": "{OTHER}", ', "", "relationship-without-target"),
        (f'"{OTHER}"', "7", "wrong-type"),
        ("0.8", "1.5", "wrong-form"),
        ("0.8", "-0.1", "wrong-form"),
        ("0.8", '"strong"', "wrong-type"),
        ("0.8", "true", "wrong-type"),
        ("true", '"yes"', "wrong-type"),
        ('{"section": "Intro", "relevance": "High", "more": [1]}', '"Intro"', "wrong-type"),
        ('"Intro"', "1", "wrong-type"),
        ('"High"', "[]", "wrong-type"),
        ('"rel-desc"', '"rel-type": "child", "rel-desc"', "duplicate-key"),
    ],
)
def test_a_wrong_field_is_an_error(old: str, new: str, rule: str):
    """M44, M45, M46, M47, M48, M49, MA6, MW2."""
    wrong = found(HEAD + footnote(f"`{COMPLETE.replace(old, new)}`"))
    assert [each[:2] for each in wrong] == [(rule, "error")]


@pytest.mark.parametrize("strength", ["0", "0.0", "1", "1.0", "1e-3"])
def test_m47_strengths_from_zero_to_one(strength: str):
    """M47."""
    text = footnote(f"`{COMPLETE.replace('0.8', strength)}`")
    assert found(HEAD + text) == []
    assert references(model(text))[0].strength == float(strength)


def test_references_and_definitions_for_the_graph():
    """M45, M48, M50, M51, MA6, MA7. Aliases are resolved here and nowhere else."""
    text = HEAD + (
        f"One[^a], two[^b], three[^c].\n\n[^a]: `{COMPLETE}`\n"
        '[^b]: `{"rel-type": "cites", "source-url": "https://example.org/", "rel-desc": "x"}`\n'
        f'[^c]: `{{"rel-type": "peer", "source-url": "https://example.org/", "doc-id": "{OTHER}", "rel-desc": "x"}}`\n'
        '[^d]: `{"rel-type": "parent", "rel-desc": "x"}`\n'
    )
    first, second, third = references(model(text))
    assert (first.origin, first.kind, first.target, first.rel) == ("footnote", "id", OTHER, "supports")
    assert (first.strength, first.bidirectional, first.span.of(text)) == (0.8, True, f'"{OTHER}"')
    assert (second.kind, second.target, second.rel) == ("url", "https://example.org/", "citation")
    assert (third.kind, third.target, third.rel, third.bidirectional) == ("id", OTHER, "peer", False)
    assert '"cites"' in formatted(text)
    names_of = [(each.kind, each.name, each.span.of(text)) for each in definitions(model(text))]
    assert names_of == [("id", ID, ID), ("title", "Minutes", "Minutes")]
    assert isinstance(definitions(model(text))[0], Def)


@pytest.mark.parametrize(
    ("written", "severity", "rel"),
    [
        ("citation", None, "citation"),
        ("cites", "info", "citation"),
        ("reference", "info", "citation"),
        ("references", "info", "citation"),
        ("peer", "warning", "peer"),
        ("Parent", "warning", "Parent"),
    ],
)
def test_m44_ma7_types_of_relationships(written: str, severity: str | None, rel: str):
    """M44, M51, MA7."""
    text = footnote(f"`{COMPLETE.replace('supports', written)}`")
    assert [each[:2] for each in found(HEAD + text)] == ([("unfamiliar-rel-type", severity)] if severity else [])
    assert references(model(text))[0].rel == rel
    assert model(text).relationships[0].fields.text("rel-type") == written


def test_ma6_two_targets_are_a_warning():
    """MA6, M45."""
    text = HEAD + footnote(
        f'`{{"rel-type": "parent", "rel-desc": "x", "doc-id": "{OTHER}", "source-url": "https://e.org"}}`'
    )
    assert [each[:2] for each in found(text)] == [("relationship-with-two-targets", "warning")]


BARE = """[^a]: {"rel-type": "parent",
    "source-url": "https://example.org/",

    "rel-desc": "With `code`"}
"""


def test_ma8_a_bare_object_is_accepted_and_put_right():
    """MA8, M43."""
    text = HEAD + "See it[^a].\n\n" + BARE
    assert [each[:2] for each in found(text)] == [("bare-relationship", "warning")]
    assert [each[:2] for each in found(text, strict=True)] == [("bare-relationship", "error")]
    fixed = formatted(text)
    assert fixed.endswith(
        '[^a]: ``{"rel-type": "parent",\n    "source-url": "https://example.org/",\n    "rel-desc": "With `code`"}``\n'
    )
    assert model(fixed).relationships[0].data == model(text).relationships[0].data
    assert found(fixed, strict=True) == []


@pytest.mark.parametrize(
    "data",
    [
        f"``{PARENT}``",
        f"`` {PARENT} ``",
        "`" + PARENT.replace(", ", ",\n    ") + "`",
        "`" + PARENT.replace(", ", ",\n") + "`",
        "`" + PARENT.replace("The guide", "The\n    guide") + "`",
    ],
)
def test_ma8_long_backticks_and_further_lines(data: str):
    """MA8, MW1."""
    (each,) = model(footnote(data)).relationships
    assert (each.form, each.data["rel-desc"]) == ("backticked", "The guide")
    assert found(HEAD + footnote(data)) == []


def test_ma8_in_a_quotation():
    """MA8."""
    text = '> See[^a].\n>\n> [^a]: `{"rel-type": "parent", "rel-desc": "The\n>     guide",\n>     "source-url": "https://e.org"}`\n'
    (each,) = model(text).relationships
    assert each.data["rel-desc"] == "The guide"
    assert each.fields.span("source-url").of(text) == '"https://e.org"'


@pytest.mark.parametrize(
    "data",
    ["A note.", "`code`", "`{name}`", "{sic}", 'See `{"a": 1}`.', '{ "a": 1 }', "", "https://example.org", "`[1, 2]`"],
)
def test_ma8_other_footnotes_are_left_alone(data: str):
    """MA8."""
    text = footnote(data)
    assert model(text).relationships == ()
    assert formatted(text) == text
    assert names(text) == []


@pytest.mark.parametrize(
    "data",
    [
        '`{"rel-type": "parent" "doc-id": "x"}`',
        '{"rel_type": parent}',
        '`{"rel-type": "a"`}',
        '`{"a": }`',
        '`[{"rel-type": "a"}]`',
    ],
)
def test_mw2_what_was_meant_as_a_relationship_is_reported(data: str):
    """MW2, M43."""
    assert [each[:2] for each in found(HEAD + footnote(data))] == [("relationship-syntax", "error")]


def test_mw4_footnotes_in_code_are_no_footnotes():
    """MW4, MW1."""
    text = f"```markdown\n[^a]: `{PARENT}`\n```\n\n    [^b]: {PARENT}\n\nText `[^a]`.\n"
    assert model(text).relationships == ()


def test_mw1_any_label_will_do():
    """MW1."""
    text = f"See[^core-spec.v2/ä].\n\n[^core-spec.v2/ä]: `{PARENT}`\n"
    assert facts(model(text))["relationships"][0]["ref"] == "core-spec.v2/ä"
    assert facts(model(text))["relationships"][0]["referenced_at"] == [1]


@pytest.mark.parametrize("text", ["{rel-type: parent, doc-id: x}", "`{rel-type: parent}`", "{ doc_id : 'x' }"])
def test_mw2_what_was_meant_as_a_relationship_and_is_no_json_is_reported(text: str):
    """MW2. Names without quotes too; other footnotes with braces stay ordinary ones."""
    assert names(HEAD + footnote(text)) == ["relationship-syntax"]
    assert names(HEAD + footnote("{see: the guide}")) == []


def test_ma22_references_and_definitions_belong_together():
    """MA22."""
    assert [each[:2] for each in found(HEAD + f"[^a]: `{PARENT}`\n")] == [("unreferenced-relationship", "info")]
    assert len(references(model(f"[^a]: `{PARENT}`\n"))) == 1
    assert names(HEAD + "And it[^nowhere].\n\n" + footnote(f"`{PARENT}`")) == ["undefined-footnote"]
    assert [each[:2] for each in found("One[^core-spec].\n")] == [("undefined-footnote", "warning")]
    assert found("A pattern [^a-z]+ and code `[^x]`.\n") == []


def test_interface_facts_of_relationships():
    """M43. The keys that `show` prints."""
    text = f"One[^a].\n\nTwo[^A] and three[^a].\n\n[^a]: `{PARENT}`\n"
    (listed,) = facts(model(text))["relationships"]
    assert list(listed) == ["ref", "line", "data", "referenced_at"]
    assert (listed["ref"], listed["line"], listed["referenced_at"]) == ("a", 5, [1, 3, 3])


def test_m4_a_plain_parser_shows_the_json_as_code():
    """M4, M43."""
    (definition,) = parse(SourceText(footnote(f"`{PARENT}`"))).footnote_definitions
    assert definition.code_spans[0].text == PARENT


def test_ma21_oldest_documents_have_snake_case():
    """MA21."""
    text = footnote(f'`{{"rel_type": "parent", "doc_id": "{OTHER}", "rel_desc": "x", "rel_strength": 1}}`')
    assert references(model(text))[0].target == OTHER
    assert names(HEAD + text) == ["field-name-case"] * 4


def corpus(**texts: str) -> list[tuple[str, str]]:
    files = MemoryFiles({f"/project/{name}.mda": text for name, text in texts.items()})
    scope = CorpusScope(Path("/project"), rooted="project")
    checked = check([Path(name) for name in files.texts], Analyzer(files, Profile().hints), Profile(), scope)
    return [(Path(each.path).stem, each.rule) for each in checked.diagnostics if each.severity != "hint"]


def test_m50_every_id_is_that_of_a_document():
    """M50, MW7."""
    to_other = footnote(f'`{{"rel-type": "child", "doc-id": "{OTHER}", "rel-desc": "x"}}`')
    assert corpus(a=HEAD + to_other, b=front("doc-id: another")) == [("a", "unknown-doc-id")]
    assert corpus(a=HEAD + to_other, b=front(f"doc-id: {OTHER}")) == []
    assert corpus(a=HEAD + to_other, b=front(f"doc_id: {OTHER}")) == [("b", "field-name-case")]


def test_scripts_and_relationships_do_not_mix():
    """MW1. A fence inside a footnote is a fence, JSON inside a script is no footnote."""
    text = f"See[^a].\n\n[^a]: Text\n\n    {script().replace(chr(10), chr(10) + '    ').rstrip()}\n"
    assert [each.fence.containers for each in model(text).scripts] == [("footnote",)]
    assert model(text).relationships == ()
