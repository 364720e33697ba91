"""Completion in the body of a document: wikilinks, links, anchors, labels, footnotes, tools, suppressions, fences, and
the lines of a chat.

In: a cursor in a body; the line up to the offset decides what is being written. Out: the candidates. There are none in
code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from msgspec.structs import replace

from prosa.app.editor.candidates import NOTHING, Candidate, Completions, completions
from prosa.app.editor.complete_documents import (
    anchors,
    attached,
    block_names,
    document_named,
    headings,
    link_paths,
    stems,
)
from prosa.app.editor.cursor import CursorContext
from prosa.dialects import DialectName
from prosa.dialects.evals.document.fields import BLOCKS
from prosa.dialects.markdownlang.fields import MAIL_TOOLS, PYTHON_TOOL, server_prefix, server_tool_name, tool_name
from prosa.dialects.markdownlang.model import ProgramModel, ServerModel
from prosa.dialects.prapti.commands import CHAT_ROLES, TEXT_ROLES, kind_names
from prosa.dialects.prapti.fields import ABOUT_ACTIONS, BUILT_IN_PLUGINS, SETTINGS, setting_of
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MARKDOWNLANG, PRAPTI
from prosa.regex import regex
from prosa.rules.findings import MARK
from prosa.rules.registry import all_rules
from prosa.source import Span

MAX_LINE = 2_000
"""Maximum number of characters before the offset that are read."""

_WIKI = regex(r"(?P<embed>!?)\[\[(?P<target>[^\[\]|#^]*)(?P<mark>[#^]\^?)?(?P<part>[^\[\]|]*)\Z")
_WIKI_REST = regex(r"[^\[\]|#^\r\n]*(?=[\]|#^])|[\w-]*")
_PART_REST = regex(r"[^\[\]|\r\n]*(?=[\]|])|[\w-]*")
_LINK = regex(
    r"(?P<embed>!?)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\((?P<open><?)(?P<target>[^()<>\s#]*)(?P<mark>#)?(?P<part>[^()<>\s]*)\Z"
)
_DEFINITION = regex(r" {0,3}\[(?!\^)[^\[\]]+\]:[ \t]+(?P<open><?)(?P<target>[^\s<>#]*)(?P<mark>#)?(?P<part>[^\s<>]*)\Z")
_LINK_REST = regex(r"[^()<>\s#]*")
_FRAGMENT_REST = regex(r"[^()<>\s]*")
_LABEL = regex(r"\]\[(?P<label>[^\[\]]*)\Z")
_FOOTNOTE = regex(r"(?<!\\)\[\^(?P<label>[^\[\]\s]*)\Z")
_LABEL_REST = regex(r"[^\[\]\r\n]*(?=\])|[\w-]*")
"""What belongs to a name behind the offset: all up to the bracket that closes it, else the rest of a word."""
_TOOL = regex(r"(?:(?<![\w-])(?=mcp_)|(?<!`)`)(?P<name>[\w-]*)\Z")
_IGNORE = regex(rf"(?:<!--[ \t]*|(?:^|[ \t])#[ \t]*){MARK}(?:-file)?(?:[ \t,]+[\w-]+)*[ \t,]+(?P<name>[\w-]*)\Z")
_MARKING = regex(r"<!--[ \t]*(?P<name>[\w-]*)\Z")
_WORD_REST = regex(r"[\w-]*")
_NAME_REST = regex(r"[\w.-]*")
_ARGUMENT_REST = regex(r"[^\s]*")
_NEW = regex(r"%%?!?[ \t]*responder\.new[ \t]+([\w.-]+)")
_FENCE_OPEN = regex(r"[ \t>]*(?:`{3,}|~{3,})(?P<info>[^`\r\n]*)\Z")
_ROLE = regex(r"###[ \t]+(?://)?[ \t]*@(?P<role>[\w.-]*)(?P<slash>/)?(?P<name>[\w.-]*)\Z")
_CONFIG = regex(r"[ \t]{0,3}(?:>[ \t]{0,4})*(?://)?%%?!?[ \t]*(?P<name>[\w.-]*)\Z")
_ACTION = regex(r"[ \t]{0,3}(?:>[ \t]{0,4})*(?://)?%%?!?[ \t]*(?P<action>[\w.]+)[ \t]+(?P<args>[^=\r\n]*)\Z")
_ASSIGNED = regex(r"[ \t]{0,3}(?:>[ \t]{0,4})*(?://)?%%?!?[ \t]*(?P<key>[\w.-]+)[ \t]*=[ \t]*(?P<value>[^\r\n]*)\Z")


def body_completions(cursor: CursorContext) -> Completions:
    """Return what may be written at a cursor in a body."""
    line = cursor.line[-MAX_LINE:]
    for look in (_suppression, *_OF_DIALECT.get(cursor.dialect, ()), _wikilink, _link, _footnote, _label, _tool):
        suggestions = look(cursor, line)
        if suggestions is not None:
            return suggestions
    return NOTHING


def fence_completions(cursor: CursorContext) -> Completions:
    """Return what may stand in the info string of a fence."""
    line = cursor.line
    match = _FENCE_OPEN.match(line)
    words = _INFO.get(cursor.dialect, ())
    if match is None or not words:
        return NOTHING
    typed = match["info"].lstrip()
    start = cursor.offset - len(typed)
    return completions(
        cursor.path,
        Span(start, cursor.standing.line.end),
        typed,
        (Candidate(name, "language", None, about) for name, about in words),
    )


_INFO: dict[DialectName, tuple[tuple[str, str], ...]] = {
    "magi": (("ai-script", "an instruction for a model"),),
    "ymj": (("json", "the footer, where it is the last block"),),
    "test": tuple(BLOCKS.items()),
}
"""The fences that mean something in a dialect."""


def front_words(cursor: CursorContext) -> Completions | None:
    """Return completions of a line of front matter besides its data: a suppression, a wikilink in a value."""
    line = cursor.line[-MAX_LINE:]
    return _suppression(cursor, line) or _wikilink(cursor, line)


def _rest(cursor: CursorContext, pattern: re.Pattern[str]) -> int:
    """Return where the word under the offset ends."""
    match = pattern.match(cursor.text, cursor.offset, cursor.standing.line.end)
    return match.end() if match else cursor.offset


def _around(cursor: CursorContext, typed: str, rest: re.Pattern[str]) -> Span:
    return Span(cursor.offset - len(typed), _rest(cursor, rest))


# ---- links ----


def _wikilink(cursor: CursorContext, line: str) -> Completions | None:
    at = line.rfind("[[")
    match = _WIKI.search(line, max(0, at - 1)) if at >= 0 else None
    if match is None:
        return None
    mark, part = match["mark"] or "", match["part"]
    if mark:
        return _part_of(cursor, match["target"].strip(), mark, part)
    typed = match["target"]
    span = _around(cursor, typed, _WIKI_REST)
    ending = _closing(cursor, span.end)
    candidates = [*stems(cursor, typed.strip()), *(attached(cursor, typed.strip()) if match["embed"] else ())]
    return completions(cursor.path, span, typed.strip(), (_ended(candidate, ending) for candidate in candidates))


def _closing(cursor: CursorContext, at: int) -> str:
    """Return the brackets that a wikilink lacks behind its target."""
    if cursor.text.startswith(("]]", "|", "#", "^", "\\|"), at):
        return ""
    return "]" if cursor.text.startswith("]", at) else "]]"


def _ended(candidate: Candidate, ending: str) -> Candidate:
    if not ending:
        return candidate
    text = candidate.label if candidate.text is None else candidate.text
    return replace(candidate, text=f"{text}{ending}")


def _part_of(cursor: CursorContext, target: str, mark: str, part: str) -> Completions:
    """Return headings behind `#`, blocks behind `^` or `#^`."""
    span = _around(cursor, part, _PART_REST)
    ending = _closing(cursor, span.end)
    make = block_names if "^" in mark else headings
    made = _within(cursor, target, make, wikilink=True)
    return completions(cursor.path, span, part, (_ended(candidate, ending) for candidate in made))


def _within(
    cursor: CursorContext,
    target: str,
    make: Callable[[DialectReading[object], Path], Iterable[Candidate]],
    *,
    wikilink: bool,
) -> Iterable[Candidate]:
    """Return what ``make`` finds in the document that a target leads to."""
    real = document_named(cursor, target, wikilink=wikilink)
    if real is None:
        return ()
    reading = cursor.reading if real == cursor.path else cursor.workspace.reading(real)
    return make(reading, real) if reading is not None else ()


def _link(cursor: CursorContext, line: str) -> Completions | None:
    match = _LINK.search(line) if "](" in line else None
    match = match or _DEFINITION.match(line)
    if match is None:
        return None
    target, part = match["target"], match["part"]
    if match["mark"]:
        span = _around(cursor, part, _FRAGMENT_REST)
        return completions(
            cursor.path, span, part, _within(cursor, unquote(target).partition("?")[0], anchors, wikilink=False)
        )
    if "://" in target:
        return NOTHING
    embedded = match.groupdict().get("embed") == "!"
    span = _around(cursor, target, _LINK_REST)
    typed = unquote(target)
    return completions(cursor.path, span, typed, link_paths(cursor, typed, embedded=embedded))


def _label(cursor: CursorContext, line: str) -> Completions | None:
    """Return the label of a reference, or of a link by its label alone."""
    match = _LABEL.search(line)
    if match is None or cursor.reading is None:
        return None
    defined = cursor.reading.document.definitions
    candidates = (
        Candidate(definition.label, "label", None, definition.destination[:100], definition.title)
        for definition in defined
    )
    return completions(cursor.path, _around(cursor, match["label"], _LABEL_REST), match["label"], candidates)


def _footnote(cursor: CursorContext, line: str) -> Completions | None:
    """Return the label of a footnote that is defined."""
    match = _FOOTNOTE.search(line)
    if match is None or cursor.reading is None:
        return None
    document, text = cursor.reading.document, cursor.text
    span = _around(cursor, match["label"], _LABEL_REST)
    ending = "" if text.startswith("]", span.end) else "]"
    candidates = (
        Candidate(
            definition.label,
            "label",
            f"{definition.label}{ending}",
            " ".join(definition.content.of(text)[:200].split())[:100],
        )
        for definition in document.footnote_definitions
    )
    return completions(cursor.path, span, match["label"], candidates)


def _tool(cursor: CursorContext, line: str) -> Completions | None:
    """Return the tools of a program: those of its servers by how their names begin, in backticks imported programs
    too."""
    match = _TOOL.search(line) if cursor.dialect == "markdownlang" else None
    program = cursor.reading.model_of(MARKDOWNLANG) if match is not None and cursor.reading is not None else None
    if match is None or program is None:
        return None
    servers = (server for server in program.mcp_servers if server.name and not server.built_in and not server.disabled)
    candidates = [tool for server in servers for tool in _server_tools(server)]
    if not match["name"].startswith("mcp_"):
        candidates += [Candidate(PYTHON_TOOL, "tool", None, "the built-in interpreter"), *_imported(cursor, program)]
        if program.mailbox is not None:
            candidates += [Candidate(name, "tool", None, "a tool of the mailbox") for name in MAIL_TOOLS]
    return completions(cursor.path, _around(cursor, match["name"], _WORD_REST), match["name"], candidates)


def _server_tools(server: ServerModel) -> list[Candidate]:
    """Return the tools that a program names for a server, else how the names of all of them begin."""
    if server.tools is None:
        return [Candidate(server_prefix(server.name), "tool", None, f"tools of {server.name}")]
    names = ((server_tool_name(server.name, tool.name), tool.description) for tool in server.tools)
    return [Candidate(name, "tool", None, words or f"a tool of {server.name}") for name, words in names]


def _imported(cursor: CursorContext, program: ProgramModel) -> Iterator[Candidate]:
    """Yield the programs that a program imports, by the names under which they are tools."""
    by_real = {document.real: document for document in cursor.catalogue.of_dialect("markdownlang")}
    for ref in program.imports:
        known = by_real.get(cursor.workspace.files.real(cursor.path.parent / ref.text))
        if known is not None:
            name = known.ids[0] if known.ids else known.stem
            yield Candidate(tool_name(name), "program", None, ref.text, about=known.real)


# ---- suppressions ----


def _suppression(cursor: CursorContext, line: str) -> Completions | None:
    """Return the rules that a suppression names, or the word that begins one."""
    if MARK in line:
        match = _IGNORE.search(line)
        if match is None:
            return None
        return completions(cursor.path, _around(cursor, match["name"], _WORD_REST), match["name"], rule_names())
    match = _MARKING.search(line)
    if match is None:
        return None
    words = (
        Candidate(MARK, "keyword", f"{MARK} ", "suppresses a rule in the next block, or on this line"),
        Candidate(f"{MARK}-file", "keyword", f"{MARK}-file ", "suppresses a rule in this document"),
    )
    return completions(cursor.path, _around(cursor, match["name"], _WORD_REST), match["name"], words)


def rule_names() -> Iterator[Candidate]:
    """Return all rules by name; their codes lead to them too."""
    return (
        Candidate(rule.name, "rule", None, f"{rule.code}, {rule.severity}", names=(rule.code,)) for rule in all_rules()
    )


# ---- chats ----


def _chat(cursor: CursorContext, line: str) -> Completions | None:
    """Return the roles of messages, and configuration lines."""
    if (role := _ROLE.match(line)) is not None:
        return _role(cursor, role)
    if "%" not in line:
        return None
    if (named := _CONFIG.match(line)) is not None:
        typed = named["name"]
        return completions(cursor.path, _around(cursor, typed, _NAME_REST), typed, _settings(cursor))
    if (assigned := _ASSIGNED.match(line)) is not None:
        return _assigned(cursor, assigned["key"], assigned["value"])
    match = _ACTION.match(line)
    return _argument(cursor, match["action"], match["args"]) if match is not None else None


def _role(cursor: CursorContext, match: re.Match[str]) -> Completions:
    rest = cursor.text[_rest(cursor, _NAME_REST) : cursor.standing.line.end]
    if match["slash"]:
        names = _participants(cursor)
        made = (Candidate(name, "role", name if rest.startswith(":") else f"{name}:") for name in names)
        return completions(cursor.path, _around(cursor, match["name"], _NAME_REST), match["name"], made)
    ending = "" if rest.startswith((":", "/")) else ":"
    roles = (
        Candidate(role, "role", f"{role}{ending}", far=0 if role in CHAT_ROLES else 1)
        for role in (*CHAT_ROLES, *TEXT_ROLES)
    )
    return completions(cursor.path, _around(cursor, match["role"], _NAME_REST), match["role"], roles)


def _participants(cursor: CursorContext) -> list[str]:
    """Return the names that messages of this chat have."""
    model = cursor.reading.model_of(PRAPTI) if cursor.reading is not None else None
    return sorted({message.name for message in model.messages if message.name}) if model is not None else []


def _settings(cursor: CursorContext) -> Iterator[Candidate]:
    lead = " " if cursor.line.endswith("%") else ""
    for setting in SETTINGS:
        name = setting.path.removeprefix("vars.")
        yield Candidate(
            name,
            "setting",
            f"{lead}{name} = ",
            setting.type,
            setting.about,
            far=0 if setting.path.startswith("v") else 1,
        )
    for action, about in ABOUT_ACTIONS.items():
        yield Candidate(action, "command", f"{lead}{action} ", "a command", about)


def _assigned(cursor: CursorContext, key: str, typed: str) -> Completions:
    """Return the values that a setting may have."""
    setting = setting_of(key)
    words = ["true", "false"] if setting is not None and setting.type == "flag" else []
    span = Span(cursor.offset - len(typed), cursor.standing.line.end)
    return completions(cursor.path, span, typed, (Candidate(word, "value") for word in words))


def _argument(cursor: CursorContext, action: str, typed: str) -> Completions:
    """Return what an action takes."""
    words = typed.split(" ")
    last = words[-1]
    span = _around(cursor, last, _ARGUMENT_REST)
    if action in ("include", "include.code") and len(words) == 1:
        return completions(cursor.path, span, last, link_paths(cursor, last))
    names: Iterable[str] = ()
    if action == "responder.new" and len(words) == 2:
        names = kind_names()
    elif action == "responder.push" and len(words) == 1:
        names = dict.fromkeys(match[1] for match in _NEW.finditer(cursor.text))
    elif action == "plugins.load" and len(words) == 1:
        names = BUILT_IN_PLUGINS
    return completions(cursor.path, span, last, (Candidate(name, "value") for name in names))


_OF_DIALECT: dict[DialectName, tuple[Callable[[CursorContext, str], Completions | None], ...]] = {"prapti": (_chat,)}
