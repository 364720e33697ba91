"""Chats: messages under headings, with configuration in front (P2–P14).

A document that is no conversation becomes one message: of the system if it instructs, else of the user. A chat stores
data for other forms in its front matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from prosa.convert.body import BODY, chat_body, chat_model, messages_of
from prosa.convert.form import At, Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import WORDED, document, own_and_slots, read_part, with_carry
from prosa.convert.neutral import NO_CARRY, Carry, FormName, Marks, Note, Piece, Said, TextKind, carry_of, same
from prosa.data import Value
from prosa.dialects.prapti.fields import setting_of, wrong_type
from prosa.dialects.prapti.model import ChatModel
from prosa.source import SourceText, Span

INSTRUCTING: tuple[FormName, ...] = ("skill", "command", "agent", "instructions")

SAMPLING = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "max_tokens",
    "seed",
    "stop",
    "n",
)
"""What a chat, a request and a prompt file say of how a model answers, by the names of the service."""


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the chat. Raises `NotConvertible`."""
    part = read_part(source, "chat", ())
    carry = carry_of(part.carry) or NO_CARRY
    marks = marks or carry.marks
    model = chat_model(source, Span(part.offset, len(source.text)))
    messages, slots = messages_of(model), _settings(model)
    own = dict(part.own)
    if chat_body(messages, _head(slots)) != part.body.removeprefix("" if part.bare else "\n"):
        own[BODY] = part.body
    template: TextKind = "go" if marks.template else "text"
    piece = Piece("chat", slots, messages, template, {"chat": own} if own else {}, part.bare)
    return FormReading(piece, carry, {**part.places, **_places(model)})


def _places(model: ChatModel) -> dict[str, At]:
    """Return where messages start, and the lines that configure something."""
    shown = [message for message in model.messages if message.heading is not None or message.content.strip()]
    starts = (message.heading.start if message.heading else message.body.start for message in shown)
    places = {f"text/{number}": At(start) for number, start in enumerate(starts)}
    return places | {_slot_of(line.key): At(line.span.start) for line in model.assignments}


def _slot_of(key: str | None) -> str:
    return "model" if key == "model" else "sampling"


def _settings(model: ChatModel) -> dict[str, Value]:
    """Return the model and the sampling that lines in front of the first message set."""
    head = next((message for message in model.messages if message.heading is None), None)
    values = {line.key: line.value for line in head.in_effect() if line.kind == "assign"} if head else {}
    sampling = {name: values[name] for name in SAMPLING if values.get(name) is not None and fits(name, values[name])}
    settings: dict[str, Value] = {"sampling": sampling} if sampling else {}
    return settings | ({"model": values["model"]} if isinstance(values.get("model"), str) else {})


def fits(name: str, value: Value) -> bool:
    """Return whether a chat can set this to that."""
    setting = setting_of(f"vars.{name}")
    return setting is not None and wrong_type(setting, value) is None


def _head(slots: Mapping[str, Value]) -> list[str]:
    sampling = slots.get("sampling")
    values = {"model": slots.get("model"), **(sampling if isinstance(sampling, dict) else {})}
    return [
        f"% {name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if value is not None and fits(name, value)
    ]


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the chat."""
    del context
    messages, notes = as_messages(piece)
    head = _head(piece.slots)
    body = chat_body(messages, head)
    worded = piece.own_of("chat").get(BODY)
    if isinstance(worded, str):
        model = chat_model(SourceText(worded), Span(0, len(worded)))
        wanted = _settings(chat_model(SourceText(body), Span(0, len(body))))
        if messages_of(model) == messages and same(_settings(model), wanted):
            body = worded
    fields = own_and_slots(piece, "chat", (), {})
    text = document(with_carry(fields, carry), body, bare=True, worded=piece.own_of("chat").get(WORDED))
    return NewDocument(text, Marks(template=piece.template == "go"), notes)


def as_messages(piece: Piece) -> tuple[tuple[Said, ...], tuple[Note, ...]]:
    """Return the messages of a piece; a text without a role gets one, with a note."""
    if piece.is_conversation:
        return piece.said, ()
    role = "system" if piece.form in INSTRUCTING else "user"
    note = Note("guessed", "roles", f"the text is a message of the role `{role}`")
    return (replace(piece.said[0], role=role),), (note,)


def sendable(messages: Sequence[Said]) -> tuple[Said, ...]:
    """Return the messages to send: without hidden and disabled ones, and without the empty one at the end for
    the next turn."""
    sent = [message for message in messages if message.role in ("system", "user", "assistant")]
    while sent and not sent[-1].text:
        sent.pop()
    return tuple(sent)


FORM = Form(name="chat", read=read, write=write, carrier="/prosa")
