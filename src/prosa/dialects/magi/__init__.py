"""MAGI: Markdown with metadata, instructions for models and typed relationships.

`read` gives the model of a document, `facts` what `prosa show` prints, `references` and `definitions` its part of the
graph, `format_edits` its normal form.
"""

from prosa.dialects.dialect import Dialect
from prosa.dialects.magi.facts import corpus_facts, facts
from prosa.dialects.magi.fields import FRONT
from prosa.dialects.magi.format import format_edits
from prosa.dialects.magi.links import definitions, references
from prosa.dialects.magi.model import MagiModel, Relationship, Script
from prosa.dialects.magi.read import read

__all__ = [
    "DIALECT",
    "FRONT",
    "MagiModel",
    "Relationship",
    "Script",
    "corpus_facts",
    "definitions",
    "facts",
    "format_edits",
    "read",
    "references",
]

DIALECT: Dialect[MagiModel] = Dialect(
    name="magi",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    corpus_facts=corpus_facts,
    format_edits=format_edits,
)
