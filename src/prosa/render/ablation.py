"""What an ablation found, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Value
from prosa.evaluation.ablation import AblationResult, SectionEffect
from prosa.render.plain import safe
from prosa.render.tests import basis_words, difference_words, wrapped

_VERDICTS = {"better": "better with it", "worse": "worse with it"}


def ablation_text(result: AblationResult) -> str:
    """Return sections by what their absence does, for people."""
    lines = [*wrapped(f"sections of {safe(result.path)}, about {result.tokens:,} tokens, by what their absence does")]
    for section in result.sections:
        lines += (part for line in _section(section) for part in wrapped(line))
    for note in result.notes:
        lines += wrapped(f"  note: {safe(note)}")
    return "\n".join(lines)


def _section(effect: SectionEffect) -> Iterator[str]:
    comparison = effect.compared.comparison
    verdict = _VERDICTS.get(comparison.verdict, comparison.verdict)
    difference = "" if comparison.p is None else f"{difference_words(comparison)}: "
    measured = "" if effect.measured is None else f", {effect.measured:+,.0f} measured in an attempt"
    yield f"  {safe(effect.title)}: {difference}{verdict}"
    yield f"    about {effect.tokens:,} tokens{measured}; {basis_words(effect.compared)}"


def ablation_json(result: AblationResult) -> dict[str, Value]:
    """Return it as data."""
    return {
        "path": result.path,
        "tokens": result.tokens,
        "sections": [
            {
                "section": section.title,
                "tokens": section.tokens,
                "measured_tokens": section.measured,
                "difference": section.difference,
                "verdict": section.compared.comparison.verdict,
                "p": section.compared.comparison.p,
                "p_adjusted": section.compared.comparison.p_adjusted,
            }
            for section in result.sections
        ],
        "notes": list(result.notes),
    }
