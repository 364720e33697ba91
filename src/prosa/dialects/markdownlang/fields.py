"""The fields of a program, its servers and its limits, as tables (L2–L8, L18, LA9, LA19), and names of tools as model
APIs accept them (L20, LA12).

`limits` and its names are defined by Prosa: the specification only says that limits are configurable (LA7, LA19). Sites
are not fetched: their actions are known only while a program runs.

A wire name is never parsed back: the code that offers tools keeps the map from name to tool.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from msgspec.structs import replace

from prosa.data import Entry, Mapping, Scalar, Sequence
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Form
from prosa.dialects.quantity import age_form, count_form, count_or_none_form, size_form, time_form
from prosa.regex import regex
from prosa.source.files import sha256

FIELD = "mdh"
MAX_SITES = 16
"""Pages on which one run may start; each is read before a model is called."""

_UNSAFE = '\\\x7f<>"{}'


def site_form(text: str) -> str | None:
    """Return why a text cannot be the URL of a page, as the rest of a sentence; None if it can."""
    if any(char <= " " or char in _UNSAFE for char in text):
        return "must be a URL without white space, braces or backslashes"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a URL: its host or port cannot be read"
    if parts.scheme.lower() not in ("http", "https") or not host:
        return "must be a URL that begins with `https://` or `http://` and names a host"
    if "@" in parts.netloc:
        return "must not carry a name or a password; a token is given on the command line, with --site-token"
    return "must have a host without `%`" if "%" in host else None


def as_list(mapping: Mapping) -> tuple[Mapping, tuple[Problem, ...]]:
    """Return the front matter with a single URL as a list of one, and a hint where that was done."""
    entry = next((field for field in mapping if field.key.text == FIELD), None)
    if entry is None or not isinstance(entry.value, Scalar) or entry.value.value is None:
        return mapping, ()
    changed = Entry(entry.key, Sequence((entry.value,), entry.value.span))
    entries = tuple(changed if field is entry else field for field in mapping)
    message = f"`{FIELD}` is a list, and this is one value: it is read as a list of one"
    return replace(mapping, entries=entries), (
        Problem("scalar-for-list", message, entry.value.span, severity=Severity.HINT),
    )


def read_sites(entry: Entry | None) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return the URLs of a well-formed entry, at most `MAX_SITES`, and a problem for more than those."""
    if entry is None or not isinstance(entry.value, Sequence):
        return (), ()
    items = {item.text: item for item in entry.value.items if isinstance(item, Scalar)}
    beyond = list(items.values())[MAX_SITES:]
    message = f"`{FIELD}` names {len(items)} URLs; a program has at most {MAX_SITES}"
    problems = (Problem("wrong-form", message, beyond[0].span),) if beyond else ()
    return tuple(items)[:MAX_SITES], problems


def _not_empty(text: str) -> str | None:
    return None if text.strip() else "is empty"


def _model_form(text: str) -> str | None:
    """Require a letter in the name of a model; a number or a truth value was meant for something else."""
    if not text.strip():
        return "is empty"
    if text.strip() in ("true", "false") or not any(char.isalpha() for char in text):
        return f"is the name of a model, as in `gpt-4o`, found {text[:40]}"
    return None


def _between(most: int) -> Form:
    """Return a check that a number is at least 0 and at most ``most``."""

    def form(text: str) -> str | None:
        try:
            return None if 0 <= float(text) <= most else f"must be a number from 0 to {most}"
        except ValueError:
            return f"must be a number from 0 to {most}"

    return form


def _mailbox_form(text: str) -> str | None:
    """Return what keeps a text from naming a mailbox; the one called `send` may be written as `./send`."""
    if MAILBOX.fullmatch(text.removeprefix("./")) is not None:
        return None
    return f"must be the name of a mailbox: letters, digits, `_` and `-`, at most {MAX_MAILBOX}"


IMPORT: tuple[Field, ...] = (
    Field(
        "path",
        "string",
        required=True,
        form=_not_empty,
        why="it is a path to another program or to a skill, relative to this file",
        about="the path, relative to this file",
    ),
    Field(
        "wait",
        "boolean",
        about="false returns a ticket at once and delivers the output to the `mailbox`; by default true",
    ),
)

