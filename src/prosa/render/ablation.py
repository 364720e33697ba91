"""What an ablation found, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Value
from prosa.evaluation.ablation import AblationResult, SectionEffect
from prosa.render.plain import safe
from prosa.render.tests import basis_words, difference_words, wrapped

_VERDICTS = {"better": "better with it", "worse": "worse with it"}


def ablation_text(found: AblationResult) -> str:
    """Return sections by what their absence does, for people."""
    lines = [*wrapped(f"sections of {safe(found.path)}, about {found.tokens:,} tokens, by what their absence does")]
    for each in found.sections:
        lines += (part for line in _section(each) for part in wrapped(line))
    for note in found.notes:
        lines += wrapped(f"  note: {safe(note)}")
    return "\n".join(lines)


def _section(each: SectionEffect) -> Iterator[str]:
    comparison = each.compared.comparison
    verdict = _VERDICTS.get(comparison.verdict, comparison.verdict)
    difference = "" if comparison.p is None else f"{difference_words(comparison)}: "
    measured = "" if each.measured is None else f", {each.measured:+,.0f} measured in an attempt"
    yield f"  {safe(each.title)}: {difference}{verdict}"
    yield f"    about {each.tokens:,} tokens{measured}; {basis_words(each.compared)}"


def ablation_json(found: AblationResult) -> dict[str, Value]:
    """Return it as data."""
    return {
        "path": found.path,
        "tokens": found.tokens,
        "sections": [
            {
                "section": each.title,
                "tokens": each.tokens,
                "measured_tokens": each.measured,
                "difference": each.difference,
                "verdict": each.compared.comparison.verdict,
                "p": each.compared.comparison.p,
                "p_adjusted": each.compared.comparison.p_adjusted,
            }
            for each in found.sections
        ],
        "notes": list(found.notes),
    }
