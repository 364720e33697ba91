"""Quick making of frozen values. In: a frozen dataclass with slots. Out: what sets each of its fields.

The `__init__` that `dataclasses` writes for a frozen class sets every field by name and takes two to four times as long
as one that uses these. Only the few classes of which every document makes dozens have one of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def setters(cls: type[DataclassInstance]) -> tuple[Callable[[Any, Any], None], ...]:
    """What sets each field of a frozen slotted dataclass, in order; for its own `__init__` alone."""
    return tuple(getattr(cls, each.name).__set__ for each in fields(cls))
