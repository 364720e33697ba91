"""The message headings and the configuration lines of a chat: assignments, commands, includes."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.commands import INCLUDES, ONE_FILE, references, surplus
from prosa.dialects.prapti.configuration import effective
from prosa.dialects.prapti.fields import (
    ACTIONS,
    BUILT_IN_PLUGINS,
    is_nowhere,
    loads,
    nearest_variable,
    path_of,
    refusal,
    setting_of,
)
from prosa.dialects.prapti.model import PUBLIC_ROLES, SAMPLING, ChatModel
from prosa.rules.prapti import RULES
from prosa.rules.rule import Finding, Subject

REPORTED = (
    RULES.reported("PR001", "message-heading-colon", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("PR002", "message-heading-text", Severity.HINT),
    RULES.reported("PR010", "empty-configuration-line", Severity.ERROR),
    RULES.reported("PR011", "unreadable-configuration-line", Severity.ERROR),
    RULES.reported("PR012", "configuration-literal", Severity.ERROR),
)
"""What readers report by name."""


@RULES.document("PR003", "unknown-role", Severity.WARNING, strict=Severity.ERROR)
def unknown_role(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a role that no responder takes; such a message is not sent (PA12). The finding points at the role of the
    heading."""
    for message in subject.model.messages:
        if message.hidden or message.disabled or message.known_role in PUBLIC_ROLES:
            continue
        near = nearest(message.known_role, PUBLIC_ROLES)
        note = f"did you mean `{near}`?" if near else f"roles are {', '.join(PUBLIC_ROLES)}; `_` in front hides one"
        text = f"the role `{message.role}` is unknown, so this message is not sent"
        meant = Misspelling(message.role, near) if near else None
        yield Finding(text, message.role_span, (note,), misspelling=meant)


# The configuration lines of a chat: assignments, commands, includes.


@RULES.document("PR013", "user-variable", Severity.HINT)
def user_variable(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a bare name that means nothing to Prosa and becomes a variable of the author (PA9). The finding points at
    the name, unless `var(NAME)` uses it somewhere: then it is meant."""
    used = _used(subject.model)
    for line in subject.model.assignments:
        key = line.key or ""
        path = path_of(key)
        if not path.startswith("vars.") or setting_of(key) or path in used:
            continue
        if refusal(line) or is_nowhere(key):
            continue
        near = nearest_variable(path)
        note = f"did you mean `{near}`?" if near else "nothing reads it until `var(NAME)` does"
        text = f"`{key}` is a variable of your own"
        meant = Misspelling(key.removeprefix("vars."), near) if near else None
        yield Finding(text, line.name_span, (note,), misspelling=meant)


def _used(model: ChatModel) -> set[str]:
    return {path_of(line.variable) for line in model.assignments if line.variable is not None}


@RULES.document("PR014", "unresolved-variable", Severity.ERROR)
def unresolved_variable(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find `var(NAME)` of a name that is not set, or that leads in a circle. The finding points at the right side of
    the assignment that counts."""
    for value in effective(subject.model).values():
        if value.problem is not None:
            yield Finding(value.problem, value.line.value_span)


CHOOSES = ("tools", "vars.tools")
"""A line that grants nothing and only selects among granted options: worth no more than a hint."""


@RULES.document("PR015", "refused-configuration", Severity.WARNING, strict=Severity.ERROR)
def refused_configuration(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a line that sets what only the user may set: endpoints, keys, plugins, tools (X7). The finding points at
    the name of the setting or the action."""
    for line in (*subject.model.assignments, *subject.model.actions):
        if refused := refusal(line):
            severity = Severity.HINT if line.key in CHOOSES else None
            yield Finding(refused.message, line.name_span, (refused.instead,), severity=severity)


@RULES.document("PR016", "configuration-by-assistant", Severity.WARNING, strict=Severity.ERROR)
def configuration_by_assistant(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a configuration line in a message that a model wrote; it has no effect (PA6). The finding points at the
    line. Sampling assignments take effect there too and are fine."""
    for message in subject.model.messages:
        if message.disabled or not message.by_model:
            continue
        where = f"in a message of the {message.known_role} has no effect"
        note = f"a model wrote it; only {', '.join(SAMPLING)} may be set there. Move it to another message"
        for span in message.unread:
            yield Finding(f"this configuration line {where}", span, (note,))
        for line in message.config:
            if not line.disabled and line.key not in SAMPLING:
                shown = line.key or line.name
                yield Finding(f"`{shown}` {where}", line.span, (note,))


@RULES.document("PR017", "configuration-in-code", Severity.HINT)
def configuration_in_code(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a line in code that older tools would have executed; here it is text (PA1). The finding points at the
    line."""
    for span in subject.model.opaque:
        text = "this line is code and not a configuration line"
        yield Finding(text, span, ("it is sent as written; older tools executed it",))


@RULES.document("PR018", "unknown-action", Severity.WARNING)
def unknown_action(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a command that no loaded plugin offers. The finding points at the name; it is silent where the chat loads
    plugins that are not built in, for they may offer it."""
    if any(loads(line) not in (None, *BUILT_IN_PLUGINS) for line in subject.model.actions):
        return
    for line in subject.model.actions:
        name = line.name or ""
        if name not in ACTIONS:
            near = nearest(name, ACTIONS)
            note = f"did you mean `{near}`?" if near else f"there are {', '.join(ACTIONS)}"
            text = f"there is no command `{name}`"
            meant = Misspelling(name, near) if near else None
            yield Finding(text, line.name_span, (note,), misspelling=meant)


@RULES.document("PR019", "unknown-include", Severity.ERROR)
def unknown_include(subject: Subject[ChatModel]) -> Iterator[Finding]:
    """Find a file that a chat includes and that is not there, or is a second one of its line (PA11). The finding points
    at the path; a text without a file includes nothing."""
    for line in subject.model.actions:
        if line.name in INCLUDES and (more := surplus(line)) is not None:
            yield Finding(f"`{more[0][:64]}` is not included: `{line.name}` takes one file", more[1], (ONE_FILE,))
    if subject.files is None:
        return
    for ref in references(subject.model):
        path = subject.path
        if path is None:
            return
        target = path.parent / ref.target
        if not subject.files.inside_root(target):
            text = f"`{ref.target}` lies outside the root and is not included"
            yield Finding(text, ref.span, ("give another --root to allow it",))
        elif not subject.files.exists(target):
            note = "a path is relative to the chat that includes it"
            yield Finding(f"the included file `{ref.target}` does not exist", ref.span, (note,))
