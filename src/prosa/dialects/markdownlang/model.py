"""The typed reading of a program (L1–L9, L18, LA19). Everything carries its span; absent fields are None.

The model holds what is written, not what is allowed: a program with errors has a model too, without the wrong parts,
so that one reading can report every mistake.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Mapping, Node, Value
from prosa.source import SourceText, Span
from prosa.source.values import kept

if TYPE_CHECKING:
    from prosa.schema import Schema
    from prosa.template import Template

Transport: TypeAlias = Literal["auto", "stdio", "streamable-http", "sse"]


class ImportRef(Struct, frozen=True):
    """One entry of `imports` as written, with the span of its path (L6, L28). With ``wait``, a call of it waits
    for its output."""

    text: str
    span: Span
    wait: bool = True


class MailboxModel(Struct, frozen=True):
    """The `mailbox` of a program (L47). ``sends`` is None where no addresses are named, ``expires`` is seconds."""

    name: str
    span: Span
    sends: tuple[str, ...] | None = None
    expires: float | None = None


class ServerToolModel(Struct, frozen=True):
    """A tool that front matter names under a server. Absent fields are None: the server knows them."""

    name: str
    span: Span
    description: str | None = None
    parameters: Map[str, Value] | None = None
    read_only: bool | None = None


class ServerModel(Struct, frozen=True):
    """One entry of `mcp_servers` (L18). ``name`` is empty when it is missing; ``span`` covers the whole entry.

    ``command`` and ``url`` may both be set or both be None: rules decide what that means (LA10, LA17). ``env`` values
    are as written, `${NAME}` included (X18). ``tools`` is None where none are named: then it offers all that it has.
    """

    name: str
    span: Span
    name_span: Span
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Map[str, str] | None = None
    url: str | None = None
    url_span: Span | None = None
    transport: Transport = "auto"
    transport_span: Span | None = None
    disabled: bool = False
    tools: tuple[ServerToolModel, ...] | None = None

    @property
    def built_in(self) -> bool:
        """Whether the entry only requests the built-in interpreter (LA17)."""
        return self.name == BUILT_IN_SERVER and self.command is None and self.url is None


BUILT_IN_SERVER = "python-interpreter"
"""The server name that means "prefer Python", and the built-in tool if there is no command to start it (L24, LA17)."""


class SchemaModel(Struct, frozen=True, dict=True):
    """`input` or `output`: the tree with places, and its plain value (a mapping or a boolean)."""

    node: Node
    value: Value

    @kept
    def schema(self) -> Schema:
        """The compiled schema. Raises `prosa.schema.SchemaError` when the program has a `bad-schema` error."""
        from prosa.schema import Schema

        return Schema(self.value)


class LimitsModel(Struct, frozen=True):
    """Limits the program asks for, already cut to the ceilings of X9; None for those it does not set.

    Times are seconds, sizes bytes.
    """

    iterations: int | None = None
    wall_clock: float | None = None
    retries: int | None = None
    tool_result: int | None = None
    concurrency: int | None = None
    tool_calls: int | None = None
    output_tokens: int | None = None
    python_timeout: float | None = None
    python_memory: int | None = None


class ProgramModel(Struct, frozen=True):
    """A program. ``name`` falls back to the file name without its suffix, ``description`` is derived (LA1) when
    ``derived_description`` says so. ``mdh`` are URLs of pages whose actions are tools. ``body`` is the template text,
    ``body_offset`` its start in the source; ``template`` is None when it does not parse. ``spans`` holds the value
    span of every top-level field that was read, ``sampling`` the sampling parameters."""

    source: SourceText
    fields: Mapping | None
    anchor: Span
    name: str
    description: str
    derived_description: bool
    model_name: str | None
    input: SchemaModel | None
    output: SchemaModel | None
    imports: tuple[ImportRef, ...]
    mcp_servers: tuple[ServerModel, ...]
    mdh: tuple[str, ...]
    limits: LimitsModel
    body: str
    body_offset: int
    template: Template | None
    spans: Map[str, Span]
    mailbox: MailboxModel | None = None
    sampling: Map[str, float] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The last part of the path."""
        return PurePath(self.source.path).name

    def span(self, field: str) -> Span:
        """Return where to point when speaking of a top-level field: its value, or the opening fence when it is
        absent."""
        return self.spans.get(field, self.anchor)
