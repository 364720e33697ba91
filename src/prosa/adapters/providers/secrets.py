"""Secrets of an endpoint in what its service says: a reply, a piece of one, an error (X7, X25).

In: the key and the password of an endpoint, and text from its service. Out: the text with `***` in their place. They
are found whole, percent-encoded, as JSON writes them, and cut short: a service may quote the beginning of a key alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import OnText

LEAST = 12
"""Characters of a secret that tell it. A shorter value could not be told from a word, such as `ollama`."""

_PUBLIC = ("sk-ant-api03-", "sk-ant-admin01-", "sk-svcacct-", "sk-or-v1-", "sk-proj-")
"""How all keys of some services begin: that much says nothing, and more than `LEAST` characters tell one of them."""

_BEYOND = 6
"""Characters behind such a beginning that tell a key."""

HIDDEN = "***"


class Secrets(Struct, frozen=True):
    """The ways in which secrets may stand in a text, each with the number of first characters that tell it."""

    forms: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Secrets:
        """Return the forms of the values that are long enough to be secrets."""
        forms: dict[str, int] = {}
        for value in values:
            if value and len(value) >= LEAST:
                public = max((len(prefix) + _BEYOND for prefix in _PUBLIC if value.startswith(prefix)), default=LEAST)
                least = min(len(value), max(LEAST, public))
                encoded = quote(value, safe="")
                for form in (value, encoded, _lower(encoded), json.dumps(value)[1:-1]):
                    forms.setdefault(form, least)
        return cls(tuple(sorted(forms.items(), key=lambda pair: -len(pair[0]))))

    def hidden(self, text: str) -> str:
        """Return the text with `***` for every secret, and for every beginning of one that tells it."""
        if not any(form[:least] in text for form, least in self.forms):
            return text
        return "".join(_without(text, self.forms))

    def reply(self, reply: ModelReply) -> ModelReply:
        """Return a reply without the secrets, and the same one where it has none."""
        if not self.forms or not any(form[:least] in text for form, least in self.forms for text in _texts(reply)):
            return reply
        calls = tuple(
            replace(call, id=self.hidden(call.id), name=self.hidden(call.name), arguments=self.hidden(call.arguments))
            for call in reply.tool_calls
        )
        return replace(
            reply,
            content=self.hidden(reply.content),
            tool_calls=calls,
            model_name=None if reply.model_name is None else self.hidden(reply.model_name),
            refusal=None if reply.refusal is None else self.hidden(reply.refusal),
            opaque=self.hidden(reply.opaque),
        )

    def begins_at_end_of(self, text: str) -> int:
        """Return how many last characters of a text may be the beginning of a secret."""
        return max(
            (
                length
                for form, _ in self.forms
                for length in range(1, min(len(form), len(text)) + 1)
                if text.endswith(form[:length])
            ),
            default=0,
        )


class HidingPieces:
    """Hears the pieces of a reply, and hands them on without secrets. A beginning of one is held back until it is known
    what follows."""

    def __init__(self, secrets: Secrets, on_text: OnText) -> None:
        self._secrets = secrets
        self._on_text = on_text
        self._held = ""

    def __call__(self, text: str) -> None:
        """Take a piece."""
        whole = self._held + text
        end = len(whole) - self._secrets.begins_at_end_of(whole)
        self._held = whole[end:]
        self._hand_on(whole[:end])

    def end(self) -> None:
        """Hand on what is held back."""
        held, self._held = self._held, ""
        self._hand_on(held)

    def _hand_on(self, text: str) -> None:
        if text:
            self._on_text(self._secrets.hidden(text))


def _without(text: str, forms: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Yield the parts of a text with `***` between them, in place of a secret and of its beginnings."""
    starts = re.compile("|".join({re.escape(form[:least]) for form, least in forms}))
    done = 0
    while (match := starts.search(text, done)) is not None:
        at = match.start()
        yield text[done:at]
        yield HIDDEN
        done = at + max(_shared(form, text, at) for form, least in forms if text.startswith(form[:least], at))
    yield text[done:]


def _shared(form: str, text: str, at: int) -> int:
    """Return how many characters of a form stand in a text from an offset on."""
    return next((length for length, char in enumerate(form) if text[at + length : at + length + 1] != char), len(form))


def _texts(reply: ModelReply) -> Iterable[str]:
    yield from (reply.content, reply.opaque, reply.refusal or "", reply.model_name or "")
    for call in reply.tool_calls:
        yield from (call.id, call.name, call.arguments)


def _lower(encoded: str) -> str:
    """Return percent-encoded text with the digits a to f in lower case."""
    first, *rest = encoded.split("%")
    return "%".join((first, *(part[:2].lower() + part[2:] for part in rest)))
