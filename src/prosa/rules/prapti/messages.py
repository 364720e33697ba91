"""The message headings of a chat."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.model import PUBLIC_ROLES, ChatModel
from prosa.rules.prapti import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject

REPORTED = (
    RULES.reported("PR001", "message-heading-colon", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("PR002", "message-heading-text", Severity.HINT),
)
"""What readers report by name."""


@RULES.document("PR003", "unknown-role", Severity.WARNING, strict=Severity.ERROR)
def unknown_role(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a role that no responder takes; such a message is not sent (PA12). The finding points at the role of the
    heading."""
    for message in subject.model.messages:
        if message.hidden or message.disabled or message.known_role in PUBLIC_ROLES:
            continue
        near = nearest(message.known_role, PUBLIC_ROLES)
        note = f"did you mean `{near}`?" if near else f"roles are {', '.join(PUBLIC_ROLES)}; `_` in front hides one"
        text = f"the role `{message.role}` is unknown, so this message is not sent"
        meant = Misspelling(message.role, near) if near else None
        yield Finding(text, message.role_span, (note,), misspelling=meant)
