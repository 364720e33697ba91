"""The embedding in the footer of a record (Y10, Y11): read with its model and age, and replaced.

The vector stands in `index.embedding`, the model in `ai.embedding_model` (older tools wrote `index.model`), and
`ai.embedding_id` holds `sha256:` and the hash of the body that was embedded. A vector whose body has changed since is
stale; without a hash, the record's hash of its body decides (YW7).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar, Value, to_value
from prosa.data import Sequence as ListNode
from prosa.dialects.front import read_front
from prosa.dialects.ymj.edits import inserted, replaced
from prosa.dialects.ymj.format import hash_edits, payload_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.read import markdown, read
from prosa.document import parse
from prosa.source import Edit, SourceText, apply_edits

MAX_DIMENSION = 16_384
"""Numbers of a vector; no model has more."""

DIGITS = 7
"""Significant digits that are written: what a 32-bit float holds."""

HASH_PREFIX = "sha256:"


class FooterEmbedding(Struct, frozen=True):
    """A vector in a footer. ``model_name`` is empty where nothing names it: it is comparable with no other then."""

    vector: tuple[float, ...]
    model_name: str
    fresh: bool


def embedding_of(model: YmjModel) -> FooterEmbedding | None:
    """Return the vector of a record; None where there is none that is a list of finite numbers."""
    index, ai = _object(model, "index"), _object(model, "ai")
    numbers = index.get("embedding") if index is not None else None
    vector = _vector(numbers) if isinstance(numbers, ListNode) else ()
    if not vector:
        return None
    name = _text(ai, "embedding_model") or _text(index, "model")
    return FooterEmbedding(vector, name, _is_fresh(model, _text(ai, "embedding_id")))


def with_embedding(source: SourceText, vector: Sequence[float], model_name: str) -> str:
    """Return the text of a record with this vector, its model, and the hashes that X22 allows to be written.

    Raises ValueError for a text that is no record with a readable footer. Everything else stays byte for byte.
    """
    body = _model(source).body_sha256
    numbers: Value = [float(f"{number:.{DIGITS}g}") for number in vector]
    steps: tuple[Callable[[YmjModel], Sequence[Edit]], ...] = (
        hash_edits,
        lambda model: _set(model, "index", "embedding", numbers),
        lambda model: _set(model, "ai", "embedding_model", model_name),
        lambda model: _set(model, "ai", "embedding_id", f"{HASH_PREFIX}{body}"),
    )
    return _stepped(source, steps)


def with_hash(source: SourceText) -> str:
    """Return the text of a record with the hash of its body, where X22 allows that it is written."""
    return _stepped(source, (hash_edits,))


def _stepped(source: SourceText, steps: Sequence[Callable[[YmjModel], Sequence[Edit]]]) -> str:
    """Return one change after the other, each on what the one before has left: they may touch the same place."""
    text = source.text
    for step in steps:
        text = apply_edits(text, step(_model(SourceText(text, source.path))))
    return text


def _set(model: YmjModel, section: str, key: str, value: Value) -> tuple[Edit, ...]:
    """Return the edit that makes ``section.key`` of the footer ``value``."""
    assert model.footer is not None
    entry, text = model.footer.node.entry(section), model.source.text
    if entry is None:
        after = next((name for name in ("index", "payload_hash", "schema") if model.footer.node.entry(name)), None)
        return (inserted(text, model.footer.node, section, {key: value}, after=after),)
    if not isinstance(entry.value, Mapping):
        return (replaced(entry, {key: value}),)
    old = entry.value.entry(key)
    if old is None:
        return (inserted(text, entry.value, key, value, after=_last(entry.value)),)
    return () if _same(old, value) else (replaced(old, value),)


def _same(entry: Entry, value: Value) -> bool:
    return json.dumps(to_value(entry.value)) == json.dumps(value)


def _last(mapping: Mapping) -> str | None:
    return mapping.entries[-1].key.text if mapping.entries else None


def _model(source: SourceText) -> YmjModel:
    front = read_front(source)
    model = read(front, parse(source, body=markdown(front)))[0]
    if model.footer is None or not model.footer.sound or not model.footer.claimed:
        raise ValueError("the record has no footer that can be read")
    return model


def _is_fresh(model: YmjModel, recorded: str) -> bool:
    if recorded.startswith(HASH_PREFIX):
        return recorded.removeprefix(HASH_PREFIX).lower() == model.body_sha256
    return payload_hash(model).verified


def _object(model: YmjModel, name: str) -> Mapping | None:
    entry = model.entries.get(name)
    return entry.value if entry is not None and isinstance(entry.value, Mapping) else None


def _text(mapping: Mapping | None, name: str) -> str:
    value = mapping.get(name) if mapping is not None else None
    return value.value if isinstance(value, Scalar) and isinstance(value.value, str) else ""


def _vector(node: ListNode) -> tuple[float, ...]:
    if len(node.items) > MAX_DIMENSION:
        return ()
    numbers = [item.value for item in node.items if isinstance(item, Scalar)]
    if len(numbers) != len(node.items) or not all(map(_is_finite, numbers)):
        return ()
    return tuple(float(number) for number in numbers if isinstance(number, int | float))


def _is_finite(number: Value) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False
