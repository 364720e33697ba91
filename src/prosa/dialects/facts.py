"""The shapes of the facts of each dialect: what `prosa show` gives of a document beside the keys that all share, as
interface.md fixes them. `dialect` is in each, so that the type checker tells them apart.

Nothing is read or made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypeAlias, TypedDict

from prosa.data import Value


class PlainFacts(TypedDict):
    """Markdown without a dialect."""

    dialect: Literal["plain"]


class HostUse(TypedDict):
    """A host that reads a file, and when it loads it."""

    host: str
    kind: str
    loaded: str
    source: str


class ImportLine(TypedDict):
    """An import of a file that agents read."""

    path: str
    line: int


class ContextFacts(TypedDict):
    """A file that agents read."""

    dialect: Literal["context"]
    hosts: list[HostUse]
    imports: list[ImportLine]
    skills: list[str]
    globs: list[str]


class ServerTool(TypedDict):
    """A tool of a server, as written."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[Mapping[str, Value]]
    read_only: NotRequired[bool]


class Server(TypedDict):
    """An MCP server of a program, as written."""

    name: str
    command: NotRequired[str]
    args: NotRequired[list[str]]
    env: NotRequired[dict[str, str]]
    url: NotRequired[str]
    transport: NotRequired[str]
    disabled: NotRequired[bool]
    tools: NotRequired[list[ServerTool]]


class Mailbox(TypedDict):
    """The mailbox of a program. ``expires`` is in seconds."""

    name: str
    send: list[str] | None
    expires: float | None


class MarkdownlangFacts(TypedDict):
    """A program."""

    dialect: Literal["markdownlang"]
    name: str
    description: str
    model: str | None
    input: Value
    output: Value
    imports: list[str]
    mcp_servers: list[Server]
    variables: list[str]
    description_derived: bool
    mdh: list[str]
    mailbox: Mailbox | None


ScriptBlock = TypedDict(
    "ScriptBlock",
    {
        "script-id": str | None,
        "line": int,
        "end_line": int,
        "data": dict[str, Value] | None,
        "address": str,
        "containers": list[str],
    },
)
"""A script, null as its data where it cannot be read."""


class FootnoteRelationship(TypedDict):
    """A relationship in a footnote."""

    ref: str
    line: int
    data: dict[str, Value]
    referenced_at: list[int]


WrittenResult = TypedDict(
    "WrittenResult",
    {
        "script-id": str,
        "line": int,
        "end_line": int,
        "state": str,
        "model": str | None,
        "answered_by": str | None,
        "cut": bool,
        "context": str,
    },
)
"""A written result of a script."""


class MagiFacts(TypedDict):
    """A document with scripts."""

    dialect: Literal["magi"]
    scripts: list[ScriptBlock]
    relationships: list[FootnoteRelationship]
    regions: list[WrittenResult]


class DependencyFacts(TypedDict):
    """An entry of `depends-on`."""

    name: str
    range: str
    digest: str | None
    line: int


class ListedRelationship(TypedDict):
    """A relationship in the front matter, or in a footnote, whose label is ``ref``."""

    ref: str | None
    line: int
    data: dict[str, Value]


class SignatureState(TypedDict):
    """A signature, and whether it was verified."""

    signer: str
    key_id: str
    algorithm: str
    state: str
    line: int


class MdaFacts(TypedDict):
    """An MDA document. ``integrity`` is the field, and whether its digest matches: null where it is not computed."""

    dialect: Literal["mda"]
    name: str | None
    version: str | None
    requires: dict[str, Value]
    depends_on: list[DependencyFacts]
    relationships: list[ListedRelationship]
    integrity: dict[str, Value] | None
    signatures: list[SignatureState]


class PayloadContent(TypedDict):
    """The payload of a record: null as its content where it cannot be decoded."""

    selector: str | None
    found: bool
    content: str | None


class AttachmentFacts(TypedDict):
    """An attachment of a record, joined from its header and its footer."""

    uri: str | None
    sha256: str | None
    note: str | None
    select: Value
    transform: Value
    cache: Value
    auth_ref: Value
    source: Literal["yaml", "json", "both"]


class WikilinkLine(TypedDict):
    """A wikilink of a record."""

    target: str
    line: int


class Catalog(TypedDict):
    """What the first two lines of a record are enough for."""

    doc_summary: str


