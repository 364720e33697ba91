"""`unknown-role`: a role that no responder takes; such a message is not sent (PA12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.model import PUBLIC_ROLES
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the role of the heading."""
    for message in subject.model.messages:
        if message.hidden or message.disabled or message.known_role in PUBLIC_ROLES:
            continue
        near = nearest(message.known_role, PUBLIC_ROLES)
        note = f"did you mean `{near}`?" if near else f"roles are {', '.join(PUBLIC_ROLES)}; `_` in front hides one"
        text = f"the role `{message.role}` is unknown, so this message is not sent"
        meant = Misspelling(message.role, near) if near else None
        yield Problem("unknown-role", text, message.role_span, (note,), misspelling=meant)
