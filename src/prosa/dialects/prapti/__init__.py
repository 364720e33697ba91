"""Conversations with a model in a Markdown file: `### @role:` messages and `%` configuration lines."""

from prosa.dialects.dialect import Dialect
from prosa.dialects.prapti.facts import facts
from prosa.dialects.prapti.format import format_edits
from prosa.dialects.prapti.model import ChatMessage, ChatModel, ConfigLine
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.references import definitions, references

__all__ = [
    "DIALECT",
    "ChatMessage",
    "ChatModel",
    "ConfigLine",
    "definitions",
    "facts",
    "format_edits",
    "read",
    "references",
]

DIALECT: Dialect[ChatModel] = Dialect(
    name="prapti",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    format_edits=format_edits,
)
