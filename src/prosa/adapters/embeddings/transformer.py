"""The encoder of BERT, forward only, and the mean of its last layer as one vector for a text (Vaswani et al. 2017;
Reimers, Gurevych 2019). In: weights and token numbers. Out: vectors of length one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from prosa.adapters.embeddings.weights import Array

EPSILON = 1e-12
HIDDEN_TOKEN = -1e9
"""Added to the score of a padding token, so that its share vanishes."""


class Encoder(Struct, frozen=True):
    """A model: its arrays by name, and how many layers and attention heads it has."""

    weights: Mapping[str, Array]
    layers: int
    heads: int

    def encode(self, texts: Sequence[Sequence[int]]) -> Array:
        """Return one vector for each list of tokens."""
        longest = max(map(len, texts))
        numbers = np.zeros((len(texts), longest), dtype=np.int64)
        mask = np.zeros((len(texts), longest), dtype=np.float32)
        for row, tokens in enumerate(texts):
            numbers[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        hidden = self._embedded(numbers)
        bias = ((1 - mask) * HIDDEN_TOKEN)[:, None, None, :].astype(np.float32)
        for layer in range(self.layers):
            hidden = self._layer(hidden, bias, f"encoder.layer.{layer}.")
        return _unit((hidden * mask[..., None]).sum(1) / mask.sum(1)[:, None])

    def _embedded(self, numbers: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Array:
        words = self.weights["embeddings.word_embeddings.weight"][numbers]
        places = self.weights["embeddings.position_embeddings.weight"][: numbers.shape[1]]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        return self._normal(words + places + kind, "embeddings.LayerNorm")

    def _layer(self, hidden: Array, bias: Array, name: str) -> Array:
        attended = self._linear(
            self._attention(hidden, bias, f"{name}attention.self."), f"{name}attention.output.dense"
        )
        hidden = self._normal(hidden + attended, f"{name}attention.output.LayerNorm")
        inner = _gelu(self._linear(hidden, f"{name}intermediate.dense"))
        return self._normal(hidden + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _attention(self, hidden: Array, bias: Array, name: str) -> Array:
        texts, length, width = hidden.shape
        size = width // self.heads
        query, key, value = (
            self._linear(hidden, name + part).reshape(texts, length, self.heads, size).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        shares = query @ key.transpose(0, 1, 3, 2)
        shares /= np.float32(math.sqrt(size))
        shares += bias
        shares -= shares.max(-1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(-1, keepdims=True)
        mixed: Array = (shares @ value).transpose(0, 2, 1, 3).reshape(texts, length, width).astype(np.float32)
        return mixed

    def _linear(self, hidden: Array, name: str) -> Array:
        # As one large product: numpy multiplies a stack of matrices one by one.
        found: Array = hidden.reshape(-1, hidden.shape[-1]) @ self.weights[f"{name}.weight"].T
        found += self.weights[f"{name}.bias"]
        return found.reshape(*hidden.shape[:-1], -1)

    def _normal(self, hidden: Array, name: str) -> Array:
        found: Array = hidden - hidden.mean(-1, keepdims=True)
        found /= np.sqrt(np.einsum("...i,...i->...", found, found)[..., None] / found.shape[-1] + EPSILON)
        found *= self.weights[f"{name}.weight"]
        found += self.weights[f"{name}.bias"]
        return found


def _gelu(hidden: Array) -> Array:
    """Return the exact form, with the error function. In place: these are the largest arrays."""
    grown = _erf(hidden * np.float32(1 / math.sqrt(2)))
    grown += 1
    grown *= hidden
    grown *= np.float32(0.5)
    return grown


def _erf(value: Array) -> Array:
    """Return the error function, within 1.5e-7 (Abramowitz, Stegun 1964, formula 7.1.26)."""
    size = np.abs(value)
    step = 1 / (1 + np.float32(0.3275911) * size)
    series = np.full_like(step, 1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= step
        series += np.float32(term)
    series *= step
    np.multiply(size, -size, out=size)
    np.exp(size, out=size)
    series *= size
    return np.copysign(1 - series, value)


def _unit(vectors: Array) -> Array:
    """Return vectors of length one; zero vectors stay unchanged."""
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = (vectors / np.where(sizes > 0, sizes, 1)).astype(np.float32)
    return found
