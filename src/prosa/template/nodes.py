"""The tree of a template. Built once by the parser, never changed; every node knows where it stands."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from prosa.source import Span


class Text(Struct, frozen=True, eq=False):
    """Plain text, trim markers applied."""

    text: str


class Literal(Struct, frozen=True, eq=False):
    """A constant: number, string, character or boolean."""

    value: bool | int | float | str
    span: Span


class Nil(Struct, frozen=True, eq=False):
    """The word ``nil``."""

    span: Span


class Dot(Struct, frozen=True, eq=False):
    """The cursor ``.``."""

    span: Span


class Field(Struct, frozen=True, eq=False):
    """``.a.b``: names looked up from the cursor."""

    names: tuple[str, ...]
    span: Span


class Variable(Struct, frozen=True, eq=False):
    """``$x.a.b``: a variable (name with its ``$``), then names looked up in it."""

    name: str
    names: tuple[str, ...]
    span: Span


class Chain(Struct, frozen=True, eq=False):
    """``(pipeline).a.b``: names looked up in the value of another operand."""

    operand: Operand
    names: tuple[str, ...]
    span: Span


class Word(Struct, frozen=True, eq=False):
    """The name of a function."""

    name: str
    span: Span


class Command(Struct, frozen=True, eq=False):
    """Operands side by side; the first may be a function."""

    operands: tuple[Operand, ...]
    span: Span


class Pipeline(Struct, frozen=True, eq=False):
    """Commands joined by ``|``. ``declares`` are variables set to its value; ``assigns`` says they exist already."""

    declares: tuple[str, ...]
    assigns: bool
    commands: tuple[Command, ...]
    span: Span


Operand: TypeAlias = Literal | Nil | Dot | Field | Variable | Chain | Word | Pipeline


class Action(Struct, frozen=True, eq=False):
    """``{{ pipeline }}``."""

    pipeline: Pipeline
    span: Span


class Arm(Struct, frozen=True, eq=False):
    """A condition and what stands under it: ``if``, ``else if``, ``with``, ``else with``."""

    pipeline: Pipeline
    body: Body


class If(Struct, frozen=True, eq=False):
    """``if`` with its ``else if``: the body of the first arm whose value is true, else ``otherwise``."""

    arms: tuple[Arm, ...]
    otherwise: Body


class With(Struct, frozen=True, eq=False):
    """``with``: like ``if``, and the value is the cursor in the body."""

    arms: tuple[Arm, ...]
    otherwise: Body


class Range(Struct, frozen=True, eq=False):
    """``range``: the body once for every element, ``otherwise`` when there is none."""

    pipeline: Pipeline
    body: Body
    otherwise: Body
    span: Span


class Call(Struct, frozen=True, eq=False):
    """``template "name" pipeline``."""

    name: str
    pipeline: Pipeline | None
    span: Span


class Break(Struct, frozen=True, eq=False):
    """``break`` out of the nearest range."""


class Continue(Struct, frozen=True, eq=False):
    """On to the next element of the nearest range."""


Node: TypeAlias = Text | Action | If | With | Range | Call | Break | Continue
Body: TypeAlias = tuple[Node, ...]


class Tree(Struct, frozen=True, eq=False):
    """A parsed template: its own body, and the bodies that ``define`` and ``block`` name."""

    body: Body
    defined: dict[str, Body]
