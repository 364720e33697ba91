"""The fields of a skill's front matter (https://agentskills.io/specification, and those of single clients), and what
its name may be: 1–64 lower-case letters and digits of any script and hyphens, no hyphen at either end and no two in a
row, after normalisation by NFKC."""

from __future__ import annotations

import unicodedata

from prosa.dialects.fields import Field, Form
from prosa.regex import regex

MAX_DESCRIPTION = 1024
"""Characters: every agent keeps the descriptions of all skills in view."""

MAX_COMPATIBILITY = 500

CLIENT: tuple[Field, ...] = (
    Field("agent", "string", about="the agent that carries the skill out, where `context` is `fork`"),
    Field("argument-hint", "string", about="what a user may write behind the name of the skill"),
    Field("context", "string", usual=("fork",), about="`fork`: the skill runs in a context of its own"),
    Field("disable-model-invocation", "boolean", about="true: only a user starts the skill, never the model"),
    Field("hooks", "mapping", about="commands that the client runs around the skill"),
    Field("model", "string", about="the model that carries the skill out"),
    Field("user-invocable", "boolean", about="false: users do not see it among their commands"),
    Field("when_to_use", "string", about="when to use the skill, beside its description"),
)
"""Fields that single clients define and all others ignore: they are valid, and their values are not checked."""

CLIENT_FIELDS = frozenset(field.name for field in CLIENT)


def at_most(limit: int) -> Form:
    """Return a form that refuses a text of more than ``limit`` characters."""

    def complaint(text: str) -> str | None:
        return f"has {len(text):,} characters, more than {limit:,}" if len(text) > limit else None

    return complaint


SKILL: tuple[Field, ...] = (
    Field(
        "name",
        "string",
        required=True,
        wanted="a name",
        why="agents and users call the skill by this name",
        about="at most 64 lower-case letters and digits of any script and hyphens, and the name of the folder",
    ),
    Field(
        "description",
        "string",
        required=True,
        form=at_most(MAX_DESCRIPTION),
        wanted="a sentence that says what it does and when to use it",
        why="an agent decides by the description whether to read the rest",
        about="what the skill does and when to use it, at most 1,024 characters",
    ),
    Field("license", "string", about="the name of a licence, or of a file that holds it"),
    Field(
        "compatibility",
        "string",
        form=at_most(MAX_COMPATIBILITY),
        about="what the skill requires, at most 500 characters",
    ),
    Field(
        "metadata", "string-map", ruled=True, about="a mapping of names to strings, for whatever else there is to say"
    ),
    Field(
        "allowed-tools",
        "anything",
        wanted="the names of tools, separated by spaces",
        about="the tools that may be used without asking, separated by spaces",
    ),
)


MAX_NAME = 64

_NAME = regex(r"[^\W_]+(?:-[^\W_]+)*")
_OTHER = regex(r"[\W_]+")


def normal(text: str) -> str:
    """Return a name as names are compared, without the space around it."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFKC", text.strip())


def is_name(text: str) -> bool:
    """Return whether a text is a name by the specification, as its reference implementation reads it."""
    name = normal(text)
    return len(name) <= MAX_NAME and name == name.lower() and _NAME.fullmatch(name) is not None


def as_name(text: str) -> str | None:
    """Return the name that a text comes closest to, or None where nothing of it can stay."""
    name = normal(normal(text).lower())
    return _OTHER.sub("-", name).strip("-")[:MAX_NAME].rstrip("-") or None
