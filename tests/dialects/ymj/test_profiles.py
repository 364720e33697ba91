"""Profiles: templates of new records, and hints for those that follow one."""

from __future__ import annotations

from datetime import date
from importlib.resources import files

import pytest

from prosa.dialects.ymj.profiles import PROFILES, Profile
from prosa.dialects.ymj.write import new_record
from prosa.document import parse
from prosa.source import SourceText
from tests.dialects.ymj.records import HEADER, diagnostics, facts, record

TODAY = date(2026, 3, 31)
KINDS = {"identity_profile", "dataset", "viz", "ticket", "page", "runbook", "spec", "experiment", "trace", "policy",
         "card", "recipe"}  # fmt: skip


def test_y30_every_profile_is_in_the_table():
    """Y30: fourteen of them, with twelve kinds."""
    assert len(PROFILES) == 14
    assert {each.kind for each in PROFILES} == KINDS


@pytest.mark.parametrize("profile", PROFILES, ids=lambda each: each.name)
def test_y30_y25_templates_pass_a_strict_check(profile: Profile):
    """Y30, Y25: no finding at all but for the links that the author has to fill in, and not even a hint."""
    text = new_record(profile, TODAY)
    rules = {each.rule for each in diagnostics(text, strict=True)}
    assert rules <= ({"unresolved-wikilink"} if profile.link else set())
    shown = facts(text, strict=True)
    assert shown["accepted"]
    assert shown["header"]["kind"] == profile.kind
    assert shown["header"]["created"] == shown["header"]["updated"] == "2026-03-31"
    assert shown["payload"] is None or shown["payload"]["found"]


def test_y30_words_of_the_author_are_kept():
    """Y30, YW6: dates are today's, nothing is faked; whatever the words, the record is sound."""
    words = {"subject": "Ferry: late #7", "owner": "- Harbour", "summary": 'Late "again": [why]'}
    text = new_record(PROFILES[0], TODAY, **words)
    header = facts(text, strict=True)["header"]
    assert (header["subject"], header["maintained_by"], header["doc_summary"]) == tuple(words.values())
    assert diagnostics(text, strict=True) == ()


def hint(text: str) -> str:
    (each,) = [d for d in diagnostics(text, strict=True) if d.rule == "profile-gap"]
    assert each.severity == "hint"
    return each.message


def test_y30_what_a_record_lacks_is_one_hint():
    """Y30: never more than a hint, in any mode."""
    ticket = record(header=HEADER.replace("note", "ticket"), ops={"ticket": {"severity": 1}})
    message = hint(ticket)
    assert "`classification`" in message
    assert "`ops.trace`" in message
    assert "`ops.ticket`" not in message


def test_y30_two_profiles_of_one_kind_are_told_apart():
    """Y30."""
    header = HEADER.replace("note", "dataset")
    table = {"schema": "1", "index": {"tags": ["csv"]}}
    assert "`ops.body_selector`" in hint(record(header=header, footer=table))
    assert "`ops.handlers`" in hint(record(header=header))


def test_y30_other_kinds_have_no_profile():
    """Y30."""
    assert diagnostics(record(), strict=True) == ()


def test_y30_a_general_specification_is_not_taken_for_an_api():
    """Y30."""
    assert diagnostics(record(header=HEADER.replace("note", "spec")), strict=True) == ()


def test_the_example_of_the_page_is_a_sound_record():
    page = SourceText((files("prosa.dialects") / "docs" / "ymj.md").read_text(encoding="utf-8"))
    document = parse(page)
    text = document.fence_text(document.fences[0])
    assert {each.rule for each in diagnostics(text, strict=True)} <= {"unresolved-wikilink"}
