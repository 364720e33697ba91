"""The model of a context file: what it imports and names, for its hosts."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Mapping
from prosa.dialects.context.hosts import Use
from prosa.dialects.plain import PlainModel
from prosa.document import Document
from prosa.source import Span


class Named(Struct, frozen=True):
    """A name or a path in a file, with its place."""

    text: str
    span: Span


class Import(Struct, frozen=True):
    """`@path` in running text. ``clear`` is true if nothing but a path looks like it: `@app.route` may be another
    thing."""

    target: str
    span: Span
    clear: bool


Tool: TypeAlias = Literal["npm", "make", "just", "cargo-bin", "cargo-package", "python-module", "python-script"]
"""What runs a command of a project by its name."""


class NamedCommand(Struct, frozen=True):
    """A name that a command line gives to a tool: a script, a target, a recipe, a module."""

    tool: Tool
    name: str
    span: Span


class Figured(Struct, frozen=True):
    """A line with numbers: ``words`` is the line without them, as lines are compared."""

    words: str
    numbers: tuple[str, ...]
    span: Span


class ContextModel(Struct, frozen=True):
    """``uses`` are the hosts that read the file, each with its place. ``fields`` is the front matter, or the mapping at
    the top of a JSON file. ``skills`` and ``agents`` are those that it names, ``tools`` the names in its fields of
    tools, ``globs`` those of the files that it is for, ``paths`` of a manifest the files that must be there.
    ``mentioned`` are paths in backticks, ``commands`` what its command lines run, ``figures`` lines with numbers."""

    markdown: PlainModel
    path: str
    uses: tuple[Use, ...]
    fields: Mapping | None = None
    imports: tuple[Import, ...] = ()
    skills: tuple[Named, ...] = ()
    agents: tuple[Named, ...] = ()
    tools: tuple[Named, ...] = ()
    globs: tuple[Named, ...] = ()
    paths: tuple[Named, ...] = ()
    mentioned: tuple[Named, ...] = ()
    commands: tuple[NamedCommand, ...] = ()
    figures: tuple[Figured, ...] = ()

    @property
    def document(self) -> Document:
        """The Markdown of the file."""
        return self.markdown.document

    @property
    def kinds(self) -> frozenset[str]:
        """What the file is to its hosts."""
        return frozenset(use.place.kind for use in self.uses)
