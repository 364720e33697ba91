"""The fields of a skill's front matter (https://agentskills.io/specification, and those of single clients), and the
typed reading of a skill (LA30, L46)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping as Map

from msgspec import Struct

from prosa.data import Entry
from prosa.dialects.fields import Field, Form
from prosa.document import Document
from prosa.regex import regex
from prosa.source import Span

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


class Parameter(Struct, frozen=True):
    """One item of the list under "Parameters". ``required`` is None if the item does not say."""

    name: str
    required: bool | None
    description: str
    span: Span


class SkillModel(Struct, frozen=True):
    """A skill.

    ``bare`` is true without front matter: the ``name`` then comes from the first heading, its ``description`` the
    first paragraph. ``allowed_tools`` are the tools, however they are separated; ``metadata`` values are source text
    (X1). ``entries`` are the fields that were read, by name. ``instructions`` is the body; ``anchor`` is where to
    point at what is missing.
    """

    document: Document
    bare: bool
    name: str | None
    description: str | None
    license: str | None
    compatibility: str | None
    allowed_tools: tuple[str, ...]
    metadata: Map[str, str]
    parameters: tuple[Parameter, ...]
    entries: Map[str, Entry]
    anchor: Span

    @property
    def instructions(self) -> str:
        """What an agent reads once it uses the skill."""
        return self.document.source.slice(self.document.body)

    def span(self, field: str) -> Span:
        """Return where to point when speaking of a field: its value, or the anchor when it is absent."""
        entry = self.entries.get(field)
        return entry.value.span if entry else self.anchor
