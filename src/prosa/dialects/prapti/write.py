"""Chats as text: a new chat, and what is written below one that people edit (P3).

In: messages, or the text of a chat. Out: messages under their headings, one blank line around each; the separator
between a chat and a heading below it, including a line that closes an open fence or block of HTML; the line end of a
file, and the place of lines written earlier. Lines are compared without trailing blanks, since editors remove those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from msgspec import Struct

from prosa.data import Value
from prosa.dialects.front import read_front
from prosa.dialects.prapti.content import sent_text
from prosa.dialects.prapti.model import ChatMessage
from prosa.dialects.prapti.read import read
from prosa.document import Document, parse
from prosa.regex import regex
from prosa.source import SourceText, Span

_ENDS_COMMENT = regex(r"[<>]|(?<=-)-")


class NewMessage(Struct, frozen=True):
    """A message to write. ``content`` is text that holds no message heading of its own."""

    role: str
    content: str = ""
    name: str | None = None


def heading(role: str, name: str | None = None) -> str:
    """Return the heading line of a message, without its line end."""
    return f"### @{role}{f'/{name}' if name else ''}:"


def is_another(asked: str, answered_by: str | None) -> bool:
    """Return whether another model answered than the requested one. A dated name of the same model
    (`gpt-4o-2024-08-06` for `gpt-4o`) is the same."""
    return answered_by is not None and answered_by != asked and not answered_by.startswith(f"{asked}-")


def reply_note(answered_by: str | None = None, *, cut: bool = False) -> str:
    """Return the comment below a reply that names its model and says if it was cut off; empty if neither applies.

    Comments are never sent (PA13), and no text inside can end this one.
    """
    note: dict[str, Value] = {"answered_by": answered_by} if answered_by is not None else {}
    if cut:
        note["cut"] = True
    if not note:
        return ""
    text = _ENDS_COMMENT.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(note))
    return f"<!-- reply {text} -->"


def write(messages: Sequence[NewMessage], *, head: str = "") -> str:
    """Return the text of a chat that starts with ``head``, for example configuration lines."""
    blocks = [head.strip()] if head.strip() else []
    for message in messages:
        blocks.append(heading(message.role, message.name))
        if message.content.strip():
            blocks.append(message.content.strip())
    return "\n\n".join(blocks) + "\n"


_CLOSING = ("-->", "?>", "]]>", "</script>", "</style>", "</pre>", "</textarea>", ">")
"""The ends of the blocks of HTML that a blank line does not end (CommonMark 4.6)."""

_PROBE = "### @user:"


def closing(document: Document) -> str:
    """Return the line to write first, without its line end; empty where nothing is open."""
    text, end = document.source.text, document.body.end
    last = len(text[document.body.start : end].rstrip()) + document.body.start
    fence = document.fences[-1] if document.fences else None
    if fence is not None and not fence.closed and not fence.nested and fence.span.end >= last:
        return fence.open_fence
    block = next((html for html in reversed(document.html) if html.block), None)
    if block is None or block.span.end < last:
        return ""
    body = text[document.body.start : end].rstrip()
    return next((mark for mark in ("", *_CLOSING) if _is_closed(f"{body}\n{mark}")), "")


def _is_closed(text: str) -> bool:
    """Return whether a heading below a text is one."""
    whole = f"{text}\n\n{_PROBE}\n"
    headings = parse(SourceText(whole), body=Span(0, len(whole))).headings
    return bool(headings) and headings[-1].span.start == len(text) + 2 and not headings[-1].nested


_LINE = regex(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_BLANKS = " \t"
_ASSISTANT, _USER = heading("assistant"), heading("user")
_FURTHEST = "---"
"""Everything with a remote effect in a reply, even if escaped: in code it still ends front matter (X1)."""
_MARK = "\ufeff"


def separator(text: str) -> str:
    """Return what to write behind a text so that a message heading below it is one, with a blank line between, lines
    ending with a line feed: the end of an open line, the mark that closes an open fence, a blank line."""
    if not text.removeprefix(_MARK).strip():
        return "" if text in ("", _MARK) or text.endswith(("\n", "\r")) else "\n"
    joining = _separator(text)
    # Behind a lone CR a line feed would only make one line end of both.
    return f"\n{joining}" if text.endswith("\r") and joining[:1] == "\n" == line_end(text) else joining


def _separator(text: str) -> str:
    """Return the separator for a non-empty text, as if line ends were all alike."""
    source = SourceText(text)
    mark = closing(parse(source, body=read_front(source).body))
    last, before = _ending(text)
    if mark:
        return f"\n{mark}\n\n" if last else f"{mark}\n\n"
    if last:
        return "\n\n" if last.strip(_BLANKS) else "\n"
    return "" if not before.strip(_BLANKS) else "\n"


def keeps(text: str, whole: str, more: int) -> bool:
    """Return whether ``whole``, which begins with ``text``, reads as the messages of ``text`` and ``more`` further
    ones (X19).

    Text below can affect an open text above: a line `---` ends front matter that was never closed, and removes its
    content. The last message of ``text`` may continue in ``whole``.
    """
    (opened, before), (opened_after, after) = _messages(text), _messages(whole)
    if opened != opened_after or len(after) != len(before) + more:
        return False
    *same, last = before
    ongoing = after[len(same)]
    return (
        all(_same(one, other) for one, other in zip(same, after, strict=False))
        and (ongoing.heading, ongoing.disabled) == (last.heading, last.disabled)
        and ongoing.content.startswith(last.content)
        and [span.start for span in ongoing.removed[: len(last.removed)]] == [span.start for span in last.removed]
    )


def takes_replies(text: str) -> bool:
    """Return whether any reply can stand below a chat: the reading of the one that reaches furthest decides."""
    reply = f"{separator(text)}{_ASSISTANT}\n\n{_FURTHEST}\n\n{_USER}\n"
    return keeps(text, text + reply.replace("\n", line_end(text)), 2)


def _same(one: ChatMessage, other: ChatMessage) -> bool:
    """Return whether two messages of texts with the same beginning are the same."""
    return (one.heading, one.body, one.content, one.removed) == (
        other.heading,
        other.body,
        other.content,
        other.removed,
    )


def line_end(text: str) -> str:
    """Return the line end that a text has; of several the most frequent one, and a line feed where there is none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda ending: counts[ending])


