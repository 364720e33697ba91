"""The header of a GGUF file: what it says of the model, and every way in which it can be wrong (X35)."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.embedded.weights import WeightsProblem, model_in, read_gguf
from tests.adapters.embedded.weights.index import gguf

FIELDS = {
    "general.architecture": "llama",
    "llama.context_length": 8192,
    "llama.block_count": 30,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "tokenizer.ggml.tokens": ["a", "b", "c"],
    "tokenizer.chat_template": "{% for message in messages %}…",
}
TENSORS = (("embd", (64, 32), 0, 0), ("out", (64, 32), 2, 8192))
SIZE = 8192 + 64 * 32 // 32 * 18


@pytest.fixture
def file(tmp_path: Path) -> Path:
    header = gguf(FIELDS, TENSORS)
    path = tmp_path / "Tiny.Q4_0.gguf"
    path.write_bytes(header + bytes(-len(header) % 32) + bytes(SIZE))
    return path


def test_x35_a_header_says_what_a_model_is_and_takes(file: Path):
    found = read_gguf(file)
    assert (found.parameters, found.context, found.has_template) == (4096, 8192, True)
    assert found.cache == 4 * 30 * 576 * 3 // 9  # two vectors of two bytes, three of nine heads, in each of 30 layers
    model = model_in(file)
    assert (model.name, model.label) == ("Tiny.Q4_0", "0M")


def test_x35_a_file_that_lacks_one_byte_is_cut_off(file: Path):
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(WeightsProblem, match="is cut off: it announces"):
        read_gguf(file)


def test_x35_a_file_that_announces_a_hundred_gigabytes_is_cut_off(tmp_path: Path):
    path = tmp_path / "large.gguf"
    path.write_bytes(gguf(FIELDS, (("embd", (50_000, 1_000_000), 1, 0),)) + bytes(4096))
    with pytest.raises(WeightsProblem, match=r"it announces 100\.0 GB and has 0 MB"):
        read_gguf(path)


def test_x35_a_model_without_a_template_is_a_base_model(tmp_path: Path):
    path = tmp_path / "base.gguf"
    path.write_bytes(gguf({name: value for name, value in FIELDS.items() if name != "tokenizer.chat_template"}))
    with pytest.raises(WeightsProblem, match="has no chat template: it is a base model"):
        model_in(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not a model"),
        (b"PK\x03\x04", "is not a model: a GGUF file starts with `GGUF`"),
        (b"GGUF", "is cut off inside its header"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1; the engine reads 2 and 3"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "it announces 9,223,372,036,854,775,808"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**40, 0), "it announces 1,099,511,627,776"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**62), "is cut off inside its header"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"a" + struct.pack("<I", 99), "a field of the unknown type 99"),
    ],
)
def test_x35_what_is_no_model_is_a_sentence(tmp_path: Path, data: bytes, words: str):
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    with pytest.raises(WeightsProblem) as caught:
        read_gguf(path)
    assert words in caught.value.message


@given(data=st.binary(max_size=400), whole=st.booleans())
def test_x35_no_bytes_are_a_surprise(tmp_path_factory: pytest.TempPathFactory, data: bytes, *, whole: bool):
    """Whatever stands in a file, it is a header or a sentence, and neither takes long."""
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    path.write_bytes(b"GGUF" + (struct.pack("<IQQ", 3, 1, 3) if whole else b"") + data)
    try:
        read_gguf(path)
    except WeightsProblem as problem:
        assert str(path) in problem.message


def test_x35_what_is_no_file_is_a_sentence(tmp_path: Path):
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "none.gguf", "there is no file")):
        with pytest.raises(WeightsProblem, match=words):
            read_gguf(path)
