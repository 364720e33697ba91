"""What a selector is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prosa.document import Document
from prosa.source import Span


class BadSelector(ValueError):
    """A selector that cannot mean anything; the text says why."""


class TooCostly(Exception):
    """A pattern that is not tried on a body of this size; the text says so."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a selector looks at: the body as Markdown, and its text with LF line ends."""

    document: Document
    text: str


@dataclass(frozen=True, slots=True)
class Target:
    """What was found: its text with LF line ends, and its span where it is one stretch of the source."""

    text: str
    span: Span | None = None


Finder = Callable[[Body], Target | None]
"""Looks once, in linear time. None when there is no such target; may raise `TooCostly`."""


@dataclass(frozen=True, slots=True)
class SelectorType:
    """A row of the registry. ``form`` shows how it is written; ``prepare`` turns the text after the first colon into a
    finder or raises `BadSelector`. ``pattern`` says that it holds a regular expression (strict: a warning, Y27).
    """

    name: str
    form: str
    prepare: Callable[[str], Finder]
    pattern: bool = False