MAILBOX_FIELDS: tuple[Field, ...] = (
    Field("name", "string", form=_mailbox_form, about="the name of the mailbox; by default that of the program"),
    Field(
        "send",
        "strings",
        form=_mailbox_form,
        about="the mailboxes that the program may write to; those of its imports and of who wrote to it without",
    ),
    Field(
        "expires",
        "quantity",
        form=age_form,
        about="how long a message waits before it becomes a dead letter, such as `30d`; default: never",
    ),
)

SERVER_TOOL: tuple[Field, ...] = (
    Field("name", "string", required=True, why="it is the name that the server knows", about="its name at the server"),
    Field("description", "string", about="its description for the model; default: that of the server"),
    Field(
        "parameters",
        "mapping",
        holds="schema",
        about="the JSON Schema of its arguments; where all tools have it, the server starts when one is called",
    ),
    Field(
        "read_only",
        "boolean",
        also="read-only",
        about="true if a call changes nothing; by default what the server declares, and false before it starts",
    ),
)

SERVER: tuple[Field, ...] = (
    Field(
        "name",
        "string",
        required=True,
        why="its tools are called `mcp__NAME__TOOL`",
        about="the name of the server; its tools are called `mcp__NAME__TOOL`",
    ),
    Field("command", "string", form=_not_empty, about="the command that starts it"),
    Field("args", "strings", about="the arguments of the command"),
    Field("env", "string-map", about="further environment variables; `${NAME}` is the value of one of the user"),
    Field("url", "string", form=_not_empty, about="the address of a server that runs already"),
    Field(
        "transport",
        "string",
        choices=("auto", "stdio", "streamable-http", "sse"),
        about="how it is spoken to; without it what fits `command` or `url`",
    ),
    Field("disabled", "boolean", about="true leaves the server out"),
    Field("tools", "mappings", about="those of its tools that the model is offered; all without", inner=SERVER_TOOL),
)

PYTHON: tuple[Field, ...] = (
    Field("timeout", "quantity", form=time_form, about="how long one call may take; 30s without"),
    Field("memory", "quantity", form=size_form, about="how much memory it may take; 128MB without"),
)

LIMITS: tuple[Field, ...] = (
    Field("iterations", "quantity", form=count_form, about="model calls of one run; 10 without"),
    Field("timeout", "quantity", form=time_form, about="how long a run may take; 10m without"),
    Field(
        "retries",
        "quantity",
        form=count_or_none_form,
        about="further attempts of a model call after a transient error; 10 without",
    ),
    Field(
        "tool_result",
        "quantity",
        form=size_form,
        also="tool-result",
        about="how much of a tool result reaches the model; 256KB without",
    ),
    Field("concurrency", "quantity", form=count_form, about="tool calls that run at the same time; 8 without"),
    Field("tool_calls", "quantity", form=count_form, also="tool-calls", about="tool calls of one reply; 32 without"),
    Field(
        "output_tokens",
        "quantity",
        form=count_form,
        also="output-tokens",
        about="tokens that one model call may write; no limit without",
    ),
)

PROGRAM: tuple[Field, ...] = (
    Field(
        "name",
        "string",
        required=True,
        why="other programs and the summary call it by this name",
        about="letters, digits, `_` and `-`: other programs call it by this name",
    ),
    Field(
        "description",
        "string",
        required=True,
        missing="missing-description",
        wanted="a sentence that says what it does",
        about="one sentence for the model and for calling programs",
    ),
    Field(
        "input",
        "schema",
        holds="schema",
        required=True,
        wanted="a JSON Schema",
        why="write `input: {type: object}` for a program that takes nothing",
        about="the input of the program: a JSON Schema, Draft 2020-12",
    ),
    Field(
        "output",
        "schema",
        holds="schema",
        required=True,
        missing="missing-output",
        wanted="a JSON Schema",
        why="a run answers with JSON of this schema",
        about="what a run answers with: a JSON Schema, Draft 2020-12",
    ),
    Field(
        "imports",
        "strings-or-mappings",
        form=_not_empty,
        about="a list of paths to other programs and to skills, relative to this file; each becomes a tool",
        inner=IMPORT,
    ),
    Field("mcp_servers", "mappings", about="a list of MCP servers whose tools the model may call", inner=SERVER),
    Field(FIELD, "strings", form=site_form, about="a list of URLs of pages whose actions are tools"),
    Field("model", "string", form=_model_form, about="the name of a model"),
    Field("temperature", "number", form=_between(2), about="sampling temperature, from 0 to 2"),
    Field("top_p", "number", form=_between(1), also="top-p", about="the share of likely words that count, from 0 to 1"),
    Field("seed", "integer", about="a random seed, for services that take one"),
    Field(
        "mailbox",
        "flag-or-mapping",
        about="true gives the program a mailbox and the tools `mail_send`, `mail_receive` and `mail_query`",
        inner=MAILBOX_FIELDS,
    ),
    Field("python", "mapping", about="limits of the built-in tool `python`", inner=PYTHON),
    Field("limits", "mapping", about="limits of one run", inner=LIMITS),
)


