"""The fields of a test document's front matter, and the blocks of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from prosa.dialects.fields import Field, Form
from prosa.evaluation.case import REQUIREMENT_FORMS, parse_requirement

MAX_REPEAT: Final = 1_000
MAX_VOTES: Final = 9


def _not_empty(text: str) -> str | None:
    return None if text.strip() else "is empty"


def _between(least: int, most: int, *, odd: bool = False) -> Form:
    def complaint(text: str) -> str | None:
        number = int(text) if text.strip().isascii() and text.strip().isdigit() else -1
        if least <= number <= most and (number % 2 == 1 or not odd):
            return None
        return f"is {'an odd' if odd else 'a'} number from {least} to {most:,}, found {text[:40]}"

    return complaint


def _requirement(text: str) -> str | None:
    return None if parse_requirement(text) else f"is {REQUIREMENT_FORMS}, found `{text[:40]}`"


FRONT: Final[tuple[Field, ...]] = (
    Field(
        "tests",
        "string",
        required=True,
        form=_not_empty,
        wanted="the path of the program that is tested",
        about="the path of the program, from the folder of the document",
    ),
    Field("title", "string", about="what is tested, for people"),
    Field("description", "string", about="what the tests are about, for people"),
    Field(
        "repeat",
        "integer",
        form=_between(1, MAX_REPEAT),
        about="how often each case runs, 1 to 1,000; default 1, or as often as `require` needs",
    ),
    Field(
        "require",
        "string",
        form=_requirement,
        usual=("all", "4/5", "pass^3 >= 0.9", "pass@3 >= 0.9"),
        about="what has to pass: `all` repeats of every case (the default), a share of them as in `4/5`, or a rate, "
        "the mean over the cases: `pass^3 >= 0.9` (three repeats in a row pass), `pass@3 >= 0.9` (one of three does)",
    ),
    Field("models", "strings", form=_not_empty, about="the models to try, each on its own; default: as in `prosa run`"),
    Field(
        "rows",
        "string",
        form=_not_empty,
        about="a JSON Lines file with more cases: `input`, and `name`, `expect`, `run`, `grade` where a row has them",
    ),
    Field(
        "grader",
        "string",
        form=_not_empty,
        about="the path of a program that answers `grade` instead of the one that comes with Prosa",
    ),
    Field(
        "votes",
        "integer",
        form=_between(1, MAX_VOTES, odd=True),
        about="how often the grader is asked about each question; the majority counts; an odd number, default 1",
    ),
)

Role: TypeAlias = Literal["input", "expect", "check", "run", "grade"]
"""What a block says of a case. A `python expect` block is its ``check``."""

_DATA = ("yaml", "yml", "json")
_TEXT = ("text", "md", "markdown")

LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "input": (*_DATA, *_TEXT),
    "expect": (*_DATA, *_TEXT, "python"),
    "run": _DATA,
    "grade": (*_TEXT, *_DATA),
}
"""The blocks that a case may have, and the languages of each; the first is the usual one."""

DATA: Final = frozenset(_DATA)
