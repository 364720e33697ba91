"""What this folder raises. `SchemaError` for a schema, `ArgumentProblem` for a KEY=VALUE; both are ValueErrors too."""

from __future__ import annotations

from prosa.diagnostics import Misspelling
from prosa.source import ProsaError


class SchemaError(ProsaError, ValueError):
    """A schema that is not JSON Schema 2020-12. ``pointer`` leads to the culprit inside the schema; ``misspelling`` is
    the word there, and the one probably meant."""

    def __init__(self, pointer: str, message: str, misspelling: Misspelling | None = None) -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message)
        self.pointer = pointer
        self.message = message
        self.misspelling = misspelling


class ArgumentProblem(ProsaError, ValueError):
    """A ``KEY=VALUE`` that does not fit the input schema. The text names key, found and expected."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.message = message
