"""The tree of a template. Built once by the parser, never changed; every node knows where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from prosa.source import Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Text:
    """Plain text, trim markers applied."""

    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal:
    """A constant: number, string, character or boolean."""

    value: bool | int | float | str
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nil:
    """The word ``nil``."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dot:
    """The cursor ``.``."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Field:
    """``.a.b``: names looked up from the cursor."""

    names: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variable:
    """``$x.a.b``: a variable (name with its ``$``), then names looked up in it."""

    name: str
    names: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """``(pipeline).a.b``: names looked up in the value of another operand."""

    operand: Operand
    names: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Word:
    """The name of a function."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Command:
    """Operands side by side; the first may be a function."""

    operands: tuple[Operand, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pipeline:
    """Commands joined by ``|``. ``declares`` are variables set to its value; ``assigns`` says they exist already."""

    declares: tuple[str, ...]
    assigns: bool
    commands: tuple[Command, ...]
    span: Span


Operand: TypeAlias = Literal | Nil | Dot | Field | Variable | Chain | Word | Pipeline


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Action:
    """``{{ pipeline }}``."""

    pipeline: Pipeline
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Arm:
    """A condition and what stands under it: ``if``, ``else if``, ``with``, ``else with``."""

    pipeline: Pipeline
    body: Body


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If:
    """``if`` with its ``else if``: the body of the first arm whose value is true, else ``otherwise``."""

    arms: tuple[Arm, ...]
    otherwise: Body


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class With:
    """``with``: like ``if``, and the value is the cursor in the body."""

    arms: tuple[Arm, ...]
    otherwise: Body


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Range:
    """``range``: the body once for every element, ``otherwise`` when there is none."""

    pipeline: Pipeline
    body: Body
    otherwise: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call:
    """``template "name" pipeline``."""

    name: str
    pipeline: Pipeline | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Break:
    """``break`` out of the nearest range."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Continue:
    """On to the next element of the nearest range."""


Node: TypeAlias = Text | Action | If | With | Range | Call | Break | Continue
Body: TypeAlias = tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A parsed template: its own body, and the bodies that ``define`` and ``block`` name."""

    body: Body
    defined: dict[str, Body]
