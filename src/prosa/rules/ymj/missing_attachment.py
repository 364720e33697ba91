"""`missing-attachment`: an attached file that does not exist (Y14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import Subject
from prosa.rules.ymj.local_attachments import local_attachments


def check(subject: Subject) -> Iterator[Problem]:
    """At its `uri`; files outside the root are not looked for."""
    files = subject.files
    for each, path in local_attachments(subject):
        if files is not None and files.inside_root(path) and not files.exists(path):
            message = f"the attached file `{shown(each.uri or '')}` does not exist"
            yield Problem(
                "missing-attachment", message, each.span, ("a relative path starts at the folder of the record",)
            )
