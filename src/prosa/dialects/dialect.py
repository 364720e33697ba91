"""The interface of a dialect: one frozen record of typed functions, generic in the model it reads.

The record answers every question about a document of the dialect. A question that some dialects do not answer has a
neutral default; the others are required, so a record without them is a type error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from prosa.dialects import DialectName

if TYPE_CHECKING:
    from prosa.diagnostics import Problem
    from prosa.dialects.facts import DialectFacts
    from prosa.dialects.fields import Field
    from prosa.dialects.front import FrontReading
    from prosa.document import Def, Document, Ref
    from prosa.source import Edit, SourceText, Span

M = TypeVar("M")
"""The model of a dialect."""


class Hints(Struct, frozen=True):
    """What is known about a document before it is read (X3). ``explicit`` is the dialect from `--as`, ``glob`` the one
    that the project's settings give its path, ``forced`` the one that the command implies. ``vault`` is true in a
    vault of Obsidian (X45), ``agents`` where agents may act on it by its place; None where the place is unknown."""

    explicit: DialectName | None = None
    glob: DialectName | None = None
    forced: DialectName | None = None
    vault: bool = False
    agents: bool | None = None


class FormatOptions(Struct, frozen=True):
    """The options of `prosa fmt` beyond the normal form.

    ``rehash``: stored hashes that no longer match their text are rewritten (X22); otherwise they stay unchanged.
    ``sync``: text that repeats other parts of the document for people is rewritten from them (MA19b).
    """

    rehash: bool = False
    sync: bool = False


def _nothing_masked(_front: FrontReading) -> tuple[Span, ...]:
    return ()


def _whole_body(front: FrontReading) -> Span:
    return front.body


def _no_facts(_model: object) -> Mapping[str, object]:
    return {}


def _no_preference(_model: object) -> bool | None:
    return None


def _no_normal_form(_model: object, _options: FormatOptions) -> tuple[Edit, ...]:
    return ()


def _keeps_no_hash(_before: SourceText, _after: SourceText) -> tuple[Edit, ...]:
    return ()


class Dialect(Struct, Generic[M], frozen=True, kw_only=True):
    """The functions of one dialect. None of them fails on any text or opens a file.

    ``read`` returns the model and the problems outside the front matter block. ``references`` are the targets of a
    document, ``definitions`` the targets inside it, ``facts`` the further keys of `prosa show --format json`.
    ``front`` is the table of its front matter. ``masked`` are the spans that a Markdown parser must not see, and
    ``markdown`` is the part of the body that is Markdown. ``strictness`` is the mode that a document requests, None if
    it requests none. ``corpus_facts`` are plain data for the rules of many documents. ``format_edits`` bring a
    document to its normal form, ``after_fix`` keeps hashes of the text true after a fix (X22). ``judged`` are the
    facts with a verdict, if it gives one: for the model, the mode in force, and the rules with errors.
    """

    name: DialectName
    read: Callable[[FrontReading, Document], tuple[M, tuple[Problem, ...]]]
    references: Callable[[M], tuple[Ref, ...]]
    definitions: Callable[[M], tuple[Def, ...]]
    facts: Callable[[M], DialectFacts]
    front: tuple[Field, ...] = ()
    masked: Callable[[FrontReading], tuple[Span, ...]] = _nothing_masked
    markdown: Callable[[FrontReading], Span] = _whole_body
    strictness: Callable[[M], bool | None] = _no_preference
    corpus_facts: Callable[[M], Mapping[str, object]] = _no_facts
    format_edits: Callable[[M, FormatOptions], tuple[Edit, ...]] = _no_normal_form
    after_fix: Callable[[SourceText, SourceText], tuple[Edit, ...]] = _keeps_no_hash
    judged: Callable[[M, bool, frozenset[str]], DialectFacts] | None = None
