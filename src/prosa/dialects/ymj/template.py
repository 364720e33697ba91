"""A new record after a profile (Y30), for `prosa new`. In: a profile, a few words, the date. Out: the text of a record
that passes a strict check and says in plain words what to fill in."""

from __future__ import annotations

from datetime import date
from typing import Any

from prosa.dialects.ymj.profiles import Profile
from prosa.dialects.ymj.versions import LATEST
from prosa.dialects.ymj.write import write

SUBJECT = "Subject of the record"
OWNER = "Person or team"


def new_record(
    profile: Profile, today: date, *, subject: str | None = None, owner: str | None = None, summary: str | None = None
) -> str:
    """The text. Raises `Unwritable` for a summary that no catalog line can hold."""
    subject = subject or SUBJECT
    header: dict[str, Any] = {
        "doc_summary": summary or profile.summary,
        "kind": profile.kind,
        "version": "1.0.0" if profile.name == "api" else "0.1.0",
        "subject": subject,
        "maintained_by": owner or OWNER,
        "ymj_spec": LATEST,
        "created": today.isoformat(),
        "updated": today.isoformat(),
        **profile.fields,
    }
    footer: dict[str, Any] = {"schema": "1", "index": {"tags": list(profile.tags)}}
    if profile.directives:
        footer["ops"] = profile.directives
    body = profile.body.replace("{subject}", " ".join(subject.split()))
    return write(header, f"{body}\n", footer)
