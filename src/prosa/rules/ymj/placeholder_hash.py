"""`placeholder-hash`: something else where a SHA-256 belongs (YA18)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Entry, Mapping, Scalar
from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.ymj.fields import is_sha256
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At each of them: hashes of the body, of attachments, of the previous chunk."""
    model: YmjModel = subject.model
    for entry in _hashes(model):
        value = entry.value
        if isinstance(value, Scalar) and value.text.strip() and not is_sha256(value.text.strip()):
            message = f"`{shown(value.text)}` is not a SHA-256: 64 hexadecimal digits"
            yield Problem("placeholder-hash", message, value.span)


def _hashes(model: YmjModel) -> Iterator[Entry]:
    for found in (model.fields.get("payload_sha256"), model.entries.get("payload_hash")):
        if found is not None:
            yield found
    chunking = model.ops_map("chunking")
    holders: tuple[tuple[Mapping, str], ...] = (
        *((item, "sha256") for item in (*model.catalog_items, *model.ops_items("attachments"))),
        *(((chunking, "prev_sha256"),) if chunking is not None else ()),
    )
    for mapping, name in holders:
        entry = mapping.entry(name)
        if entry is not None:
            yield entry
