"""Go's text/template language: lex, parse, execute, analyse (X11–X14)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from prosa.data import Value
from prosa.template.analyse import NameUse, Undeclared, undeclared, uses
from prosa.template.errors import TemplateError
from prosa.template.exec import SPECIAL, render
from prosa.template.funcs import FUNCTIONS
from prosa.template.mask import action_spans
from prosa.template.parse import parse, problems
from prosa.template.printing import value_text

__all__ = [
    "NameUse",
    "Template",
    "TemplateError",
    "Undeclared",
    "action_spans",
    "template_problems",
    "undeclared",
    "value_text",
]

_FUNCTIONS = frozenset((*FUNCTIONS, *SPECIAL))


def template_problems(text: str) -> tuple[TemplateError, ...]:
    """Return every mistake that keeps a text from being a template; the first is the one that `Template` raises."""
    return problems(text, _FUNCTIONS)


class Template:
    """A template in Go's `text/template` language as decided in X11–X14.

    Raises `TemplateError` when the text does not parse, TypeError for anything else than a text.
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"text is of the type {type(text).__name__}; expected str")
        self.text = text
        self.tree = parse(text, _FUNCTIONS)
        self._checked: tuple[Mapping[str, Value] | bool, tuple[Undeclared, ...]] | None = None

    def render(self, data: Value, *, schema: Mapping[str, Value] | bool | None = None) -> str:
        """Return the text for plain JSON ``data``.

        With the input schema, a name it does not declare is an error where ``additionalProperties`` is false; every
        other absent name prints nothing (X13). Raises `TemplateError`.
        """
        if schema is not None:
            self._refuse_closed(schema)
        return render(self.tree, self.text, data)

    @cached_property
    def uses(self) -> tuple[NameUse, ...]:
        """The names of the data that the template looks up, in order of appearance."""
        return uses(self.tree)

    def _refuse_closed(self, schema: Mapping[str, Value] | bool) -> None:
        if self._checked is None or self._checked[0] is not schema:
            self._checked = schema, undeclared(self, schema)
        for missing in self._checked[1]:
            if missing.closed:
                hint = f"; did you mean .{missing.suggestion}?" if missing.suggestion else ""
                message = f"the input schema has no {missing.name!r} and allows no other names{hint}"
                fragment = missing.span.of(self.text)
                raise TemplateError(message, text=self.text, offset=missing.span.start, fragment=fragment)
