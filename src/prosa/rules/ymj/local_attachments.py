"""The attachments of a record that are files (X5, Y19). Shared by the rules that look at them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from prosa.dialects.ymj.attachments import Attachment, local_path
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject

MAX_ATTACHMENTS = 1_000
"""Attachments that are looked for on the disk."""


def local_attachments(subject: Subject) -> Iterator[tuple[Attachment, Path]]:
    """Each with the path it means; none where the record itself has no file."""
    model: YmjModel = subject.model
    if not model.attachments or subject.files is None or subject.path is None:
        return
    folder = subject.path.parent
    for each in islice(model.attachments, MAX_ATTACHMENTS):
        path = local_path(each.uri, folder) if each.uri is not None else None
        if path is not None:
            yield each, path
