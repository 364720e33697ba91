"""References without a matching document: which of them are mistakes, and which lead elsewhere (HA5).

In: a reference without a match. Out: its other target. No file access.
"""

from __future__ import annotations

import posixpath

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.node import State
from prosa.graph.pages import FILE_SUFFIXES, joined, suffix_of
from prosa.graph.record import Record, Reference
from prosa.graph.stems import is_attachment, is_name
from prosa.regex import regex

ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:|//|[\\~@?]")
"""A scheme, another host, a home folder, an alias of a bundler, a bare query."""


def outside(record: Record, reference: Reference) -> State | None:
    """Return where a reference leads that no document answers to: `external`, `file`, or None where that is a mistake.

    A page that only a generator could make (`guide/`, `guide.html`) counts as a file, and so does what double brackets
    hold outside YMJ that is no name of a document.
    """
    if reference.kind == "url":
        return "external"
    if reference.kind == "stem" and reference.origin == "front-matter":
        return "file" if is_attachment(reference.target) else None
    if reference.kind == "stem":
        return None if record.dialect == "ymj" or is_name(reference.target) else "file"
    return _outside_path(record, reference) if reference.kind == "path" else None


def _outside_path(record: Record, reference: Reference) -> State | None:
    target = reference.target
    path = joined(posixpath.dirname(record.path), target)
    suffix = suffix_of(path)
    is_file = suffix in FILE_SUFFIXES and suffix not in DOCUMENT_SUFFIXES
    if record.dialect == "mdh":  # every link within a site leads to a node or a file (HA5)
        return "file" if is_file else None
    if ELSEWHERE.match(target) or path.startswith(("/", "../")) or path == "..":
        return "external"
    if is_file or reference.rel == "attachment":
        return "file"
    if reference.origin in ("import", "include"):
        return None
    return "file" if suffix not in FILE_SUFFIXES else None
