"""The hashes of a record's body (Y10, Y18, YA2–YA4, X22). Nothing is changed here.

`payload_hash` stands in the footer, the deprecated `payload_sha256` in the header; both mean the same bytes.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar
from prosa.dialects.ymj.fields import is_sha256
from prosa.dialects.ymj.model import YmjModel

State: TypeAlias = Literal["absent", "placeholder", "matches", "legacy", "differs"]


class StoredHash(Struct, frozen=True):
    """A stored hash: its field, its entry (None if absent), and whether it matches the body."""

    name: str
    entry: Entry | None
    state: State

    @property
    def text(self) -> str:
        """The hash in lower case, or an empty string."""
        value = self.entry.value if self.entry else None
        return value.text.strip().lower() if isinstance(value, Scalar) else ""

    @property
    def verified(self) -> bool:
        """Whether it was computed from this body, whole or trimmed."""
        return self.state in ("matches", "legacy")


def in_the_form_of(stored: StoredHash, before: YmjModel, after: YmjModel) -> str:
    """Return the hash of the body of ``after``, of the whole or of the trimmed one, whichever ``stored`` is of
    ``before``, of which it is verified (X22)."""
    return hash_forms(after)[hash_forms(before).index(stored.text)]


def hash_forms(model: YmjModel) -> tuple[str, ...]:
    """Return the hashes that a verified record may have: that of the whole body first."""
    return model.body_sha256, *model.legacy


def payload_hash(model: YmjModel) -> StoredHash:
    """Return the hash of the footer."""
    return _stored(model, "payload_hash", model.footer.node if model.footer else None)


def header_hash(model: YmjModel) -> StoredHash:
    """Return the deprecated hash of the header."""
    return _stored(model, "payload_sha256", model.header)


def _stored(model: YmjModel, name: str, mapping: Mapping | None) -> StoredHash:
    entry = mapping.entry(name) if mapping is not None else None
    return StoredHash(name, entry, _state(model, entry))


def _state(model: YmjModel, entry: Entry | None) -> State:
    value = entry.value if entry else None
    if value is None or (isinstance(value, Scalar) and (value.value is None or not value.text.strip())):
        return "absent"
    if not isinstance(value, Scalar):
        return "placeholder"
    text = value.text.strip().lower()
    if not is_sha256(text):
        return "placeholder"
    if text == model.body_sha256:
        return "matches"
    return "legacy" if text in model.legacy else "differs"
