"""Files: rooted reading, atomic writing, the places a user keeps settings and caches."""

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
