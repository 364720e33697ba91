"""A program by itself: its front matter and schemas, its MCP servers, and the names that its template uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.data import Mapping
from prosa.diagnostics import Annotation, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang import ProgramModel
from prosa.dialects.markdownlang.fields import MAX_TOOL_NAME, server_prefix, server_tool_name, tool_name, user_setting
from prosa.dialects.markdownlang.model import ServerModel
from prosa.regex import regex
from prosa.rules.markdownlang import RULES
from prosa.rules.rule import Finding, ProgramSubject
from prosa.source import Edit, Span
from prosa.template import undeclared
from prosa.template.mask import action_spans

REPORTED = (
    RULES.reported("ML001", "missing-front-matter", Severity.ERROR),
    RULES.reported("ML002", "missing-description", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("ML003", "missing-output", Severity.ERROR, stops="run"),
    RULES.reported("ML005", "limit-above-ceiling", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("ML010", "bad-schema", Severity.ERROR),
    RULES.reported("ML011", "schema-without-type", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("ML012", "unknown-schema-keyword", Severity.WARNING),
    RULES.reported("ML013", "required-without-property", Severity.WARNING),
    RULES.reported("ML020", "template-syntax", Severity.ERROR),
)
"""What readers report by name."""


@RULES.program("ML004", "program-name-form", Severity.WARNING, strict=Severity.ERROR)
def program_name_form(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a name that model APIs do not take as the name of a tool (LA12); it still works, changed. The finding points
    at the name."""
    model = subject.program.model
    wire = tool_name(model.name)
    if "name" in model.spans and wire != model.name:
        message = f"the name `{shown(model.name)}` is not a tool name: programs that import it call it `{wire}`"
        note = f"a tool name is at most {MAX_TOOL_NAME} letters, digits, `_` and `-`"
        yield Finding(message, model.span("name"), (note,))


