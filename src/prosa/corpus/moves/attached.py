"""Hashes of attachments that are documents which a move rewrites: one that was true stays true (Y14, Y19, X22).

In: the new texts so far. Out: new texts of records that carry such a hash. A record whose text changes so may be
attached to another one: that is followed too, but not around a circle, which no hashes can close.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping

from prosa.corpus.moves.world import World
from prosa.corpus.moves.writing import write
from prosa.dialects.ymj.model import YmjModel
from prosa.source import Edit, apply_edits

MAX_ROUNDS = 20
"""Records attached to records attached to records; a longer chain is a circle."""


def kept_attachments(
    world: World, digests: Mapping[str, str], texts: Mapping[str, str], model_of: Callable[[str, str | None], YmjModel]
) -> dict[str, str]:
    """The new texts of records, by path. ``digests`` are those of the files before, ``texts`` the new texts, both by
    the old path; ``model_of`` reads a record, with a new text or as it is."""
    attached = _attached(world)
    current, told, made = dict(texts), dict(digests), dict[str, str]()
    waiting = [path for path in texts if path in attached]
    for _ in range(MAX_ROUNDS):
        changed: dict[str, None] = {}
        for path in waiting:
            digest = _digest(current[path])
            for holder in attached[path] if digest != told.get(path) else ():
                model = model_of(holder, current.get(holder))
                text = apply_edits(model.source.text, _edits(model, told[path], digest))
                if text != model.source.text:
                    told.setdefault(holder, model.source.digest)
                    current[holder] = made[holder] = text
                    changed[holder] = None
            told[path] = digest
        waiting = [path for path in changed if path in attached]
        if not waiting:
            break
    return made


def _attached(world: World) -> dict[str, list[str]]:
    """The records that attach each document."""
    found: dict[str, list[str]] = {}
    for record in world.records.values():
        if record.dialect == "ymj":
            for each in record.references:
                to = world.lead(record, each).to if each.rel == "attachment" else None
                if to is not None and to != record.path:
                    found.setdefault(to, []).append(record.path)
    return found


def _edits(model: YmjModel, old: str, new: str) -> Iterator[Edit]:
    """The hash in place of the old one, wherever a list of attachments has it."""
    for each in model.attachments:
        if each.sha256 is not None and each.sha256_span is not None and each.sha256.strip().lower() == old:
            written = write("yaml", each.sha256_span.of(model.source.text), new)  # in double quotes it is JSON as well
            if written is not None:
                yield Edit(each.sha256_span, written)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