class RecordedCall(TypedDict):
    """A call of a recording: ``name`` is the model or the tool, ``said`` its result."""

    path: str
    program: str
    kind: str
    name: str
    input_tokens: int
    output_tokens: int
    said: str
    line: int


class YmjFacts(TypedDict):
    """A record."""

    dialect: Literal["ymj"]
    mode: Literal["strict", "permissive"]
    accepted: bool
    header: dict[str, Value] | None
    footer: dict[str, Value] | None
    body: str
    body_sha256: str
    payload: PayloadContent | None
    attachments: list[AttachmentFacts]
    wikilinks: list[WikilinkLine]
    catalog: Catalog | None
    calls: NotRequired[list[RecordedCall]]


class ConfigurationLine(TypedDict):
    """A configuration line below a message."""

    kind: str
    key: str | None
    raw: str
    value: Value
    name: str | None
    args: str | None
    line: int
    disabled: bool


class ChatTurn(TypedDict):
    """A message of a chat; on line 0 that before the first heading."""

    role: str
    name: str | None
    hidden: bool
    disabled: bool
    line: int
    content: str
    config: list[ConfigurationLine]


class Assignment(TypedDict):
    """An enabled assignment of a chat."""

    key: str | None
    value: Value
    line: int
    source: str


class PraptiFacts(TypedDict):
    """A chat. ``sent`` are the indexes of the messages that are sent."""

    dialect: Literal["prapti"]
    messages: list[ChatTurn]
    assignments: list[Assignment]
    sent: list[int]


class NodeLink(TypedDict):
    """A link in the front matter of a node."""

    rel: str | None
    target: str | None
    line: int
    href: NotRequired[str]


class InlineLinkFacts(TypedDict):
    """A link in the text of a node."""

    href: str
    line: int


class MdhFacts(TypedDict):
    """A node. ``md_url`` is null outside a site (HA2)."""

    dialect: Literal["mdh"]
    id: str | None
    type: str | None
    title: str | None
    md_url: str | None
    links: list[NodeLink]
    inline_links: list[InlineLinkFacts]
    actions: list[dict[str, Value]]


class SkillParameter(TypedDict):
    """A parameter of a skill."""

    name: str
    required: bool | None
    description: str | None
    line: int


class ReachLine(TypedDict):
    """A place of a script that reaches a target."""

    path: str
    line: int
    target: str
    name: str
    method: str


class SkillFacts(TypedDict):
    """A skill. ``reaches`` is there for a skill with files."""

    dialect: Literal["skill_md"]
    name: str | None
    description: str | None
    license: str | None
    compatibility: str | None
    allowed_tools: list[str]
    metadata: dict[str, str]
    parameters: list[SkillParameter]
    bare: bool
    reaches: NotRequired[list[ReachLine]]


class TestCase(TypedDict):
    """A case of a test document."""

    name: str
    line: int
    input: Value
    expect: NotRequired[Value]
    run: NotRequired[Value]
    grade: NotRequired[list[str]]


class TestFacts(TypedDict):
    """A test document."""

    dialect: Literal["test"]
    tests: str | None
    repeat: int
    require: str
    models: list[str]
    rows: str | None
    grader: str | None
    votes: int
    cases: list[TestCase]


class SkillCase(TypedDict):
    """A case of a skill."""

    id: str | None
    name: str
    line: int
    prompt: str
    files: list[str]
    decided: list[str]
    graded: list[str]


class TriggerQuery(TypedDict):
    """A request, and whether the skill is meant for it."""

    query: str
    should_trigger: bool
    expected_skill: NotRequired[str]
    line: int


class EvalsFacts(TypedDict):
    """An evaluation file of a skill."""

    dialect: Literal["evals"]
    skill_name: str | None
    repeat: int | None
    require: str
    models: list[str]
    evals: list[SkillCase]
    queries: list[TriggerQuery]


DialectFacts: TypeAlias = (
    PlainFacts
    | ContextFacts
    | MarkdownlangFacts
    | MagiFacts
    | MdaFacts
    | YmjFacts
    | PraptiFacts
    | MdhFacts
    | SkillFacts
    | TestFacts
    | EvalsFacts
)
"""What `prosa show` gives of one document; `dialect` tells which."""