@RULES.program("ML006", "setting-of-the-user", Severity.ERROR)
def setting_of_the_user(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a document that chooses an endpoint, a key, a tool or a permission (X7). The finding points at the field's
    name."""
    for entry in subject.program.model.fields or ():
        instead = user_setting(entry.key.text)
        if instead:
            message = f"`{entry.key.text}` is for the user to decide, not for a document: the line is refused"
            yield Finding(message, entry.key.span, (instead,))


# The MCP servers of a program.


@RULES.program("ML040", "server-without-transport", Severity.ERROR)
def server_without_transport(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an MCP server with neither `command` nor `url` (L7, L18). The finding points at the server's name.
    `python-interpreter` needs neither: it is the built-in tool (LA17)."""
    for server in subject.program.model.mcp_servers:
        if server.command is None and server.url is None and not server.built_in:
            message = f"the MCP server `{server.name or '?'}` has neither `command` nor `url`"
            note = "write `command:` to start a program, or `url:` to connect to a running server"
            yield Finding(message, server.name_span, (note,))


@RULES.program("ML041", "server-with-two-transports", Severity.ERROR)
def server_with_two_transports(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an MCP server with both `command` and `url` (LA10). The finding points at the server's `url`."""
    for server in subject.program.model.mcp_servers:
        if server.command is not None and server.url is not None:
            message = f"the MCP server `{server.name or '?'}` has both `command` and `url`"
            yield Finding(message, server.url_span or server.span, ("remove one of them",))


@RULES.program("ML042", "server-transport-mismatch", Severity.ERROR)
def server_transport_mismatch(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a `transport` that does not go with `command` or with `url` (LA9). The finding points at the transport."""
    for server in subject.program.model.mcp_servers:
        if server.transport == "auto" or (server.command is None) == (server.url is None):
            continue
        needs = "command" if server.transport == "stdio" else "url"
        has = "command" if server.command is not None else "url"
        if needs != has:
            message = f"the transport `{server.transport}` needs `{needs}`, and the server `{server.name}` has `{has}`"
            span = server.transport_span or server.span
            yield Finding(message, span, ("leave `transport` out to let it be found",))


_HTTP = regex(r"https?://[^\s/?#]+", re.IGNORECASE)


@RULES.program("ML043", "server-url-scheme", Severity.ERROR)
def server_url_scheme(subject: ProgramSubject) -> Iterator[Finding]:
    """Find the `url` of an MCP server that is not http or https (L18). The finding points at the URL."""
    for server in subject.program.model.mcp_servers:
        if server.url is not None and not _HTTP.match(server.url):
            message = (
                f"the URL of an MCP server starts with `http://` or `https://` and a host, not `{shown(server.url)}`"
            )
            yield Finding(message, server.url_span or server.span)


@RULES.program("ML044", "duplicate-server", Severity.ERROR)
def duplicate_server(subject: ProgramSubject) -> Iterator[Finding]:
    """Find two MCP servers of one name, or of names that give their tools the same names (L20, LA12). The finding
    points at the name of the later one. Disabled servers have no tools and do not count."""
    first: dict[str, ServerModel] = {}
    for server in subject.program.model.mcp_servers:
        if server.disabled or not server.name:
            continue
        earlier = first.setdefault(server_prefix(server.name), server)
        if earlier is server:
            continue
        same = earlier.name == server.name
        message = f"there are two MCP servers `{shown(server.name)}`" if same else _alike(earlier, server)
        annotation = Annotation(earlier.name_span, "the first one")
        yield Finding(message, server.name_span, ("give one of them another name",), (annotation,))


def _alike(earlier: ServerModel, server: ServerModel) -> str:
    names = f"`{shown(earlier.name)}` and `{shown(server.name)}`"
    return f"the MCP servers {names} both offer their tools as `{server_prefix(server.name)}…`"


# The body of a program: the names that its template uses, and the tools that it speaks of.


def _not_declared(subject: ProgramSubject, *, closed: bool) -> Iterator[Finding]:
    """Yield one problem for every use of a name that the schema does not declare, where it is closed or open."""
    model = subject.program.model
    schema = model.input.value if model.input is not None else None
    if model.template is None or not isinstance(schema, dict | bool):
        return
    for name in undeclared(model.template, schema):
        if name.closed != closed:
            continue
        note = f"did you mean `{name.suggestion}`?" if name.suggestion else "declare it under `input.properties`"
        fate = " and no input may have it" if closed else ""
        message = f"`{shown(name.name)}` is not declared by the input schema{fate}"
        last = name.name.rpartition(".")[2]
        meant = Misspelling(last, name.suggestion) if name.suggestion else None
        yield Finding(message, name.span.shift(model.body_offset), (note,), misspelling=meant)


@RULES.program("ML021", "undeclared-name", Severity.ERROR, stops="nothing")
def undeclared_name(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a name in the template that the input schema does not declare (X13). The finding points at the name in the
    body. An open schema may still receive it, so a run is not stopped."""
    return _not_declared(subject, closed=False)


@RULES.program("ML022", "impossible-name", Severity.ERROR)
def impossible_name(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a name in the template that the closed input schema excludes (X13). The finding points at the name in the
    body. `additionalProperties: false` means no input can ever have it."""
    return _not_declared(subject, closed=True)


_WHOLE = regex(r"(?<![\w.)\]])\.(?![\w.])|\$(?!\w)(?!\.\w)")
"""A dot or `$` by itself inside an action: the whole input, or a part of it that `range` or `with` chose."""


@RULES.program("ML024", "unused-input", Severity.INFO)
def unused_input(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a property of the input schema that the template never uses, so that the model never sees it. The finding
    points at the name of the property. It is silent if the template may use the input as a whole, or uses an
    undeclared name: then one of the two is most likely a misspelling, and is reported once."""
    model = subject.program.model
    declared = _declared(model)
    if not declared or model.template is None or _uses_all(model):
        return
    used = {use.path[0] for use in model.template.uses if use.path}
    if None in used or used - {entry.key.text for entry in declared}:
        return
    for entry in declared:
        if entry.key.text not in used:
            message = f"the body never uses the input `{shown(entry.key.text)}`"
            note = f"write {{{{ .{entry.key.text} }}}} where the model should see it, or remove it"
            yield Finding(message, entry.key.span, (note,))


def _declared(model: ProgramModel) -> Mapping | None:
    node = model.input.node if model.input is not None else None
    properties = node.get("properties") if isinstance(node, Mapping) else None
    return properties if isinstance(properties, Mapping) and properties.entries else None


def _uses_all(model: ProgramModel) -> bool:
    return any(_WHOLE.search(span.of(model.body)) for span in action_spans(model.body))


_MANGLED = regex(r"(?<![A-Za-z0-9_-])mcp\*\*([A-Za-z0-9_.-]{1,64})\*\*([A-Za-z0-9_.-]{1,64})")
"""A word, not structure: the body goes to the model as text, so emphasis is not parsed away."""


@RULES.program("ML023", "mangled-tool-name", Severity.WARNING)
def mangled_tool_name(subject: ProgramSubject) -> Iterator[Finding]:
    """Find `mcp**server**tool`, where a formatter took the underscores for bold (LA13). The finding points at the
    mangled name in the body."""
    model = subject.program.model
    for match in _MANGLED.finditer(model.body) if "mcp**" in model.body else ():
        name = server_tool_name(match[1], match[2].rstrip("."))
        span = Span(match.start(), match.end() - (len(match[2]) - len(match[2].rstrip(".")))).shift(model.body_offset)
        fix = Fix(f"write `{name}`", (Edit(span, name),))
        yield Finding(f"this tool is called `{name}`", span, ("a formatter ate the underscores",), fix=fix)


_NAMED = regex(r"(?<![A-Za-z0-9_-])mcp__[A-Za-z0-9_-]{1,64}")

MAX_NAMED_TOOLS = 100
"""Maximum number of tools in one body that are checked."""


@RULES.program("ML025", "unknown-tool", Severity.WARNING)
def unknown_tool(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a tool in the body whose MCP server the program does not have (L20). The finding points at the name in the
    body. The tools of a server are only known while it runs; the servers are known now."""
    model = subject.program.model
    known = {server_prefix(declared.name): declared for declared in model.mcp_servers if declared.name}
    for match in [*_NAMED.finditer(model.body)][:MAX_NAMED_TOOLS] if "mcp__" in model.body else ():
        name = match.group()
        prefix = next((candidate for candidate in known if name.startswith(candidate)), None)
        span = Span(*match.span()).shift(model.body_offset)
        if prefix is not None and not known[prefix].disabled:
            yield from _not_named(name, known[prefix], span)
            continue
        server = name.split("__")[1]
        if prefix is not None:
            yield Finding(f"`{name}` belongs to a server that is disabled", span)
            continue
        guess = nearest(server, [declared.name for declared in model.mcp_servers])
        note = f"did you mean the server `{guess}`?" if guess else "declare it under `mcp_servers`"
        message = f"`{name}` is not a tool: the program has no server `{server}`"
        meant = Misspelling(server, guess) if guess else None
        yield Finding(message, span, (note,), misspelling=meant)


def _not_named(name: str, server: ServerModel, span: Span) -> Iterator[Finding]:
    """Yield a tool that is not among those that the program names for its server."""
    if server.tools is None:
        return
    names = [server_tool_name(server.name, tool.name) for tool in server.tools]
    if name not in (*names, server_prefix(server.name)):
        guess = nearest(name, names)
        note = f"did you mean `{guess}`?" if guess else "name it under `tools` of the server"
        meant = Misspelling(name, guess) if guess else None
        message = f"`{name}` is not a tool: `tools` of the server `{shown(server.name)}` does not name it"
        yield Finding(message, span, (note,), misspelling=meant)
