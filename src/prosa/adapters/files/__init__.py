"""Files: rooted reading, atomic writing, the places a user keeps settings and caches.

What writes loads on first use: most commands only read.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from prosa.adapters.files.places import (
    UnsafePlace,
    cache_dir,
    config_dir,
    data_dir,
    data_place,
    find_program_root,
    find_root,
    home,
    private_dir,
)
from prosa.adapters.files.read import MAX_DOCUMENT_BYTES, RootedFiles

if TYPE_CHECKING:
    from prosa.adapters.files.write import FileChanged, replace_file, write_output

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "FileChanged",
    "RootedFiles",
    "UnsafePlace",
    "cache_dir",
    "config_dir",
    "data_dir",
    "data_place",
    "find_program_root",
    "find_root",
    "home",
    "private_dir",
    "replace_file",
    "write_output",
]


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.write"), name)
    return value
