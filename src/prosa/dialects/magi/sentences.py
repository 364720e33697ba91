"""The sentences of `relationships` (M21, MA19): the footnotes of a document said for people, and whether the list in
the front matter still says what they say.

In: a model. Out: the sentences that its footnotes make, and those of the list that speak of none of them. The author
may say it in other words: a sentence of another form only has to share a word with a footnote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.dialects.magi.model import MagiModel, Relationship
from prosa.dialects.magi.names import squashed
from prosa.dialects.magi.rel_types import REL_TYPES
from prosa.dialects.words import words

FIELD = "relationships"

_WORD_BREAK = re.compile(r"[-_]+")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """``wrong`` are the sentences in the form of `sentence` that no footnote makes, ``foreign`` those in other words
    that share none with any footnote, ``left_out`` the relationships that a list of nothing but made sentences does
    not have."""

    wrong: tuple[Scalar, ...] = ()
    foreign: tuple[Scalar, ...] = ()
    left_out: tuple[Relationship, ...] = ()


def sentence(relationship: Relationship) -> str:
    """`Extends: What it adds to the plan`: the type, then the description, else the target; empty without a type."""
    fields = relationship.fields
    said = next((text for name in ("rel-desc", "doc-id", "source-url") if (text := _line(fields.text(name)))), "")
    kind = _line(_WORD_BREAK.sub(" ", fields.text("rel-type") or ""))
    return f"{kind[:1].upper()}{kind[1:]}: {said}" if kind and said else ""


def sentences(model: MagiModel) -> tuple[str, ...]:
    """The sentences of all footnotes in their order, each once."""
    return tuple(dict.fromkeys(made for each in model.relationships if (made := sentence(each))))


def listed(model: MagiModel) -> Entry | None:
    """The field as written, whatever is wrong with it; the first of several spellings (MA21)."""
    entries = model.front.fields.entries if model.front.fields is not None else ()
    return next((entry for entry in entries if squashed(entry.key.text) == FIELD), None)


def items_of(value: Node) -> tuple[Scalar, ...] | None:
    """The sentences of the field; None where it holds anything else. A single text is a list of one (MA17)."""
    if isinstance(value, Mapping):
        return None
    items = value.items if isinstance(value, Sequence) else (value,)
    scalars = tuple(item for item in items if isinstance(item, Scalar))
    if len(scalars) != len(items):
        return None
    return tuple(item for item in scalars if item.value is not None)


def disagreement(model: MagiModel) -> Disagreement:
    """Where the list and the footnotes disagree; nowhere without a list."""
    entry = listed(model)
    items = items_of(entry.value) if entry is not None else None
    if items is None:
        return Disagreement()
    made = frozenset(sentences(model))
    other = [item for item in items if _line(item.text) not in made]
    kinds = _kinds(model)
    free = [item for item in other if _kind(item.text) not in kinds]
    known = frozenset(word for each in model.relationships for word in _words_of(each))
    written = frozenset(("", *(_line(item.text) for item in items)))
    return Disagreement(
        wrong=tuple(item for item in other if _kind(item.text) in kinds),
        foreign=tuple(item for item in free if known and known.isdisjoint(words(item.text))),
        left_out=() if free else tuple(each for each in model.relationships if sentence(each) not in written),
    )


def _kinds(model: MagiModel) -> frozenset[str]:
    """What may stand before the colon of a made sentence."""
    own = (each.fields.text("rel-type") or "" for each in model.relationships)
    return frozenset(map(_folded, (*REL_TYPES, *own))) - {""}


def _words_of(relationship: Relationship) -> Iterator[str]:
    fields, context = relationship.fields, relationship.context
    for name in ("rel-type", "rel-desc", "doc-id", "source-url"):
        yield from words(fields.text(name) or "")
    for name in ("section", "relevance"):
        yield from words(context.text(name) or "")
    yield from words(relationship.label)


def _kind(text: str) -> str:
    """What stands before the colon of a made sentence, as it is compared."""
    kind, colon, _ = _line(text).partition(": ")
    return _folded(kind) if colon else ""


def _folded(kind: str) -> str:
    return _line(_WORD_BREAK.sub(" ", kind)).casefold()


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
