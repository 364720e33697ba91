"""`configuration-by-assistant`: a configuration line in a message that a model wrote; it has no effect (PA6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.prapti.model import SAMPLING
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the line. Sampling assignments take effect there too and are fine."""
    for message in subject.model.messages:
        if message.disabled or not message.by_model:
            continue
        where = f"in a message of the {message.known_role} has no effect"
        note = f"a model wrote it; only {', '.join(SAMPLING)} may be set there. Move it to another message"
        for span in message.unread:
            yield Problem("configuration-by-assistant", f"this configuration line {where}", span, (note,))
        for line in message.config:
            if not line.disabled and line.key not in SAMPLING:
                shown = line.key or line.name
                yield Problem("configuration-by-assistant", f"`{shown}` {where}", line.span, (note,))