def find_lines_below(lines: Sequence[str], text: str) -> Span | None:
    """Return where these consecutive lines are in a text, the last place of several. The span ends before the
    last line end."""
    wanted = [line.rstrip() for line in lines]
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted:
        return None
    places = [match.span(1) for match in _LINE.finditer(text)]
    if text.startswith(_MARK):
        places[0] = (len(_MARK), places[0][1])
    stripped = [text[start:end].rstrip() for start, end in places]
    for at in range(len(stripped) - len(wanted), -1, -1):
        if all(stripped[at + number] == line for number, line in enumerate(wanted)):
            return Span(places[at][0], places[at + len(wanted) - 1][1])
    return None


def says_the_same(one: str, other: str) -> bool:
    """Return whether two chats are made of the same messages with the same configuration; comments and blank space
    aside."""
    return _said(one) == _said(other)


def _messages(text: str) -> tuple[bool, tuple[ChatMessage, ...]]:
    """Return whether a chat has front matter, and its messages."""
    source = SourceText(text)
    front = read_front(source)
    return front.present, read(front, parse(source, body=front.body))[0].messages


def _said(text: str) -> list[tuple[str, str | None, str, list[str]]]:
    source = SourceText(text)
    front = read_front(source)
    document = parse(source, body=front.body)
    messages = (message for message in read(front, document)[0].messages if not message.disabled)
    rows = (
        (message, sent_text(message, document, {}), [line.raw.strip() for line in message.in_effect()])
        for message in messages
    )
    return [(message.role, message.name, text, lines) for message, text, lines in rows if text or lines]


def _ending(text: str) -> tuple[str, str]:
    """Return the last line, empty where the text ends with a line end, and the one before it."""
    tail = re.split(r"\r\n|\n|\r", text)
    return tail[-1], tail[-2] if len(tail) > 1 else ""
