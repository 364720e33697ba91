"""Vectors: as the bytes that are kept, how alike two are, and which are nearest. Pure arithmetic, no library needed.

Bytes are 32-bit floats, little endian. A vector without length is like nothing; it never divides by zero (YW7).
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from heapq import nlargest
from operator import mul
from typing import TypeVar

Key = TypeVar("Key")


def to_bytes(vector: Sequence[float]) -> bytes:
    """Return a vector as it is kept."""
    packed = array("f", vector)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def from_bytes(data: bytes) -> Sequence[float]:
    """Return the vector that was kept. Raises ValueError for bytes that are none."""
    packed = array("f")
    packed.frombytes(data)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how alike two vectors of the same length are; 0 where one has no length."""
    size = math.sqrt(sum(map(mul, one, one)) * sum(map(mul, other, other)))
    return sum(map(mul, one, other)) / size if size > 0 and math.isfinite(size) else 0.0


def nearest(query: Sequence[float], kept: Iterable[tuple[Key, bytes]], limit: int) -> list[tuple[Key, float]]:
    """Return the ``limit`` vectors most like ``query``, best first; those of another length are skipped.

    Equal ones keep their order.
    """
    length = len(query) * 4
    scored = [(key, cosine(query, from_bytes(data))) for key, data in kept if len(data) == length]
    return nlargest(limit, scored, key=lambda pair: pair[1])
