"""`attachment-hash-in-footer`: the hash of an attachment among its handling (Y14, YA18)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.attachments import text_in
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the key."""
    model: YmjModel = subject.model
    in_header = {text_in(item, "uri"): text_in(item, "sha256") for item in model.catalog_items}
    for item in model.ops_items("attachments"):
        entry, digest = item.entry("sha256"), text_in(item, "sha256")
        if entry is None or digest is None:
            continue
        known = in_header.get(text_in(item, "uri"))
        counts = "; the header's is used" if known and known.lower() != digest.lower() else ""
        message = f"the hash of an attachment belongs into the header's `attachments`{counts}"
        yield Problem("attachment-hash-in-footer", message, entry.key.span)
