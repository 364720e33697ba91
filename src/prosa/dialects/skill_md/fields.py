"""The fields of a skill's front matter (https://agentskills.io/specification, and those of single clients), and what
its name may be: 1–64 lower-case letters, digits and hyphens, no hyphen at either end and no two in a row.
"""

from __future__ import annotations

import unicodedata

from prosa.dialects.fields import Field, Form
from prosa.regex import regex

MAX_DESCRIPTION = 1024
"""Characters: every agent keeps the descriptions of all skills in view."""

MAX_COMPATIBILITY = 500

CLIENT_FIELDS = frozenset(
    {
        "agent",
        "argument-hint",
        "context",
        "disable-model-invocation",
        "hooks",
        "model",
        "user-invocable",
        "when_to_use",
    }
)
"""Fields that single clients define and all others ignore: no mistake, and nothing is known of their values."""


def at_most(limit: int) -> Form:
    """A form that refuses a text of more than ``limit`` characters."""

    def complaint(text: str) -> str | None:
        return f"has {len(text):,} characters, more than {limit:,}" if len(text) > limit else None

    return complaint


SKILL: tuple[Field, ...] = (
    Field("name", "string", required=True, wanted="a name", why="agents and users call the skill by this name"),
    Field(
        "description",
        "string",
        required=True,
        form=at_most(MAX_DESCRIPTION),
        wanted="a sentence that says what it does and when to use it",
        why="an agent decides by the description whether to read the rest",
    ),
    Field("license", "string"),
    Field("compatibility", "string", form=at_most(MAX_COMPATIBILITY)),
    Field("metadata", "string-map"),
    Field("allowed-tools", "anything", wanted="the names of tools, separated by spaces"),
)


MAX_NAME = 64

_NAME = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = regex(r"[^a-z0-9]+")


def is_name(text: str) -> bool:
    """Whether a text is a name by the specification."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def as_name(text: str) -> str | None:
    """The name that a text comes closest to, or None where nothing of it can stay."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")[:MAX_NAME].rstrip("-") or None
