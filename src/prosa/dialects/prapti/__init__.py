"""Conversations with a model in a Markdown file: `### @role:` messages and `%` configuration lines.

interface.md fixes the keys that `prosa show --format json` adds for a chat. The normal form has a colon behind every
role (PA2) and a space behind every percent sign; nothing else moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.dialects.dialect import Dialect, FormatOptions
from prosa.dialects.prapti.commands import definitions, references
from prosa.dialects.prapti.model import ChatMessage, ChatModel, ConfigLine
from prosa.dialects.prapti.read import read
from prosa.source import Edit, SourceText, Span

if TYPE_CHECKING:
    from prosa.dialects.facts import ChatTurn, ConfigurationLine, PraptiFacts

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


def facts(model: ChatModel) -> PraptiFacts:
    """Return ``messages``, ``assignments`` and ``sent``. Lines count from 1; `_head` stands on line 0."""
    source = model.source
    return {
        "dialect": "prapti",
        "messages": [_message(message, source) for message in model.messages],
        "assignments": [
            {"key": line.key, "value": _value(line), "line": _line(source, line), "source": source.path}
            for line in model.assignments
        ],
        "sent": [at for at, message in enumerate(model.messages) if message.sent],
    }


def _message(message: ChatMessage, source: SourceText) -> ChatTurn:
    return {
        "role": message.role,
        "name": message.name,
        "hidden": message.hidden,
        "disabled": message.disabled,
        "line": source.position(message.heading.start).line if message.heading else 0,
        "content": message.content,
        "config": [_config(line, source) for line in message.config],
    }


def _config(line: ConfigLine, source: SourceText) -> ConfigurationLine:
    return {
        "kind": line.kind,
        "key": line.key,
        "raw": line.raw,
        "value": _value(line),
        "name": line.name,
        "args": line.args if line.kind == "action" else None,
        "line": _line(source, line),
        "disabled": line.disabled,
    }


def _value(line: ConfigLine) -> Value:
    """Return the literal; a variable reference as it is written."""
    return f"var({line.variable})" if line.variable else line.value


def _line(source: SourceText, line: ConfigLine) -> int:
    return source.position(line.span.start).line


def format_edits(model: ChatModel, options: FormatOptions) -> tuple[Edit, ...]:
    """Return the edits that bring a chat to its normal form."""
    del options
    text = model.source.text
    edits: list[Edit] = []
    for message in model.messages:
        if not message.colon:
            edits.append(Edit(Span(message.role_span.end, message.role_span.end), ":"))
        for line in message.config:
            after = text.index("%", line.span.start) + 1
            after += text.startswith("%", after)
            if not text[after].isspace():
                edits.append(Edit(Span(after, after), " "))
    return tuple(edits)


DIALECT: Dialect[ChatModel] = Dialect(
    name="prapti",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    format_edits=format_edits,
)
