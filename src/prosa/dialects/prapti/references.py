"""What a chat points at: the files it includes (P10). Its links are those of any Markdown document."""

from __future__ import annotations

from prosa.data import JsonError, parse_json
from prosa.dialects.prapti.model import ChatModel, ConfigLine
from prosa.document import Def, Ref
from prosa.source import Span

INCLUDES = ("include", "include.code")
"""The actions that put a file into a message (PA11)."""


def references(model: ChatModel) -> tuple[Ref, ...]:
    """The included files, relative to the chat."""
    targets = (included(line) for line in model.actions if line.name in INCLUDES)
    return tuple(Ref("include", target[0], "path", target[1]) for target in targets if target is not None)


def definitions(model: ChatModel) -> tuple[Def, ...]:
    """A chat has no name but its path."""
    del model
    return ()


def included(line: ConfigLine) -> tuple[str, Span] | None:
    """The file that an action includes, and where it is written: JSON text, or the first word."""
    args = line.args
    if not args:
        return None
    if not args.startswith('"'):
        word = args.split()[0]
        return word, Span(line.value_span.start, line.value_span.start + len(word))
    end = args.find('"', 1) + 1
    try:
        target = parse_json(args[:end]) if end else None
    except JsonError:
        return None
    if not isinstance(target, str) or not target:
        return None
    return target, Span(line.value_span.start + 1, line.value_span.start + end - 1)
