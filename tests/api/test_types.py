"""An argument of a wrong type is a TypeError that names it, in every function of the Python interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any

import pytest

import prosa
from prosa.api.checked import checked

WRONG = (object(), b"x", [1])
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(prosa.run, prosa.chat, prosa.run_scripts, prosa.batch, prosa.run_tests, prosa.check, prosa.load, prosa.Corpus),
    *(prosa.mdh.request, prosa.Corpus.search, prosa.Corpus.document, prosa.Corpus.links, prosa.Corpus.path),
    *(prosa.Corpus.impact, prosa.Corpus.query),
)
OTHERWISE = {"self", "input", "returns", "provider", "max_cost", "max_cost_per_row"}
"""Parameters of any type, or with a check and words of their own."""


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__qualname__)
def test_an_argument_of_a_wrong_type_is_named(function: Callable[..., Any]):
    parameters = inspect.signature(function).parameters
    for name in parameters.keys() - OTHERWISE:
        given: dict[str, Any] = {
            each.name: "." for each in parameters.values() if each.default is each.empty and each.name != name
        }
        given |= {"action": {}} if "action" in given else {}
        for wrong in WRONG:
            with pytest.raises(TypeError, match=rf"^{name} is of the type (object|bytes|list); expected \S"):
                function(**given, **{name: wrong})


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["max_cost", "max_cost_per_row"])
def test_an_amount_of_a_wrong_type_is_named(name: str, wrong: object):
    with pytest.raises(TypeError, match=r"^an amount is of the type"):
        prosa.batch("nowhere.md", [], **{name: wrong})  # type: ignore[arg-type]  # which is what is tested


def test_what_is_as_good_as_a_type_is_taken():
    """A number that converts, any path, several names as a list, and nothing where nothing may be given."""

    class Index:
        def __index__(self) -> int:
            return 3

    @checked
    def call(count: int, seconds: float, path: str | Path, names: list[str], nothing: None = None) -> None: ...

    call(Index(), Decimal(1), PurePath("a"), ["a"])  # type: ignore[arg-type]  # wrong by their types alone
    call(True, 1, "a", [], nothing=None)
    with pytest.raises(TypeError, match=r"^names is of the type list; expected list\[str\]"):
        call(1, 1.0, "a", ["a", 1])  # type: ignore[list-item]
