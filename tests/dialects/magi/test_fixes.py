"""Every fix of a MAGI rule removes what it is for, and adds nothing."""

from __future__ import annotations

import pytest

from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.reading import open_as
from prosa.dialects.table import MAGI
from prosa.rules.analyse import analyse
from prosa.rules.registry import all_rules
from prosa.source import SourceText, apply_edits
from tests.dialects.magi.reading import NOW, found
from tests.rules.literate import FOLDER, examples

PAGES = [
    FOLDER / f"{rule.name}.md"
    for rule in all_rules()
    if rule.dialect == "magi" and (FOLDER / f"{rule.name}.md").exists()
]
FIXED = {
    *("scalar-for-list", "field-name-case", "unusual-date-form", "fields-below-front-matter", "comment-in-script"),
    *("trailing-comma-in-script", "output-format-conflict", "unclosed-script", "misspelt-script-fence"),
    *("bare-relationship", "unfamiliar-rel-type"),
}


def texts() -> list[str]:
    return [
        text for page in PAGES for each in examples(page.read_text("utf-8")) for text in each.documents.values() if text
    ]


def problems(text: str):
    return analyse(SourceText(text, "a.mda"), Hints(explicit="magi"), None, NOW).problems


def test_ma1_ma8_ma17_ma21_a_fix_removes_its_problem():
    """MA1, MA7, MA8, MA14, MA16, MA17, MA21."""
    seen = set()
    for text in texts():
        before = [rule for rule, _, _ in found(text)]
        for problem in problems(text):
            if problem.fix is None:
                continue
            seen.add(problem.rule)
            after = [rule for rule, _, _ in found(apply_edits(text, problem.fix.edits))]
            assert after.count(problem.rule) < before.count(problem.rule), (problem.rule, text)
            new = set(after) - set(before) - {"duplicate-relationship", "missing-field"}
            assert not new, (problem.rule, new, text)
    assert seen >= FIXED


@pytest.mark.parametrize("text", texts())
def test_formatting_leaves_no_tolerated_form(text: str):
    """MA1, MA8, MA16, MA17. What is left is what only the author can say."""
    before = open_as(SourceText(text, "a.mda"), MAGI)
    after = apply_edits(text, before.format_edits(FormatOptions()))
    tolerated = {"bare-relationship", "unusual-date-form"}
    assert tolerated.isdisjoint(rule for rule, _, _ in found(after))
