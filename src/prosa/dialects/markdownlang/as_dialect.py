"""Programs as a dialect like the others (`prosa.dialects.dialect`): the same questions, answered by their reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.diagnostics import Problem
from prosa.dialects.dialect import Dialect
from prosa.dialects.front import FrontReading
from prosa.dialects.markdownlang.facts import facts as program_facts
from prosa.dialects.markdownlang.fields import PROGRAM as FRONT
from prosa.dialects.markdownlang.model import ProgramModel
from prosa.dialects.markdownlang.read import read as read_program
from prosa.document import Def, Ref
from prosa.source import Span
from prosa.template.mask import action_spans

if TYPE_CHECKING:
    from prosa.document import Document

__all__ = ["DIALECT", "FRONT", "definitions", "facts", "masked", "read", "references"]


def masked(front: FrontReading) -> tuple[Span, ...]:
    """The template actions of the body (X2)."""
    text = front.source.slice(front.body)
    return tuple(span.shift(front.body.start) for span in action_spans(text))


def read(front: FrontReading, document: Document) -> tuple[ProgramModel, tuple[Problem, ...]]:
    """The program, and what is wrong with the text of it beyond its front matter block."""
    del document  # the body of a program is a template first
    model, problems = read_program(front.source, front)
    return model, problems[len(front.problems) :]


def references(model: ProgramModel) -> tuple[Ref, ...]:
    """The imports (L6)."""
    return tuple(Ref("import", ref.text, "path", ref.span, rel="import") for ref in model.imports)


def definitions(model: ProgramModel) -> tuple[Def, ...]:
    """The name that the author gave the program."""
    return (Def("id", model.name, model.span("name")),) if "name" in model.spans else ()


def facts(model: ProgramModel) -> dict[str, Value]:
    """The further keys of `prosa show`."""
    return program_facts(model)


DIALECT: Dialect[ProgramModel] = Dialect(
    name="markdownlang",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    masked=masked,
)
