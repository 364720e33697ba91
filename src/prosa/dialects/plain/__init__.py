"""Plain Markdown: a document that no other dialect claims. What it says is its links, its title and its other names."""

from prosa.dialects.dialect import Dialect
from prosa.dialects.plain.facts import facts
from prosa.dialects.plain.format import format_edits
from prosa.dialects.plain.model import PlainModel
from prosa.dialects.plain.read import masked, read
from prosa.dialects.plain.references import definitions, references
from prosa.dialects.plain.write import write

__all__ = ["DIALECT", "PlainModel", "definitions", "facts", "format_edits", "masked", "read", "references", "write"]

DIALECT: Dialect[PlainModel] = Dialect(
    name="plain",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    masked=masked,
    format_edits=format_edits,
)
