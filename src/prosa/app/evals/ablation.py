"""An ablation: a subject compared with itself without each of its sections (X34).

In: the one suite that is meant, and the user's choice. Out: sides for the runner of tests, what they can show, and from
the report what the absence of each section does. Verdicts come from the comparisons of the report alone, which are
adjusted for their number; too few cases for eight comparisons merge sections.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from prosa.app.evals.altered import altered_side, altered_suite
from prosa.app.evals.sections import (
    MOST_SECTIONS,
    SubjectSection,
    section_tokens,
    sections_of,
    side_names,
    without,
)
from prosa.app.evals.stored import last_outcomes
from prosa.app.evals.suite import Side, Suite
from prosa.app.evals.variants import TestOptions, chosen_cases
from prosa.app.options import Environment
from prosa.dialects.context.view import tokens_of
from prosa.evaluation.ablation import AblationResult, SectionEffect, ranked
from prosa.evaluation.power import least_cases, most_comparisons
from prosa.evaluation.report import Compared, Report
from prosa.runtime.errors import RunError
from prosa.source import FileProblem


class Ablation(Struct, frozen=True):
    """What is compared: ``suite`` is the one that runs, ``sides`` leave out ``sections`` in the same order. ``notes``
    are for people before it begins; ``tokens`` is about what the whole text takes."""

    suite: Suite
    sections: tuple[tuple[SubjectSection, int], ...]
    sides: tuple[Side, ...]
    tokens: int
    notes: tuple[str, ...] = ()


def ablation_of(suites: Sequence[Suite], chosen: TestOptions, environment: Environment) -> Ablation:
    """Return the ablation of a subject. Raises `RunError` for several subjects, for one without sections, and where
    there is no case, and `FileProblem`."""
    case_suites = [candidate for candidate in suites if candidate.routing is None]
    if len(case_suites) != 1:
        raise RunError("--ablate tries one subject with cases", hint="name one skill, program or context file")
    suite = case_suites[0]
    cases = len(chosen_cases(suite, chosen, partial(last_outcomes, chosen.journal, environment), environment))
    source = suite.files.read(suite.program_path)
    room = most_comparisons(cases) - (suite.without is not None)
    sections = sections_of(source, min(room, MOST_SECTIONS) if room > 1 else MOST_SECTIONS)
    if not sections:
        hint = "headings make sections; --audit tries the whole text"
        raise RunError(f"{suite.program_path}: it has no sections to leave out", hint=hint)
    notes = _limits(cases, room, merged=len(sections) < len(sections_of(source)))
    sides: list[Side] = []
    kept: list[tuple[SubjectSection, int]] = []
    for section in sections:
        text = without(source, section)
        try:
            altered_suite(suite, text)
        except (RunError, FileProblem) as problem:
            first = (str(problem).splitlines() or ["it cannot run"])[0]
            notes.append(f"without {section.title} it cannot run: {first}")
            continue
        label, named = side_names(section.title)
        sides.append(altered_side(label, text, named=named))
        kept.append((section, section_tokens(source, section)))
    return Ablation(suite, tuple(kept), tuple(sides), tokens_of(source.text), tuple(notes))


def _limits(cases: int, room: int, *, merged: bool) -> list[str]:
    """Return what is to be said about so few cases. ``room`` is the number of sections that can get a verdict."""
    if room > 1:
        return [f"{cases} cases can give a verdict about {room} sections: some are merged"] if merged else []
    needed = least_cases(3)
    return [f"no section can get a verdict: that takes {needed} cases, and there are {cases}"]


def ablated(ablation: Ablation, report: Report) -> AblationResult:
    """Return what the absence of each section does, the greatest loss first."""
    own = [comparison for comparison in report.comparisons if comparison.path == str(ablation.suite.path)]
    sides = own[len(own) - len(ablation.sides) :]
    effects = [
        SectionEffect(section.title, tokens, _measured_tokens(side), side)
        for (section, tokens), side in zip(ablation.sections, sides, strict=True)
    ]
    return AblationResult(str(ablation.suite.program_path), ablation.tokens, ranked(effects), ablation.notes)


def _measured_tokens(compared: Compared) -> float | None:
    """Return how many more tokens an attempt took with the section, on average; None where that is not known."""
    first, second = (side.tokens for side in compared.sides)
    return None if first is None or second is None else first.mean - second.mean