_BASE_URL = "give it on the command line: `prosa run FILE --base-url URL`, or set OPENAI_BASE_URL"
_KEY = "set OPENAI_API_KEY; a key never belongs in a document"
_API = "give it on the command line: `prosa run FILE --api responses`"
_TOOLS = "a program gets tools from `imports`, `mcp_servers` and `mdh`, and has the built-in `python`"
_TRUST = "permissions are given by the user who runs the program"

SAMPLING = ("temperature", "top_p", "seed")
"""The fields that shape the chance in an answer; services take them under these names."""

USER_SETTINGS: dict[str, str] = {
    "base_url": _BASE_URL,
    "api_base": _BASE_URL,
    "openai_base_url": _BASE_URL,
    "endpoint": _BASE_URL,
    "api_key": _KEY,
    "apikey": _KEY,
    "openai_api_key": _KEY,
    "api": _API,
    "tools": _TOOLS,
    "allowed_tools": _TOOLS,
    "plugins": _TRUST,
    "permissions": _TRUST,
    "trust": _TRUST,
    "trusted": _TRUST,
}
"""In lower case with `_`; use `user_setting` to look up a name."""


def user_setting(name: str) -> str | None:
    """Return what to do instead of writing this field, or None when it is no setting of the user."""
    return USER_SETTINGS.get(name.lower().replace("-", "_"))


# Names of tools as model APIs accept them: at most 64 of `[A-Za-z0-9_-]` (L20, LA12).

MAX_TOOL_NAME = 64
"""The bound of the model APIs."""

_HASH = 8
"""Hex digits that keep two long names with the same beginning apart."""

PYTHON_TOOL = "python"
"""The built-in tool (L22); no import may take its name."""

VISIT_TOOL = "visit"
"""The tool that goes from page to page, where a program has sites (X15)."""

MAIL_TOOLS = ("mail_send", "mail_receive", "mail_query")
"""The tools of a mailbox, where a program has one (L47)."""

MAX_MAILBOX = 64

ACTION_PREFIX = "mdh__"
"""Prefix of the wire names of actions."""

MAILBOX = regex(r"[A-Za-z0-9_-]{1,64}")
"""The name of a mailbox."""

USER = "user"
"""Who sends messages from the command line, and the mailbox that answers to that go to; no program is that."""

_BAD = regex(r"[^A-Za-z0-9_-]")


def tool_name(name: str) -> str:
    """Return the wire name of an imported program: each other character becomes `_`; a long name is cut and gets a
    hash."""
    is_clean = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    clean = name if is_clean else _BAD.sub("_", name) or "_"
    if len(clean) <= MAX_TOOL_NAME:
        return clean
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{clean[: MAX_TOOL_NAME - _HASH - 1]}_{digest}"


def server_tool_name(server: str, tool: str) -> str:
    """Return the wire name of a tool of an MCP server (L20)."""
    return tool_name(f"mcp__{server}__{tool}")


def action_tool_name(action: str, taken: Collection[str], site: str) -> str:
    """Return the wire name of an action of a site (X15). One that is taken gets a hash of ``site`` and id behind it."""
    name = tool_name(f"{ACTION_PREFIX}{action}")
    if name not in taken:
        return name
    digest = sha256(f"{site} {action}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{name[: MAX_TOOL_NAME - _HASH - 1]}_{digest}"


def server_prefix(server: str) -> str:
    """Return the prefix of the wire names of a server's tools, unless they are too long."""
    return _BAD.sub("_", f"mcp__{server}__")
