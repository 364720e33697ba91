"""Public keys in a file of the form of `mda-keys.json` (§09-5), and what a signature is of: DSSE (§09-3).

A file says nothing of whose keys they are; the user does, as `DOMAIN=FILE`, or by naming one file alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

from msgspec import Struct

from prosa.data import Mapping as Object
from prosa.data import Scalar, Sequence, read_json, to_value
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.dialects.magi.fields import read_date
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.fields import DEFAULT_PAYLOAD, SIGNATURE_ALGORITHMS
from prosa.dialects.mda.model import MdaModel, Signature
from prosa.source import Span


class PublicKey(Struct, frozen=True):
    """A key. ``domain`` is the one whose key it is, None where the user does not say."""

    id: str
    algorithm: str
    text: str
    domain: str | None = None
    begins: datetime | None = None
    ends: datetime | None = None

    def holds(self, now: datetime) -> bool:
        """Return whether the key may be used at a time."""
        return (self.begins is None or self.begins <= now) and (self.ends is None or now <= self.ends)


def _moment(text: str) -> str | None:
    read = read_date(text.upper())
    good = read is not None and read.timed and read.zoned
    return None if good else "must be a date with time and zone such as `2026-01-15T09:00:00Z`"


def _filled(text: str) -> str | None:
    return None if text else "is empty"


_KEY = (
    Field("key-id", "text", required=True, form=_filled),
    Field("algorithm", "text", required=True, choices=SIGNATURE_ALGORITHMS),
    Field("public-key", "text", required=True, form=_filled),
    Field("not-before", "text", form=_moment),
    Field("not-after", "text", form=_moment),
)
_FILE = (Field("keys", "mappings", required=True),)


def read_keys(text: str, domain: str | None) -> tuple[tuple[PublicKey, ...], tuple[Problem, ...]]:
    """Return the keys of a file, and what is wrong with it."""
    reading = read_json(text)
    if reading.problems or not isinstance(reading.node, Object):
        whole = Problem("json-syntax", "a file with keys is one JSON object", Span(0, 0))
        return (), reading.problems or (whole,)
    problems = tuple(_problems(reading.node))
    if problems:
        return (), problems
    keys = cast("dict[str, list[dict[str, str]]]", to_value(reading.node))["keys"]  # nothing is wrong with them
    return tuple(_key(key, domain) for key in keys), ()


def _problems(node: Object) -> Iterator[Problem]:
    owner = Owner("a file with keys", Span(node.span.start, node.span.start + 1), unknown=Severity.ERROR)
    yield from read_fields(node, _FILE, owner)[1]
    keys = node.get("keys")
    items = keys.items if isinstance(keys, Sequence) else ()
    if isinstance(keys, Sequence) and not items:
        yield Problem("wrong-form", "`keys` has at least one key", keys.span)
    for item in items:
        if isinstance(item, Object):
            anchor = Span(item.span.start, item.span.start + 1)
            yield from read_fields(item, _KEY, Owner("a key", anchor, unknown=Severity.ERROR))[1]
            for entry in item:
                if isinstance(entry.value, Scalar) and entry.value.value is None:
                    yield Problem("wrong-type", f"`{entry.key.text}` has no value", entry.key.span)


def _key(data: dict[str, str], domain: str | None) -> PublicKey:
    begins, ends = (_time(data.get(name)) for name in ("not-before", "not-after"))
    return PublicKey(data["key-id"], data["algorithm"], data["public-key"], domain, begins, ends)


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text.upper()).astimezone(UTC) if text is not None else None


def signed_bytes(model: MdaModel, signature: Signature) -> bytes:
    """Return what a signature is of: the type of what is signed, and the integrity of the document (§09-3.1)."""
    kind = (signature.payload_type or DEFAULT_PAYLOAD).encode()
    payload = canonical(model.value("integrity"))
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
