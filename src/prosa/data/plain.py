"""Plain data as it is where it is only read: any sequences and mappings, so that a list of dictionaries is some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Readable: TypeAlias = "bool | int | float | str | Sequence[Readable] | Mapping[str, Readable] | None"
