"""Conversations with a model in a Markdown file: `### @role:` messages and `%` configuration lines."""

from prosa.dialects.prapti.facts import facts
from prosa.dialects.prapti.format import format_edits
from prosa.dialects.prapti.model import ChatMessage, ChatModel, ConfigLine
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.references import definitions, references

__all__ = [
    "ChatMessage",
    "ChatModel",
    "ConfigLine",
    "definitions",
    "facts",
    "format_edits",
    "read",
    "references",
]
