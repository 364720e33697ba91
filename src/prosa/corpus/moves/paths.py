"""Paths of a corpus as text: relative to its root, with `/`. In: paths. Out: how one names the other. Nothing is
looked up."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from prosa.dialects.table import DOCUMENT_SUFFIXES

_INDEX = ("index", "readme", "_index")
"""Stems of the documents that are the page of their folder."""


def relative(folder: str, path: str) -> str:
    """``path`` as seen from ``folder``; a slash at its end stays. ``path`` may lead out of the root (`../x`)."""
    base = [part for part in folder.split("/") if part not in ("", ".")]
    parts = [part for part in path.split("/") if part not in ("", ".")]
    same = 0
    while same < min(len(base), len(parts)) and base[same] == parts[same]:
        same += 1
    written = "/".join([".."] * (len(base) - same) + parts[same:])
    slash = path.endswith("/") or not parts
    return f"{written or '.'}{'/' if slash else ''}"


def like(written: str, path: str) -> str:
    """A relative path with `./` in front where the author wrote one, or where it would read as an address."""
    bare = path.startswith(("./", "../")) or path in (".", "..")
    if bare or not (written.startswith("./") or ":" in path.partition("/")[0]):
        return path
    return f"./{path}"


def page_forms(written: str, old: str, new: str) -> Iterator[str]:
    """How the author may mean the document at ``new``, who wrote ``written`` for the one at ``old``: first in the same
    form (`guide/`, `guide.html`, `guide`), at last with its full name. Paths are relative to the root."""
    name = posixpath.basename(written.rstrip("/"))
    suffix = posixpath.splitext(name)[1]
    stem, old_suffix = posixpath.splitext(posixpath.basename(old))
    if suffix != old_suffix:
        if not _known(suffix):
            suffix = ""
        folder, (new_stem, _) = posixpath.dirname(new), posixpath.splitext(posixpath.basename(new))
        named = posixpath.join(folder, new_stem)
        slash = "/" if written.endswith("/") else ""
        of_folder = [f"{folder}{slash}"] if new_stem.lower() in _INDEX and not suffix and (folder or slash) else []
        of_name = [f"{named}{suffix}{slash}"]
        first = of_name if name.casefold() == f"{stem}{suffix}".casefold() and stem.lower() in _INDEX else of_folder
        yield from first
        yield from (each for each in (*of_folder, *of_name) if each not in first)
    yield new


def stem_forms(written: str, old: str, new: str) -> Iterator[str]:
    """How a wikilink may name the document at ``new``, the shortest first, but with as many folders as the author
    wrote; blanks for hyphens where the author wrote them so."""
    folder, name = posixpath.split(written)
    new_name = posixpath.basename(new)
    if not name.lower().endswith(DOCUMENT_SUFFIXES):
        new_name = posixpath.splitext(new_name)[0]
    folders = [part for part in posixpath.dirname(new).split("/") if part]
    count = len([part for part in folder.split("/") if part])
    names = [new_name]
    if " " in name and "-" in posixpath.basename(old) and " " not in posixpath.basename(old):
        names.insert(0, new_name.replace("-", " "))
    for depth in range(min(count, len(folders)), len(folders) + 1):
        for each in names:
            yield "/".join((*folders[len(folders) - depth :], each))


def _known(suffix: str) -> bool:
    """Whether it is the suffix of a page, and not the end of a name with a dot in it."""
    return suffix.lower() in (".html", ".htm", ".xhtml", ".json", *DOCUMENT_SUFFIXES)
