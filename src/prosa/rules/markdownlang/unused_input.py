"""`unused-input`: the input schema declares a property that the template never looks at, so the model never sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.data import Mapping
from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang import ProgramModel
from prosa.rules.subject import ProgramSubject
from prosa.template.mask import action_spans

_WHOLE = re.compile(r"(?<![\w.)\]])\.(?![\w.])|\$(?!\w)(?!\.\w)")
"""A dot or `$` by itself inside an action: the whole input, or a part of it that `range` or `with` chose."""


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the name of the property. Silent where the template may use the input as a whole, and where it uses a name
    that is not declared: then one of the two is most likely a misspelling, and is reported once."""
    model = subject.program.model
    declared = _declared(model)
    if not declared or model.template is None or _uses_all(model):
        return
    used = {use.path[0] for use in model.template.uses if use.path}
    if None in used or used - {entry.key.text for entry in declared}:
        return
    for entry in declared:
        if entry.key.text not in used:
            message = f"the body never uses the input `{shown(entry.key.text)}`"
            note = f"write {{{{ .{entry.key.text} }}}} where the model should see it, or remove it"
            yield Problem("unused-input", message, entry.key.span, (note,))


def _declared(model: ProgramModel) -> Mapping | None:
    node = model.input.node if model.input is not None else None
    properties = node.get("properties") if isinstance(node, Mapping) else None
    return properties if isinstance(properties, Mapping) and properties.entries else None


def _uses_all(model: ProgramModel) -> bool:
    return any(_WHOLE.search(span.of(model.body)) for span in action_spans(model.body))
