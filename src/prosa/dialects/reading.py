"""A document under its dialect: the one way from a front reading to model, references and facts, the same for all.

In: a front reading and the name of a dialect. Out: the Markdown document, the model, and what the reader found wrong.
The package of a dialect is loaded when the first document needs it. What a package offers:

    read(front, document) -> (model, problems)      never fails, opens nothing
    references(model) -> (Ref, …)                   what the document points at
    definitions(model) -> (Def, …)                  what others can point at in it
    facts(model) -> {…}                             the further keys of `prosa show --format json`
    format_edits(model, options) -> (Edit, …)       optional: its normal form
    corpus_facts(model) -> {…}                      optional: plain data for the rules of many documents
    strictness(model) -> bool | None                optional: whether the document asks to be read strictly
    FRONT                                           optional: the table of its front matter (`dialects.fields`)
    masked(front) -> (Span, …)                      optional: what a Markdown parser must not see
    markdown(front) -> Span                         optional: the part of the body that is Markdown
    after_fix(before, after) -> (Edit, …)           optional: what keeps hashes of the text true after a fix (X22)
    judged(facts, strict, errors) -> {…}            optional: the facts with a verdict, for what the rules found
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from prosa.data import Value
from prosa.diagnostics import Problem
from prosa.dialects.dialect import DialectName
from prosa.dialects.fields import declared_value
from prosa.dialects.front import FrontReading
from prosa.dialects.relations import Relations, relation_refs
from prosa.dialects.table import dialect

if TYPE_CHECKING:
    from prosa.dialects.formatting import FormatOptions
    from prosa.document import Def, Document, Ref
    from prosa.source import Edit, Span


@dataclass(frozen=True, slots=True)
class DialectReading:
    """A document as its dialect understands it. ``model`` is None where no reader gives it a meaning; ``problems`` are
    those of the dialect's reader, without those of the front matter. ``relations`` are the fields that name other
    documents because the project says so."""

    name: DialectName
    front: FrontReading
    document: Document
    model: Any
    problems: tuple[Problem, ...] = ()
    relations: Relations = ()

    @property
    def front_matter(self) -> dict[str, Value] | None:
        """The front matter as plain data, strings as the dialect declares them (X1); None where it is no mapping."""
        table = getattr(_package(self.name), "FRONT", ())
        return declared_value(self.front.fields, table) if self.front.fields is not None else None

    def references(self) -> tuple[Ref, ...]:
        """What the document points at; what a field names is named once, by the dialect or by the project."""
        found: tuple[Ref, ...] = self._ask("references", ())
        if not self.relations:
            return found
        known = {each.span.start for each in found}
        own = (each for each in relation_refs(self.front.fields, self.relations) if each.span.start not in known)
        return (*found, *own)

    def definitions(self) -> tuple[Def, ...]:
        """What others can point at in it."""
        found: tuple[Def, ...] = self._ask("definitions", ())
        return found

    def facts(self) -> dict[str, Any]:
        """The further keys of `prosa show`."""
        found: dict[str, Any] = self._ask("facts", {})
        return found

    def judged_facts(self, *, strict: bool, errors: frozenset[str]) -> dict[str, Any]:
        """The same where the dialect gives a verdict: ``strict`` is the mode in force, ``errors`` the rules broken."""
        package, facts = _package(self.name), self.facts()
        if self.model is None or not hasattr(package, "judged"):
            return facts
        judged: dict[str, Any] = package.judged(facts, strict=strict, errors=errors)
        return judged

    def corpus_facts(self) -> dict[str, Any]:
        """Plain data for the rules of many documents."""
        found: dict[str, Any] = self._ask("corpus_facts", {})
        return found

    def strictness(self) -> bool | None:
        """Whether the document asks to be read strictly; None where it says nothing."""
        found: bool | None = self._ask("strictness", None)
        return found

    def format_edits(self, options: FormatOptions) -> tuple[Edit, ...]:
        """The edits that bring the document to the normal form of its dialect."""
        package = _package(self.name)
        if self.model is None or not hasattr(package, "format_edits"):
            return ()
        edits: tuple[Edit, ...] = package.format_edits(self.model, options)
        return edits

    def _ask(self, question: str, otherwise: Any) -> Any:
        answer = getattr(_package(self.name), question, None)
        return otherwise if answer is None or self.model is None else answer(self.model)


def read_as(front: FrontReading, name: DialectName, relations: Relations = ()) -> DialectReading:
    """The document of ``front`` read under the dialect ``name``, in a project with these relations."""
    package, front = _package(name), front.under(name)
    masked: tuple[Span, ...] = package.masked(front) if hasattr(package, "masked") else ()
    body: Span = package.markdown(front) if hasattr(package, "markdown") else front.body
    document = front.document if body == front.body and not masked else _parsed(front, body, masked)
    if package is None:
        return DialectReading(name, front, document, None, relations=relations)
    model, problems = package.read(front, document)
    return DialectReading(name, front, document, model, problems, relations)


def _parsed(front: FrontReading, body: Span, masked: tuple[Span, ...]) -> Document:
    from prosa.document import parse  # only here: it loads the Markdown parser

    return parse(front.source, body=body, masked=masked)


@cache
def _package(name: DialectName) -> Any:
    """The package of a dialect, or None while nothing reads it."""
    module = dialect(name).module
    return import_module(module) if module else None
