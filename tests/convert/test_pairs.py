"""Every pair of forms: what is said comes back, and what does not is in the report (X31)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.convert.convert import Converted, aligned, convert
from prosa.convert.form import NotConvertible, TargetContext
from prosa.convert.neutral import Piece, flat, restored, same
from prosa.convert.table import ROWS, form_of
from prosa.diagnostics import Severity
from prosa.dialects.front import read_front
from prosa.rules.engine import check_text
from prosa.source import SourceText
from tests.convert.documents import DOCUMENTS
from tests.depth import examples


def around(form: str) -> TargetContext:
    return TargetContext("thing", ROWS[form].path("thing"))


def converted(text: str, origin: str, target: str) -> Converted:
    return convert(SourceText(text, ROWS[origin].path("thing")), origin, target, around(target))


def piece_of(text: str, form: str) -> Piece:
    found = form_of(form).read(SourceText(text, ROWS[form].path("thing")), None)
    return restored(found.piece, found.carry)[0]


def sources(form: str) -> st.SearchStrategy[str]:
    """Documents that the form reads."""

    def reads(text: str) -> bool:
        try:
            return piece_of(text, form) is not None
        except NotConvertible:
            return False

    return DOCUMENTS[form].filter(reads)


@pytest.mark.parametrize("origin", ROWS)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_x31_what_comes_back_is_what_went_but_for_what_the_report_calls_lost(origin, data):
    target = data.draw(st.sampled_from([each for each in ROWS if each != origin]))
    text = data.draw(sources(origin))
    there = converted(text, origin, target)
    back = converted(there.text, target, origin)
    wanted = flat(piece_of(text, origin))
    found = aligned(piece_of(text, origin), piece_of(back.text, origin))
    lost = {item.part for item in (*there.report.items, *back.report.items) if item.level == "lost"}
    missing = {
        key for key, value in wanted.items() if value != "" and (key not in found or not same(found[key], value))
    }
    added = {item.part for item in (*there.report.items, *back.report.items) if item.level == "guessed"}
    assert missing | (set(found) - set(wanted)) <= lost | added, (there.text, back.text)


@pytest.mark.parametrize("origin", ROWS)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_x31_every_field_of_the_source_is_in_the_target_or_in_the_report(origin, data):
    target = data.draw(st.sampled_from([each for each in ROWS if each != origin]))
    text = data.draw(sources(origin))
    there = converted(text, origin, target)
    pointers = {item.pointer for item in there.report.items}
    said = leaves(everything(there.text))
    for name, value in fields_of(text, origin).items():
        assert leaves(value) <= said or f"/{name.replace('/', '~1')}" in pointers, (name, there.text)


@pytest.mark.parametrize("target", ROWS)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_x31_a_result_has_no_errors_where_its_source_has_none(target, data):
    origin = data.draw(st.sampled_from([each for each in ROWS if each != target]))
    text = data.draw(sources(origin))
    if not errors(text, origin):
        there = converted(text, origin, target)
        assert errors(there.text, target) == [], there.text


def fields_of(text: str, form: str) -> dict[str, object]:
    if form not in ("openai", "llm"):
        return read_front(SourceText(text)).value or {}
    data = json.loads(text)
    return {name: value for name, value in data.items() if name != "messages"} if isinstance(data, dict) else {}


def errors(text: str, form: str) -> list[str]:
    if form in ("openai", "llm", "dotprompt"):
        return []
    found = check_text(SourceText(text, ROWS[form].path("thing"))).diagnostics
    return [f"{each.rule}: {each.message}" for each in found if each.severity is Severity.ERROR]


def everything(text: str) -> object:
    """All data in a document: its front matter, what lines of configuration set, and whatever JSON is in it."""
    value = read_front(SourceText(text)).value
    found: list[object] = [value]
    lines = [match.end() for match in re.finditer(r"^% \w+ = ", text, re.MULTILINE)]
    for at in [*lines, *(at for at, char in enumerate(text) if char in "{[")]:
        try:
            found.append(json.JSONDecoder().raw_decode(text, at)[0])
        except (ValueError, RecursionError):
            continue
    return found


def leaves(value: object) -> set[str]:
    """The words of the scalars in plain data, and in JSON inside of it."""
    if isinstance(value, dict):
        return set().union(*map(leaves, value.values()))
    if isinstance(value, list):
        return set().union(*map(leaves, value))
    if not isinstance(value, str):
        return {json.dumps(value)}
    found = set(value.replace(",", " ").split())
    try:
        return found | leaves(json.loads(value)) if value.startswith("{") else found
    except (ValueError, RecursionError):
        return found


def test_every_form_has_documents_to_try():
    assert set(DOCUMENTS) == set(ROWS)


@pytest.mark.parametrize("target", ["mdh", "markdown", "program", "dotprompt"])
def test_x31_a_document_with_crlf_stays_one(target):
    """X31. No line of the front matter ends otherwise than those of the text, in both directions."""
    text = "---\r\ndoc-id: d1\r\ntitle: T\r\npurpose: reference\r\n---\r\n# T\r\n\r\nText.\r\n"
    there = converted(text, "magi", target).text
    front = there[: there.index("---\r\n", 1)]
    assert front.count("\n") == front.count("\r\n") > 2
    assert converted(there, target, "magi").text == text
    if target != "markdown":
        assert there.count("\n") == there.count("\r\n")


@pytest.mark.parametrize("target", ["program", "skill"])
def test_x31_a_chat_is_described_by_its_first_message(target: str):
    """X31: not by its configuration, nor by the heading of a message."""
    chat = "% temperature = 0.3\n\n### @_note:\n\nhush\n\n### @system:\n\nSort the letters.\n\n### @user:\n\nHello.\n"
    made = converted(chat, "chat", target)
    front = read_front(SourceText(made.text)).fields
    assert front is not None and front.get("description").value == "Sort the letters."
    only = converted('{{role "system"}}Sort {{#if a}}x{{/if}}\n', "dotprompt", target)
    assert "@system" not in only.text.split("---")[1].split("metadata")[0]


def test_x31_an_edit_that_counts_is_named():
    there = converted("---\ntitle: A\ndoc-id: x\n---\n# A\n\nText.\n", "magi", "program").text
    back = converted(there.replace("description: Text.", "description: Other."), "program", "magi")
    assert [item.message for item in back.report.items if item.level == "lost"] == [
        "`description` was edited after the conversion, and the edited text counts"
    ]
