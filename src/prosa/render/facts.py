"""The shapes of what `prosa show` gives of a document, as interface.md fixes them: the keys that all share and those of
each dialect. Their names are those of the dialects.

Parts that are only printed have no shape of their own. Nothing is read or made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypeAlias, TypedDict

from prosa.data import Value

Printed: TypeAlias = list[Mapping[str, Value]]
"""Objects whose values are printed as they are."""


class InheritedField(TypedDict):
    """A field that a document inherits."""

    value: Value
    by: str


class Shared(TypedDict):
    """The keys of every document."""

    path: str
    front_matter: dict[str, Value] | None
    lent: NotRequired[dict[str, InheritedField]]
    diagnostics: Printed


class Plain(Shared):
    """Markdown without a dialect."""

    dialect: Literal["plain"]


class Context(Shared):
    """A file that agents read."""

    dialect: Literal["context"]
    hosts: Printed
    imports: Printed
    skills: list[str]


class Server(TypedDict):
    """An MCP server of a program, as written."""

    name: str
    url: NotRequired[str]
    command: NotRequired[str]
    args: NotRequired[list[str]]
    disabled: NotRequired[bool]


class Mailbox(TypedDict):
    """The mailbox of a program."""

    name: str


class Markdownlang(Shared):
    """A program."""

    dialect: Literal["markdownlang"]
    name: str
    description: str
    description_derived: bool
    model: str | None
    input: Value
    output: Value
    imports: list[str]
    mcp_servers: list[Server]
    mdh: list[str]
    mailbox: Mailbox | None
    variables: list[str]


class FootnoteRelationship(TypedDict):
    """A relationship in a footnote, null as its data where it cannot be read."""

    ref: str
    line: int
    data: dict[str, Value] | None
    referenced_at: list[int]


Block = TypedDict("Block", {"script-id": str | None, "line": int, "address": str, "data": dict[str, Value] | None})
"""A script, null as its data where it cannot be read."""

Result = TypedDict(
    "Result",
    {
        "script-id": str | None,
        "line": int,
        "end_line": int,
        "state": str,
        "model": str | None,
        "answered_by": str | None,
        "cut": bool,
    },
)
"""A written result of a script."""


class Magi(Shared):
    """A document with scripts."""

    dialect: Literal["magi"]
    scripts: list[Block]
    relationships: list[FootnoteRelationship]
    regions: list[Result]


class Integrity(TypedDict):
    """The field `integrity`, and whether its digest matches, null where it is not computed."""

    matches: bool | None
    digest: NotRequired[Value]


class Relationship(TypedDict):
    """A relationship in the front matter, or in a footnote, whose label is ``ref``."""

    ref: str | None
    line: int
    data: dict[str, Value]


class Mda(Shared):
    """An MDA document."""

    dialect: Literal["mda"]
    requires: dict[str, Value]
    depends_on: Printed
    relationships: list[Relationship]
    integrity: Integrity | None
    signatures: Printed


class Content(TypedDict):
    """The payload of a record: null as its content where it cannot be decoded."""

    selector: str | None
    found: bool
    content: str | None


class RecordedCall(TypedDict):
    """A call of a recording."""

    path: str
    program: str
    kind: str
    name: str
    input_tokens: int
    output_tokens: int
    said: str
    line: int


class Ymj(Shared):
    """A record."""

    dialect: Literal["ymj"]
    mode: str
    accepted: bool
    header: dict[str, Value] | None
    footer: dict[str, Value] | None
    payload: Content | None
    attachments: Printed
    wikilinks: Printed
    calls: NotRequired[list[RecordedCall]]


class ConfigLine(TypedDict):
    """A configuration line below a message."""

    kind: str
    raw: str
    line: int
    disabled: bool


class Message(TypedDict):
    """A message of a chat; on line 0 that before the first heading."""

    role: str
    name: str | None
    hidden: bool
    disabled: bool
    line: int
    content: str
    config: list[ConfigLine]


class Prapti(Shared):
    """A chat."""

    dialect: Literal["prapti"]
    messages: list[Message]
    assignments: Printed
    sent: list[int]


class Mdh(Shared):
    """A node."""

    dialect: Literal["mdh"]
    md_url: str | None
    links: Printed
    inline_links: Printed
    actions: Printed


class Reach(TypedDict):
    """A place of a script that reaches a target."""

    path: str
    line: int
    target: str
    name: str
    method: str


class Skill(Shared):
    """A skill."""

    dialect: Literal["skill_md"]
    name: str | None
    description: str | None
    allowed_tools: list[str]
    parameters: Printed
    bare: bool
    reaches: NotRequired[list[Reach]]


class Tests(Shared):
    """A test document."""

    dialect: Literal["test"]
    tests: str | None
    repeat: int
    require: str
    models: list[str]
    rows: str | None
    grader: str | None
    cases: Printed


class EvalCase(TypedDict):
    """A case of a skill."""

    name: str
    line: int
    decided: list[str]
    graded: list[str]


class Evals(Shared):
    """An evaluation file of a skill."""

    dialect: Literal["evals"]
    skill_name: str | None
    repeat: int | None
    require: str
    models: list[str]
    evals: list[EvalCase]
    queries: Printed


Facts: TypeAlias = Plain | Context | Markdownlang | Magi | Mda | Ymj | Prapti | Mdh | Skill | Tests | Evals
"""What `prosa show` gives of one document; `dialect` tells which."""
