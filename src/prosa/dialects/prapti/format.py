"""The normal form of a chat: a colon behind every role (PA2), a space behind every percent sign. Nothing else moves."""

from __future__ import annotations

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.prapti.model import ChatModel
from prosa.source import Edit, Span


def format_edits(model: ChatModel, options: FormatOptions) -> tuple[Edit, ...]:
    """The edits that bring a chat to its normal form."""
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
