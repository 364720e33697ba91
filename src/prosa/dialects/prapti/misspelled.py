"""Variables of the author that are called almost as a well-known one: most likely that one is meant (PA8, PA9).

In: the configuration in effect. Out: warnings with the nearest name. A variable that `var(NAME)` uses is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.dialects.prapti.effective import EffectiveValue
from prosa.dialects.prapti.fields import nearest_variable, path_of, setting_of
from prosa.dialects.prapti.perform import Complaint

_VARIABLES = "vars."


def misspelled(values: Mapping[str, EffectiveValue]) -> Iterator[Complaint]:
    """A warning at each such name."""
    used = {path_of(each.line.variable) for each in values.values() if each.line.variable is not None}
    for path, each in values.items():
        if not path.startswith(_VARIABLES) or setting_of(path) is not None or path in used:
            continue
        if near := nearest_variable(path):
            text, note = f"there is no setting `{each.line.key}`", f"did you mean `{near}`?"
            meant = Misspelling((each.line.key or "").removeprefix(_VARIABLES), near)
            span = each.line.name_span
            problem = Problem("user-variable", text, span, (note,), severity=Severity.WARNING, misspelling=meant)
            yield Complaint(problem, each.source)
