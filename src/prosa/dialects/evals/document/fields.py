"""The fields of a test document's front matter, and the blocks of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from prosa.dialects.fields import Field, Form
from prosa.evaluation.case import FAILURE_KINDS, REQUIREMENT_FORMS, parse_requirement

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
        about="how many votes the grader gives on each question; the majority counts; an odd number, default 1",
    ),
)

Role: TypeAlias = Literal["input", "expect", "check", "run", "grade"]
"""The field of a case that a block fills. A `python expect` block is its ``check``."""

_DATA = ("yaml", "yml", "json")
_TEXT = ("text", "md", "markdown")

LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "input": (*_DATA, *_TEXT),
    "expect": (*_DATA, *_TEXT, "python"),
    "run": _DATA,
    "grade": (*_TEXT, *_DATA),
}
"""The blocks that a case may have, and the languages of each; the first is the usual one."""

BLOCKS: Final[Mapping[str, str]] = {
    "yaml input": "the input; also `json`, and `text` for a program that takes a text; default `{}`",
    "yaml expect": "what the output has to be; also `json`, and `text`",
    "python expect": "a check of the output, `check(input, output, calls)`, in the sandbox; `calls` lists the tools "
    "that were called",
    "yaml run": "how the run has to go",
    "text grade": "questions for a grader, one a line; it is called only if everything else holds",
}
"""The most common notations of blocks, and their fields."""

RUN: Final[tuple[Field, ...]] = (
    Field("calls", "anything", about="how many model calls are made: a number or `{min: …, max: …}`"),
    Field("cost", "anything", about="US dollars, in the same form"),
    Field("seconds", "anything", about="how long it takes, in the same form"),
    Field(
        "tools",
        "mapping",
        about="which tools are called",
        inner=(
            Field("called", "strings", about="a list of tools that have to be called"),
            Field("not-called", "strings", about="a list of tools that must not be called"),
        ),
    ),
    Field(
        "fails",
        "anything",
        usual=("true",),
        about="`true` where a failure is expected, or which one",
        inner=(
            Field("kind", "string", choices=FAILURE_KINDS, about="the kind of the failure"),
            Field("text", "string", about="a piece of its message"),
        ),
    ),
)
"""The words of a `run` block, as `evaluation.case` reads them."""

WORDS: Final[tuple[Field, ...]] = (
    Field("equals", "anything", about="exactly this value, whole"),
    Field("one-of", "anything", about="one of these values"),
    Field(
        "contains",
        "anything",
        about="a text with this piece, a list with this item, a mapping with this key; all of a list",
    ),
    Field("not-contains", "anything", about="the same without; none of a list"),
    Field("matches", "string", about="a text in which this pattern of RE2 is found"),
    Field("approx", "mapping", about="a number near this one: `{value: 3.14, within: 0.01}`"),
    Field("length", "anything", about="characters, items or fields: a number or `{min: …, max: …}`"),
    Field("schema", "schema", holds="schema", about="a value that satisfies this JSON Schema"),
    Field("sorted-equals", "anything", about="a list of these items, in any order"),
    Field("absent", "boolean", about="`true`: nothing is there; `false`: anything is"),
    Field(
        "python",
        "string",
        about="a value for which `check(input, output, calls)` returns true or nothing; `output` is the value",
    ),
)
"""The words of a matcher, as `evaluation.matchers` reads them."""

DATA: Final = frozenset(_DATA)
