"""The files that configure a chat, found and read: the user's own, those in the tree, those named by a flag (PA9,
PW6).

In: the path of a chat and its root. Out: layers, lowest first, with their problems. Files in the tree are only
searched between the root and the folder of the chat; a named file that is missing is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.read import real_path
from prosa.dialects.front import read_front
from prosa.dialects.prapti.configuration import TREE_FILE, USER_FILES, Layer, is_config_root
from prosa.dialects.prapti.read import read
from prosa.document import parse
from prosa.rules.policy import Policy, diagnosed

if TYPE_CHECKING:
    from prosa.diagnostics import Diagnostic
    from prosa.dialects.prapti.configuration import LayerKind
    from prosa.source import Files, SourceText


class ReadLayer(Struct, frozen=True):
    """A layer, and what its reader finds wrong."""

    layer: Layer
    diagnostics: tuple[Diagnostic, ...]


def read_layer(
    kind: LayerKind, source: SourceText, *, trusted: bool = False, follows: bool = False, legacy: bool = False
) -> ReadLayer:
    """Return the layer that a source makes."""
    front = read_front(source)
    model, problems = read(front, parse(source, body=front.body), legacy=legacy)
    found = diagnosed((*front.problems, *problems), source, Policy())
    return ReadLayer(Layer(kind, model, trusted, follows), tuple(found))


def layers_below(
    path: Path, files: Files, root: Path, *, user_dir: Path, named: Sequence[Path] = (), default: bool = True
) -> tuple[ReadLayer, ...]:
    """Return the layers that lie below a chat: user, tree from the root to the leaf, then those that a flag names.

    ``default`` False leaves out all but the named. Raises `FileProblem` for a file that cannot be read.
    """
    found: list[ReadLayer] = []
    if default:
        found += _user(user_dir)
        found += _tree(path, files, root)
    found += [read_layer("given", RootedFiles().read(each)) for each in named]
    return tuple(found)


def include_files(root: Path, user_dir: Path, max_size: int) -> Mapping[str, Files]:
    """Return what each kind of layer may include from (PA11): the root of the chat; the user's own file its own
    folder."""
    tree = RootedFiles(root, max_size=max_size)
    return {"tree": tree, "given": tree, "document": tree, "user": RootedFiles(user_dir, max_size=max_size)}


def _user(folder: Path) -> list[ReadLayer]:
    paths = (folder / name for name in USER_FILES)
    return [
        read_layer("user", RootedFiles().read(path), trusted=True, follows=True) for path in paths if path.is_file()
    ]


def _tree(path: Path, files: Files, root: Path) -> list[ReadLayer]:
    """From the root to the folder of the chat; a file that says so is the first one."""
    found: list[ReadLayer] = []
    folder = real_path(path.parent)
    for each in (folder, *folder.parents):
        if (each / TREE_FILE).is_file():
            found.insert(0, read_layer("tree", files.read(_shown(each / TREE_FILE, path, folder))))
            if is_config_root(found[0].layer.model):
                break
        if each == root:
            break
    return found


def _shown(file: Path, path: Path, folder: Path) -> Path:
    """Return a file as the user would name it: relative where the chat was named so."""
    if path.is_absolute():
        return file
    ups = len(folder.relative_to(file.parent).parts)
    return path.parent.joinpath(*[".."] * ups, file.name)
