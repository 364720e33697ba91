"""Read a program: `SourceText` in, `ProgramModel` and problems out. Never fails, opens nothing, runs nothing.

Only problems of the document itself are reported here: front matter, field shapes, schemas, servers (L18, LA9),
template syntax, limits. Limits are cut to the ceilings for documents (X9), and the cut is reported. Rules check what
needs other files or compares parts. The description defaults to the first heading, then the first paragraph, then the
name (LA1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from pathlib import PurePath
from typing import cast

from msgspec import Struct

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, to_mapping, to_value
from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.dialects import quantity
from prosa.dialects.fields import Field, Owner, read_fields, shown, text_of
from prosa.dialects.front import FrontReading, read_front
from prosa.dialects.markdownlang.fields import (
    FIELD,
    IMPORT,
    LIMITS,
    MAILBOX_FIELDS,
    PROGRAM,
    PYTHON,
    SAMPLING,
    SERVER,
    SERVER_TOOL,
    USER,
    as_list,
    read_sites,
    tool_name,
    user_setting,
)
from prosa.dialects.markdownlang.model import (
    ImportRef,
    LimitsModel,
    MailboxModel,
    ProgramModel,
    SchemaModel,
    ServerModel,
    ServerToolModel,
    Transport,
)
from prosa.schema import check_schema_shape
from prosa.source import SourceText, Span
from prosa.template import Template, TemplateError, action_spans, template_problems


def read(source: SourceText, front: FrontReading | None = None) -> tuple[ProgramModel, tuple[Problem, ...]]:
    """Return the program in ``source`` and everything that is wrong with the text of it. ``front`` saves reading it
    twice."""
    front = front or read_front(source)
    entries, problems = _top_fields(front)
    limits, limit_problems = read_limits(_limit_entries(entries, problems))
    servers, server_problems = read_servers(entries.get("mcp_servers"))
    sites, site_problems = read_sites(entries.get(FIELD))
    template, template_problems = _template(source, front.body)
    name = text_of(entries.get("name")) or PurePath(source.path).stem
    description = text_of(entries.get("description"))
    model = ProgramModel(
        source=source,
        fields=front.fields,
        anchor=front.anchor,
        name=name,
        description=description or describe(source, front.body, template, name),
        derived_description=not description,
        model_name=text_of(entries.get("model")),
        input=_schema(entries.get("input"), problems),
        output=_schema(entries.get("output"), problems),
        imports=_imports(entries.get("imports"), problems),
        mcp_servers=servers,
        mdh=sites,
        limits=limits,
        body=source.slice(front.body),
        body_offset=front.body.start,
        template=template,
        spans={field: entry.value.span for field, entry in entries.items()},
        mailbox=_mailbox(entries.get("mailbox"), name, problems),
        sampling={key: cast("float", to_value(entries[key].value)) for key in SAMPLING if key in entries},
    )
    return model, (*front.problems, *problems, *limit_problems, *server_problems, *site_problems, *template_problems)


def _top_fields(front: FrontReading) -> tuple[dict[str, Entry], list[Problem]]:
    """Return the well-formed top-level fields. A front matter that cannot be read has been reported already."""
    if front.fields is None:
        missing = () if front.present else (_no_front_matter(front.anchor),)
        return {}, list(missing)
    fields, tolerated = as_list(front.fields)
    entries, problems = read_fields(
        fields,
        PROGRAM,
        Owner("a program", front.anchor, unknown=Severity.INFO, other=_is_user_setting, complete=front.complete),
    )
    return entries, [*tolerated, *problems]


def _is_user_setting(name: str) -> bool:
    return user_setting(name) is not None


def _no_front_matter(anchor: Span) -> Problem:
    message = "a program begins with front matter between `---` lines, and this document has none"
    return Problem("missing-front-matter", message, anchor, ("it needs at least `name`, `input` and `output`",))


def _limit_entries(entries: dict[str, Entry], problems: list[Problem]) -> dict[str, Entry]:
    """Return the entries of `python` and `limits`, keyed by both names."""
    limit_entries: dict[str, Entry] = {}
    tables: tuple[tuple[str, tuple[Field, ...]], ...] = (("python", PYTHON), ("limits", LIMITS))
    for name, table in tables:
        entry = entries.get(name)
        if entry is not None and isinstance(entry.value, Mapping):
            inner, wrong = read_fields(entry.value, table, Owner(f"`{name}`", entry.key.span, f"{name}."))
            limit_entries |= {f"{name}.{key}": value for key, value in inner.items()}
            problems += wrong
    return limit_entries


def _schema(entry: Entry | None, problems: list[Problem]) -> SchemaModel | None:
    if entry is None:
        return None
    problems += check_schema_shape(entry.value)
    return SchemaModel(entry.value, to_value(entry.value))


def _imports(entry: Entry | None, problems: list[Problem]) -> tuple[ImportRef, ...]:
    """Return the imports in their order, whether an entry is a path or a mapping with one."""
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    refs: list[ImportRef] = []
    for item in entry.value.items:
        if isinstance(item, Scalar):
            refs.append(ImportRef(item.text, item.span))
        elif isinstance(item, Mapping):
            anchor = item.entries[0].key.span if item.entries else item.span
            entries, wrong = read_fields(item, IMPORT, Owner("an import", anchor, "imports."))
            problems += wrong
            path, wait = entries.get("path"), entries.get("wait")
            if path is not None:
                refs.append(ImportRef(text_of(path) or "", path.value.span, wait is None or _is_true(wait)))
    return tuple(refs)


def _mailbox(entry: Entry | None, program: str, problems: list[Problem]) -> MailboxModel | None:
    """Return the mailbox that a program requests, by default with the name of the program."""
    if entry is None or not (_is_true(entry) or isinstance(entry.value, Mapping)):
        return None
    entries: dict[str, Entry] = {}
    if isinstance(entry.value, Mapping):
        entries, wrong = read_fields(entry.value, MAILBOX_FIELDS, Owner("`mailbox`", entry.key.span, "mailbox."))
        problems += wrong
    name, sends = text_of(entries.get("name")), entries.get("send")
    box = name.removeprefix("./") if name is not None else tool_name(program)
    if USER in (box, program):
        span = entries["name"].value.span if name is not None and box == USER else entry.key.span
        message = f"neither a program with a mailbox nor the mailbox is called `{USER}`: that is who sends by hand"
        problems.append(Problem("wrong-form", message, span, ("choose another `name`",)))
    return MailboxModel(
        name=box,
        span=entry.value.span,
        sends=None if sends is None else tuple(arg.removeprefix("./") for arg in _args(sends)),
        expires=quantity.age(text_of(entries.get("expires")) or ""),
    )


def _template(source: SourceText, body: Span) -> tuple[Template | None, tuple[Problem, ...]]:
    text = source.slice(body)
    try:
        return Template(text), ()
    except TemplateError:
        return None, tuple(_template_problem(error, body) for error in template_problems(text))


def _template_problem(error: TemplateError, body: Span) -> Problem:
    start = min(body.start + error.offset, body.end)
    span = Span(start, min(start + max(len(error.fragment), 1), body.end))
    meant = Misspelling(error.fragment, error.suggestion) if error.suggestion else None
    return Problem("template-syntax", error.message, span, misspelling=meant)


MAX_DESCRIPTION = 300
"""Characters of a derived description; a first paragraph may be a page."""


def describe(source: SourceText, body: Span, template: Template | None, name: str) -> str:
    """Return text for people: template actions are left out, white space is folded."""
    from prosa.document import parse  # only here: most programs describe themselves

    actions = _actions(source, body) if template is not None else ()
    document = parse(source, body=body, masked=actions)
    blocks = (*(heading.content for heading in document.headings[:1]), *(item.span for item in document.paragraphs[:1]))
    for block in blocks:
        text = _without(source, block, actions)
        if text:
            return text
    return name


def _actions(source: SourceText, body: Span) -> tuple[Span, ...]:
    return tuple(span.shift(body.start) for span in action_spans(source.slice(body)))


def _without(source: SourceText, block: Span, actions: Iterable[Span]) -> str:
    pieces: list[str] = []
    done = block.start
    for action in actions:
        if action.end <= block.start or action.start >= block.end:
            continue
        pieces.append(source.text[done : max(done, action.start)])
        done = max(done, action.end)
    pieces.append(source.text[done : max(done, block.end)])
    text = " ".join(" ".join(pieces).split())
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"


_KIB, _MIB = 1024, 1024 * 1024


class Ceiling(Struct, frozen=True):
    """The most a document may ask for. ``attribute`` names the limit in `LimitsModel`, ``flag`` what goes beyond."""

    attribute: str
    field: str
    parse: Callable[[str], float | int | None]
    most: float
    words: str
    flag: str


CEILINGS: tuple[Ceiling, ...] = (
    Ceiling("python_timeout", "python.timeout", quantity.seconds, 300.0, "300 s", "--python-timeout"),
    Ceiling("python_memory", "python.memory", quantity.size, 512 * _MIB, "512 MB", "--python-memory"),
    Ceiling("iterations", "limits.iterations", quantity.count, 50, "50", "--max-iterations"),
    Ceiling("wall_clock", "limits.timeout", quantity.seconds, 600.0, "10 min", "--timeout"),
    Ceiling("retries", "limits.retries", quantity.count_or_none, 10, "10", "--retries"),
    Ceiling("tool_result", "limits.tool_result", quantity.size, 256 * _KIB, "256 KiB", "--max-tool-result"),
    Ceiling("concurrency", "limits.concurrency", quantity.count, 8, "8", "--concurrency"),
    Ceiling("tool_calls", "limits.tool_calls", quantity.count, 32, "32", "--max-tool-calls"),
    Ceiling("output_tokens", "limits.output_tokens", quantity.count, inf, "any", "--max-output-tokens"),
)
"""X9 names ceilings for Python and for iterations. The others may only be lowered: their ceiling is their default."""


def read_limits(entries: dict[str, Entry]) -> tuple[LimitsModel, tuple[Problem, ...]]:
    """Limit from well-formed entries, keyed `python.timeout`, `limits.iterations` and so on."""
    values: dict[str, float | int] = {}
    problems: list[Problem] = []
    for ceiling in CEILINGS:
        entry = entries.get(ceiling.field)
        asked = ceiling.parse(text_of(entry) or "") if entry else None
        if entry is None or asked is None:
            continue
        if asked > ceiling.most:
            problems.append(_above(ceiling, entry))
        values[ceiling.attribute] = type(asked)(min(asked, ceiling.most))
    return LimitsModel(**values), tuple(problems)  # type: ignore[arg-type]


def _above(ceiling: Ceiling, entry: Entry) -> Problem:
    message = f"`{ceiling.field}` exceeds what a document may set: {ceiling.words} is used instead"
    note = f"a user may go beyond it on the command line with `{ceiling.flag}`"
    return Problem("limit-above-ceiling", message, entry.value.span, (note,))


def read_servers(entry: Entry | None) -> tuple[tuple[ServerModel, ...], tuple[Problem, ...]]:
    """Return the servers in order of declaration."""
    if entry is None or not isinstance(entry.value, Sequence):
        return (), ()
    servers: list[ServerModel] = []
    problems: list[Problem] = []
    for item in entry.value.items:
        if isinstance(item, Mapping):
            server, wrong = _server(item)
            servers.append(server)
            problems += wrong
    return tuple(servers), tuple(problems)


def _server(item: Mapping) -> tuple[ServerModel, tuple[Problem, ...]]:
    anchor = item.entries[0].key.span if item.entries else item.span
    entries, problems = read_fields(item, SERVER, Owner("an MCP server", anchor))
    tools, tool_problems = _server_tools(entries.get("tools"))
    model = ServerModel(
        name=text_of(entries.get("name")) or "",
        span=item.span,
        name_span=_span(entries, "name") or anchor,
        command=text_of(entries.get("command")),
        args=_args(entries.get("args")),
        env=_env(entries.get("env")),
        url=text_of(entries.get("url")),
        url_span=_span(entries, "url"),
        transport=cast("Transport", text_of(entries.get("transport")) or "auto"),
        transport_span=_span(entries, "transport"),
        disabled=_is_true(entries.get("disabled")),
        tools=tools,
    )
    return model, (*problems, *tool_problems)


def _server_tools(entry: Entry | None) -> tuple[tuple[ServerToolModel, ...] | None, list[Problem]]:
    """Return the tools that are named for a server, each once; None where none are named."""
    if entry is None or not isinstance(entry.value, Sequence):
        return None, []
    tools: dict[str, ServerToolModel] = {}
    problems: list[Problem] = []
    for item in entry.value.items:
        if isinstance(item, Mapping):
            tool, wrong = _server_tool(item)
            problems += wrong
            if tool.name in tools:
                problems.append(Problem("wrong-form", f"`tools` names `{shown(tool.name)}` twice", tool.span))
            elif tool.name:
                tools[tool.name] = tool
    return tuple(tools.values()), problems


def _server_tool(item: Mapping) -> tuple[ServerToolModel, list[Problem]]:
    anchor = item.entries[0].key.span if item.entries else item.span
    entries, problems = read_fields(item, SERVER_TOOL, Owner("a tool of an MCP server", anchor, "tools."))
    parameters, reads = entries.get("parameters"), entries.get("read_only")
    model = ServerToolModel(
        name=text_of(entries.get("name")) or "",
        span=_span(entries, "name") or anchor,
        description=text_of(entries.get("description")),
        parameters=to_mapping(parameters.value) if parameters and isinstance(parameters.value, Mapping) else None,
        read_only=None if reads is None else _is_true(reads),
    )
    return model, [*problems, *(_parameter_problems(parameters.value) if parameters else ())]


def _parameter_problems(node: Node) -> Iterable[Problem]:
    """Yield the problems of the schema of arguments, which are always an object."""
    yield from check_schema_shape(node)
    kind = next((entry for entry in node if entry.key.text == "type"), None) if isinstance(node, Mapping) else None
    if kind is not None and to_value(kind.value) != "object":
        message = "the `type` of `tools.parameters` is `object`: arguments of a tool have names"
        yield Problem("wrong-form", message, kind.value.span)


def _span(entries: dict[str, Entry], name: str) -> Span | None:
    entry = entries.get(name)
    return entry.value.span if entry else None


def _args(entry: Entry | None) -> tuple[str, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(item.text for item in entry.value.items if isinstance(item, Scalar))


def _env(entry: Entry | None) -> dict[str, str] | None:
    if entry is None or not isinstance(entry.value, Mapping):
        return None
    return {item.key.text: item.value.text for item in entry.value if isinstance(item.value, Scalar)}


def _is_true(entry: Entry | None) -> bool:
    return entry is not None and isinstance(entry.value, Scalar) and entry.value.value is True
