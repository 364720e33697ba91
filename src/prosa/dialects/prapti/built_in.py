"""The commands that every chat has: one row each."""

from __future__ import annotations

import re

from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.commands import Call, Command, Outcome
from prosa.dialects.prapti.include import include, include_code
from prosa.dialects.prapti.responders import MAX_RESPONDERS, kind_named, kind_names
from prosa.dialects.prapti.trust import BUILT_IN_PLUGINS

_NAME = re.compile(r"[\w.-]{1,64}")


def load_plugin(call: Call) -> Outcome:
    """`plugins.load NAME`: nothing to do for what is built in or allowed; everything else is refused (X7)."""
    name = _first(call)
    if not name:
        return Outcome(problem="`plugins.load` names no plugin", note="write `% plugins.load NAME`")
    if name in BUILT_IN_PLUGINS or name in call.plugins:
        return Outcome()
    note = f"allow it yourself: --plugin {name}, or if you trust the document: prosa trust {call.source.path}"
    return Outcome(problem=f"a document cannot load a plugin: `{name}`", note=note)


def list_plugins(call: Call) -> Outcome:
    """`plugins.list`: the plugins and commands there are, shown beside the conversation."""
    del call
    return Outcome(shows="plugins")


def inspect(call: Call) -> Outcome:
    """`inspect`: the configuration in effect, shown beside the conversation."""
    del call
    return Outcome(shows="tree")


def new_responder(call: Call) -> Outcome:
    """`responder.new NAME KIND`."""
    words = _words(call)
    if len(words) != 2 or not _NAME.fullmatch(words[0]):
        return Outcome(problem="`responder.new` needs a name and a kind", note="write `% responder.new NAME KIND`")
    kind = kind_named(words[1])
    if kind is None:
        near = nearest(words[1], kind_names())
        note = f"did you mean `{near}`?" if near else f"there are {', '.join(kind_names())}"
        return Outcome(problem=f"there is no kind of responder `{words[1][:64]}`", note=note)
    if len(call.responders.known) >= MAX_RESPONDERS:
        return Outcome(problem=f"a chat has at most {MAX_RESPONDERS} responders")
    return Outcome(responders=call.responders.with_new(words[0], kind))


def push_responder(call: Call) -> Outcome:
    """`responder.push NAME`: from here on it answers."""
    name = _first(call)
    known = tuple(call.responders.known)
    if name not in known:
        near = nearest(name, known)
        note = f"did you mean `{near}`?" if near else f"make it first: `% responder.new {name or 'NAME'} chat`"
        return Outcome(problem=f"there is no responder `{name[:64]}`", note=note)
    if len(call.responders.stack) >= MAX_RESPONDERS:
        return Outcome(problem=f"at most {MAX_RESPONDERS} responders can be pushed")
    return Outcome(responders=call.responders.pushed(name))


def pop_responder(call: Call) -> Outcome:
    """`responder.pop`: the one that answered before answers again."""
    if len(call.responders.stack) < 2:
        return Outcome(problem="`responder.pop` without a `responder.push` before it")
    return Outcome(responders=call.responders.popped())


COMMANDS: tuple[Command, ...] = (
    Command("include", include),
    Command("include.code", include_code),
    Command("inspect", inspect, final_only=True),
    Command("plugins.list", list_plugins, final_only=True),
    Command("plugins.load", load_plugin),
    Command("responder.new", new_responder),
    Command("responder.pop", pop_responder),
    Command("responder.push", push_responder),
)

BUILT_IN = {command.name: command for command in COMMANDS}


def _words(call: Call) -> list[str]:
    return [word.strip('"') for word in call.line.args.split()]


def _first(call: Call) -> str:
    words = _words(call)
    return words[0] if words else ""
