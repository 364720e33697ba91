"""`payload-mime-mismatch`: `ops.payload_mime` and `ops.body_format` name different formats (Y12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.payload import agrees
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the media type, which is ignored."""
    model: YmjModel = subject.model
    entry, mime, body_format = model.ops.get("payload_mime"), model.option("payload_mime"), model.option("body_format")
    if entry is None or mime is None or body_format is None or agrees(mime, body_format):
        return
    message = f"`payload_mime` says `{shown(mime)}` and `body_format` says `{body_format}`, which counts"
    yield Problem("payload-mime-mismatch", message, entry.value.span)
