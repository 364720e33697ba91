"""Paths: where a relative link may lead, as the author wrote it or as the address of a page that is made of a
document.

In: the folder of a document and a decoded target. Out: paths to try, the best first. No file access.
"""

from __future__ import annotations

import posixpath

from prosa.dialects.table import DOCUMENT_SUFFIXES

PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
"""Pages that are usually built from a document of the same name."""

FILE_SUFFIXES = frozenset(
    (
        *DOCUMENT_SUFFIXES,
        *(".mdx", ".rst", ".txt", ".adoc", ".ipynb", ".pdf", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"),
        *(".toml", ".ini", ".cfg", ".xml", ".sql", ".log", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"),
        *(".avif", ".ico", ".mp3", ".ogg", ".opus", ".wav", ".flac", ".m4a", ".aac", ".mp4", ".mov", ".mkv", ".ogv"),
        *(".webm", ".canvas", ".base", ".zip", ".gz", ".py", ".pyi", ".js", ".ts", ".tsx", ".jsx", ".mjs"),
        *(".css", ".scss", ".c", ".h", ".cpp", ".hpp", ".cc", ".cs", ".go", ".java", ".kt", ".lua", ".php", ".pl"),
        *(".r", ".rb", ".rs", ".scala", ".sh", ".bash", ".ps1", ".bat", ".swift", ".docx", ".xlsx", ".pptx", ".odt"),
    )
)
"""Suffixes of files. What else follows a dot may be a version, a method or the name of a host."""

_INDEXES = ("index.md", "README.md", "readme.md", "_index.md")


def joined(folder: str, target: str) -> str:
    """Return the path that a target means in a folder, without `.` and `..`; a slash at its end stays."""
    path = posixpath.normpath(posixpath.join(folder, target))
    return f"{path}/" if target.endswith("/") else path


def suffix_of(path: str) -> str:
    """Return the suffix of a path in lower case, with its dot; empty where there is none."""
    return posixpath.splitext(path)[1].lower()


def is_page(path: str, suffix: str) -> bool:
    """Return whether a path is the address of a page (`guide/`, `guide.html`, `guide`) rather than of a file."""
    return suffix in PAGE_SUFFIXES or path.endswith("/") or not suffix


def page_sources(path: str, suffix: str) -> list[str]:
    """Return the documents that a site generator may have made a page of."""
    name = path.rstrip("/")
    if name in ("", "."):
        return list(_INDEXES)
    stem = name[: len(name) - len(suffix)]
    sources = [f"{stem}{each}" for each in DOCUMENT_SUFFIXES]
    if suffix and posixpath.basename(stem) != "index":
        return sources
    folder = posixpath.dirname(name) if suffix else name
    return sources + [posixpath.join(folder, each) for each in _INDEXES]
