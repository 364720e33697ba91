"""The weights of a model in a `safetensors` file: a JSON head with the place of every array, then the arrays.

In: a path and the required digest: unverified weights are not used. Out: arrays of 32-bit floats by name. Nothing in
the file is executed; the format cannot hold code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prosa.data import Value

Array = NDArray[np.float32]

HEAD_BYTES = 8
MAX_HEAD = 1 << 20


class WrongWeights(ValueError):
    """The file is not the one that was pinned, or no safetensors file."""


def load_weights(path: Path, digest: str) -> Mapping[str, Array]:
    """Return the arrays of a file. Raises `WrongWeights`, and `OSError` for a file that cannot be read."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise WrongWeights(f"{path.name} is not the model that Prosa knows: its SHA-256 differs")
    size = int.from_bytes(data[:HEAD_BYTES], "little")
    if size > MAX_HEAD:
        raise WrongWeights(f"{path.name} has a head of {size} bytes")
    head: dict[str, Value] = json.loads(data[HEAD_BYTES : HEAD_BYTES + size])
    start = HEAD_BYTES + size
    return {
        name: _array(data, start, entry)
        for name, entry in head.items()
        if isinstance(entry, dict) and entry.get("dtype") == "F32"
    }


def _array(data: bytes, start: int, entry: Mapping[str, Value]) -> Array:
    first, end = entry["data_offsets"]
    count = (end - first) // 4
    return np.frombuffer(data, dtype="<f4", count=count, offset=start + first).reshape(entry["shape"])
