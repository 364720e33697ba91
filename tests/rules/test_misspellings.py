"""Every "did you mean" is a fix that has to be asked for and replaces exactly the name (X4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest
from msgspec.structs import replace

from prosa.diagnostics import Applicability, Diagnostic, Misspelling, Problem
from prosa.rules.policy import Policy, diagnosed
from prosa.source import SourceText, Span, apply_edits
from tests.rules.literate import ROOT, Example, examples, pages


def asking() -> Iterator[tuple[str, Example, Diagnostic]]:
    """The diagnostics of all examples that ask; those about settings and schema files are about no document."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for example in examples(text) if "diagnostics" in text else ():
            for each in example.checked().diagnostics:
                if "did you mean" in " ".join((each.message, *each.notes)) and not each.path.endswith(
                    (".toml", ".json")
                ):
                    yield page.stem, example, each


def test_x4_every_did_you_mean_is_an_unsafe_fix_of_a_name():
    """X4. Held over all examples of the rules: the fix changes less than the span, and then nobody asks any more."""
    found = list(asking())
    assert len({rule for rule, _, _ in found}) >= 15
    for page, example, each in found:
        assert each.fix is not None, f"{page}: {each.message}"
        assert each.fix.applicability is Applicability.UNSAFE, page
        assert all(each.span.start <= edit.span.start and edit.span.end <= each.span.end for edit in each.fix.edits)
        name = str(PurePosixPath(each.path).relative_to(ROOT))
        fixed = apply_edits(example.documents[name] or "", each.fix.edits)
        again = replace(example, documents={**example.documents, name: fixed}).checked()
        assert (each.rule, each.message) not in {(other.rule, other.message) for other in again.diagnostics}, page


@pytest.mark.parametrize(
    ("text", "written", "meant", "after"),
    [
        ('"strin"', "strin", "string", '"string"'),
        ("[[foo|foo]]", "foo", "food", None),
        ("ab", "x", "y", None),
        ("ab", "", "y", "y"),
    ],
)
def test_x4_only_a_name_that_stands_there_once_is_replaced(text: str, written: str, meant: str, after: str | None):
    """X4."""
    problem = Problem("unknown-field", "m", Span(0, len(text)), misspelling=Misspelling(written, meant))
    (found,) = diagnosed([problem], SourceText(text), Policy())
    assert (found.fix and apply_edits(text, found.fix.edits)) == after
