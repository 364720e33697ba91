"""The local model, on weights made here: a tiny one stands for the real one, whose file is pinned by its digest."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from prosa.adapters.embeddings import local, missing_part
from prosa.adapters.embeddings.local import Encoder, LocalEmbedder, WrongWeights, _erf, load_weights, tokens
from prosa.corpus.errors import EmbeddingError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tide", "##s", "high", "water", ",", "cafe", "潮", "un", "##able"]
VOCABULARY = {word: at for at, word in enumerate(WORDS)}
WIDTH, LAYERS, HEADS = 8, 2, 2


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)

    def made(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.4, shape).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": made(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": made(300, WIDTH),
        "embeddings.token_type_embeddings.weight": made(2, WIDTH),
        "embeddings.LayerNorm.weight": made(WIDTH),
        "embeddings.LayerNorm.bias": made(WIDTH),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        for part, size in (("attention.output.LayerNorm", WIDTH), ("output.LayerNorm", WIDTH)):
            found |= {f"{name}{part}.weight": made(size), f"{name}{part}.bias": made(size)}
        linear = [(f"attention.self.{part}", WIDTH, WIDTH) for part in ("query", "key", "value")]
        linear += [("attention.output.dense", WIDTH, WIDTH)]
        linear += [("intermediate.dense", 2 * WIDTH, WIDTH), ("output.dense", WIDTH, 2 * WIDTH)]
        for part, out, into in linear:
            found |= {f"{name}{part}.weight": made(out, into), f"{name}{part}.bias": made(out)}
    return found


def write_weights(path: Path) -> str:
    """A safetensors file; gives its digest."""
    head, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays().items():
        raw = array.tobytes()
        head[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    whole = len(text).to_bytes(8, "little") + text + data
    path.write_bytes(whole)
    return hashlib.sha256(whole).hexdigest()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Tides, HIGH water", ["tide", "##s", ",", "high", "water"]),
        ("café", ["cafe"]),
        ("高潮tide", ["[UNK]", "潮", "tide"]),
        ("unable x", ["un", "##able", "[UNK]"]),
        ("high\x00water", ["high", "water"]),
        ("w" * 101, ["[UNK]"]),
    ],
)
def test_words_become_pieces(text: str, expected: list[str]):
    assert [WORDS[at] for at in tokens(text, VOCABULARY, 64)] == ["[CLS]", *expected, "[SEP]"]


def test_a_long_text_is_cut():
    found = tokens("tide " * 10_000, VOCABULARY, 16)
    assert len(found) == 16
    assert found[-1] == VOCABULARY["[SEP]"]


def test_the_error_function_is_exact_enough():
    points = np.linspace(-5, 5, 1001).astype(np.float32)
    exact = np.array([math.erf(point) for point in points])
    assert np.abs(_erf(points) - exact).max() < 5e-7


def naive(weights: dict[str, np.ndarray], numbers: list[int]) -> np.ndarray:
    """The same model for one text, written down token by token in 64-bit numbers."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}

    def normal(row: np.ndarray, name: str) -> np.ndarray:
        return (row - row.mean()) / math.sqrt(row.var() + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(row: np.ndarray, name: str) -> np.ndarray:
        return w[f"{name}.weight"] @ row + w[f"{name}.bias"]

    e = "embeddings."
    kind = w[f"{e}token_type_embeddings.weight"][0]
    rows = [
        normal(w[f"{e}word_embeddings.weight"][at] + w[f"{e}position_embeddings.weight"][n] + kind, f"{e}LayerNorm")
        for n, at in enumerate(numbers)
    ]
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        q, k, v = ([linear(row, f"{name}attention.self.{part}") for row in rows] for part in ("query", "key", "value"))
        following = []
        for at, row in enumerate(rows):
            mixed = []
            for head in range(HEADS):
                part = slice(head * size, (head + 1) * size)
                scores = np.array([q[at][part] @ other[part] / math.sqrt(size) for other in k])
                shares = np.exp(scores) / np.exp(scores).sum()
                mixed.append(sum(share * value[part] for share, value in zip(shares, v, strict=True)))
            out = linear(np.concatenate(mixed), f"{name}attention.output.dense")
            row = normal(row + out, f"{name}attention.output.LayerNorm")
            inner = linear(row, f"{name}intermediate.dense")
            inner = np.array([0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in inner])
            following.append(normal(row + linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm"))
        rows = following
    mean = np.mean(rows, axis=0)
    return mean / np.linalg.norm(mean)


def test_the_encoder_agrees_with_the_same_model_written_down_naively(tmp_path: Path):
    digest = write_weights(tmp_path / "model.safetensors")
    encoder = Encoder(load_weights(tmp_path / "model.safetensors", digest), LAYERS, HEADS)
    texts = [tokens(text, VOCABULARY, 32) for text in ("tides", "high water, tide tide tide", "")]
    together = encoder.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        assert vector == pytest.approx(naive(arrays(), text), abs=2e-5)
        assert encoder.encode([text])[0] == pytest.approx(vector, abs=1e-5)  # padding has no say


def test_weights_that_are_not_the_pinned_ones_are_refused(tmp_path: Path):
    write_weights(tmp_path / "model.safetensors")
    with pytest.raises(WrongWeights, match="SHA-256"):
        load_weights(tmp_path / "model.safetensors", "0" * 64)


def test_a_foreign_package_is_refused_with_words(tmp_path: Path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    write_weights(tmp_path / "model" / "model.safetensors")
    with pytest.raises(EmbeddingError, match="not the model that Prosa knows"):
        asyncio.run(LocalEmbedder(tmp_path).embed(["tide"]))
    with pytest.raises(EmbeddingError, match="cannot be used"):
        asyncio.run(LocalEmbedder(tmp_path / "nothing").embed(["tide"]))


def test_the_embedder_gives_vectors_in_the_order_of_the_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    digest = write_weights(tmp_path / "model" / "model.safetensors")
    monkeypatch.setattr(local, "WEIGHTS_SHA256", digest)
    monkeypatch.setattr(local, "LAYERS", LAYERS)
    monkeypatch.setattr(local, "HEADS", HEADS)
    texts = ["high water " * 9, "tide", "cafe, tide"] * 7
    found = asyncio.run(LocalEmbedder(tmp_path).embed(texts))
    assert len(found) == 21
    assert found[1] == pytest.approx(naive(arrays(), tokens("tide", VOCABULARY, 64)), abs=2e-5)
    assert found[0] == pytest.approx(found[18], abs=1e-5)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    assert missing_part() == "numpy is not installed"
    assert local.folder() is None
