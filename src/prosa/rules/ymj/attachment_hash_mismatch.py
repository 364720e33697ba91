"""`attachment-hash-mismatch`: an attached file whose bytes have another hash than the record says (Y19).

Files outside the root are never opened and nothing is fetched; what could not be verified is said in
`unverified-attachment`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.ymj.fields import is_sha256
from prosa.rules.subject import Subject
from prosa.rules.ymj.local_attachments import local_attachments
from prosa.source import FileProblem

MAX_ATTACHMENT_BYTES = 256 * 1024 * 1024
"""Larger files are not hashed in a check: a second of work each."""


def check(subject: Subject) -> Iterator[Problem]:
    """At the hash."""
    files = subject.files
    for each, path in local_attachments(subject):
        if files is None or each.sha256 is None or not is_sha256(each.sha256) or each.sha256_span is None:
            continue
        try:
            found = files.digest(path, MAX_ATTACHMENT_BYTES)
        except FileProblem as problem:
            if problem.kind != "missing":
                message = f"the attachment `{shown(each.uri or '')}` was not verified: it {problem.reason}"
                yield Problem("unverified-attachment", message, each.span)
            continue
        if found != each.sha256.lower():
            message = f"the attached file `{shown(each.uri or '')}` has another hash"
            yield Problem("attachment-hash-mismatch", message, each.sha256_span, (f"its bytes have {found}",))
