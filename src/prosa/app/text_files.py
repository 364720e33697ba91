"""Texts that a person names on the way in and out of a use case: an input, a result, a new document.

In: paths as typed. Out: texts, and files replaced whole. No document has a say in which files these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prosa.adapters.files import (
    MAX_DOCUMENT_BYTES,
    FileChanged,
    RootedFiles,
    cache_dir,
    private_dir,
    replace_file,
    write_output,
)
from prosa.adapters.files.near import nearest_file

__all__ = ["nearest_file", "private_folder", "read_given", "write_new", "write_output"]


def read_given(path: Path, max_size: int = MAX_DOCUMENT_BYTES) -> str:
    """Return the text of a file that the user named, of at most ``max_size`` bytes. Raises `FileProblem`."""
    return RootedFiles(max_size=max_size).read(path).text.removeprefix("\ufeff")


def write_new(path: Path, text: str) -> bool:
    """Write a file that was not there; False, and nothing is written, where there is one by now. Raises `OSError`."""
    try:
        replace_file(path, text, expect_digest="")
    except FileChanged:
        return False
    return True


def private_folder(name: str, environ: Mapping[str, str]) -> Path:
    """Return a folder of the user's cache that is private to the user, created if absent. Raises `OSError`."""
    return private_dir(cache_dir(environ) / name)
