"""Texts that a person names on the way in and out of a use case: an input, a result, a new document.

In: paths as typed. Out: texts, and files replaced whole. No document has a say in which files these are.
"""

from __future__ import annotations

from pathlib import Path

from prosa.adapters.files import FileChanged, RootedFiles, replace_file, write_output

__all__ = ["read_given", "write_new", "write_output"]


def read_given(path: Path, max_size: int) -> str:
    """The text of a file that the user named, of at most ``max_size`` bytes. Raises `FileProblem`."""
    return RootedFiles(max_size=max_size).read(path).text.removeprefix("\ufeff")


def write_new(path: Path, text: str) -> bool:
    """Writes a file that was not there; False, and nothing is written, where there is one by now. Raises `OSError`."""
    try:
        replace_file(path, text, expect_digest="")
    except FileChanged:
        return False
    return True
