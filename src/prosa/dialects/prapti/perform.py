"""A chat carried out: assignments collected, commands run, every message as the text that it is now (P10–P14).

In: layers, the commands there are, and the files that may be included. Out: the tree in effect, the messages with their
text, the responders, and what went wrong. Nothing is sent; only plugins that the user allows can have effects. A
variable of the author that is called almost as a well-known one, and that no `var(NAME)` uses, is most likely that one
(PA8, PA9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.commands import INCLUDES, MAX_DEPTH, Call, Outcome, Registry, Responders, Shown
from prosa.dialects.prapti.configuration import Assigned, EffectiveValue, Layer, Standing, effective_of, runs, standings
from prosa.dialects.prapti.content import Cut, sent_text, without
from prosa.dialects.prapti.fields import loads, nearest_variable, path_of, refusal, setting_of
from prosa.dialects.prapti.lines import find_lines, read_command
from prosa.dialects.prapti.model import ConfigLine
from prosa.document import parse
from prosa.source import Files, SourceText

MAX_INCLUDED = 8 * 1024 * 1024
"""Characters that all commands of a chat together may put into it: more than any model takes."""

MAX_COMMANDS = 2_000
"""Commands of one chat, those in included files among them: files that include each other multiply."""

CHOOSES_TOOLS = "vars.tools"
CHOOSES_SITES = "vars.mdh"
"""The settings about tools: they choose among those that the user granted, and grant none (X7)."""

_CHOOSING = frozenset({"tools", "mdh", CHOOSES_TOOLS, CHOOSES_SITES})


class Complaint(Struct, frozen=True):
    """A problem and the source it is in."""

    problem: Problem
    source: SourceText


class Said(Struct, frozen=True):
    """A message and its text: configuration lines and comments removed, commands replaced by their output."""

    standing: Standing
    text: str


class Performed(Struct, frozen=True):
    """``values`` is the tree in effect by path; ``said`` the enabled messages of all layers, in order; ``shows`` the
    output of commands to show beside the conversation."""

    values: Mapping[str, EffectiveValue]
    said: tuple[Said, ...]
    responders: Responders
    shows: tuple[Shown, ...]
    complaints: tuple[Complaint, ...]


def perform(
    layers: Sequence[Layer], registry: Registry, files: Mapping[str, Files], *, base: Responders | None = None
) -> Performed:
    """Carry out the layers, lowest first. ``files`` are those that each kind of layer may include from."""
    work = _Work(registry, base or Responders())
    messages = []
    for standing in standings(layers):
        layer = standing.layer
        at = _Place(layer.model.source, files[layer.kind], layer.follows, ())
        lines = (line for line in standing.message.in_effect() if runs(line, standing))
        outputs = work.carry_out(lines, at, final=standing.final)
        messages.append(Said(standing, sent_text(standing.message, layer.model.document, outputs)))
    values = effective_of(work.assigned)
    return Performed(values, tuple(messages), work.responders, tuple(work.shows), tuple(work.complaints))


class _Place(Struct, frozen=True):
    """The location of lines: the file, what it may include, and the files that included it."""

    source: SourceText
    files: Files
    follows: bool
    within: tuple[Path, ...]


class _Work(Struct):
    """The state of a walk over all lines."""

    registry: Registry
    responders: Responders
    assigned: list[Assigned] = field(default_factory=list)
    shows: list[Shown] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Plugins that are named and not allowed."""
    left: int = MAX_INCLUDED
    commands: int = 0

    def carry_out(self, lines: Iterator[ConfigLine], at: _Place, *, final: bool) -> dict[int, str]:
        """Return the output of each command by the offset of its line."""
        outputs: dict[int, str] = {}
        for line in lines:
            if line.kind == "assign":
                self._assign(line, at)
            elif text := self._act(line, at, final=final):
                outputs[line.span.start] = text
        return outputs

    def _assign(self, line: ConfigLine, at: _Place) -> None:
        refused = refusal(line) if line.key not in _CHOOSING else None
        if refused is None:
            self.assigned.append(Assigned(line, at.source))
        else:
            self._complain("refused-configuration", refused.message, line, at, refused.instead, Severity.WARNING)

    def _act(self, line: ConfigLine, at: _Place, *, final: bool) -> str:
        command = self.registry.find(line.name or "")
        if command is None:
            self._complain("unknown-action", f"there is no command `{line.name}`", line, at, self._instead(line))
            return ""
        if command.final_only and not final:
            return ""
        self.commands += 1
        if self.commands > MAX_COMMANDS:
            if self.commands == MAX_COMMANDS + 1:
                self._complain("unknown-action", f"a chat runs at most {MAX_COMMANDS:,} commands", line, at, "")
            return ""
        plugins = tuple(self.registry.plugins)
        outcome = command.run(Call(line, at.source, at.files, self.responders, plugins, at.follows))
        self.responders = outcome.responders or self.responders
        if outcome.shows:
            self.shows.append(outcome.shows)
        return self._output(outcome, line, at, final=final)

    def _instead(self, line: ConfigLine) -> str:
        """Return what to do about a command that there is not."""
        plugin = (line.name or "").rpartition(".")[0]
        if plugin in self.refused:
            return f"allow its plugin: --plugin {plugin}"
        near = nearest(line.name or "", self.registry.names)
        return f"did you mean `{near}`?" if near else f"there are {', '.join(self.registry.names)}"

    def _output(self, outcome: Outcome, line: ConfigLine, at: _Place, *, final: bool) -> str:
        if outcome.problem:
            refused = line.name == "plugins.load"
            rule = (
                "refused-configuration" if refused else "unknown-include" if line.name in INCLUDES else "unknown-action"
            )
            severity = Severity.WARNING if refused else Severity.ERROR
            if refused:
                self.refused.add(loads(line) or "")
            self._complain(rule, outcome.problem, line, at, outcome.note, severity)
            return ""
        text = outcome.text if outcome.included is None else self._included(outcome.included, line, at, final=final)
        self.left -= len(text)
        if self.left < 0:
            reason = f"commands put more than {MAX_INCLUDED:,} characters into the conversation"
            self._complain("unknown-include", reason, line, at, "include less")
            return ""
        return text

    def _included(self, source: SourceText, line: ConfigLine, at: _Place, *, final: bool) -> str:
        """Return the text of a file whose own lines are carried out, as the user allows (PA11)."""
        here = at.files.real(Path(source.path))
        within = (*at.within, at.files.real(Path(at.source.path)))
        if here in within:
            self._complain("unknown-include", f"`{source.path}` includes itself", line, at, "take one of the lines out")
            return ""
        if len(within) > MAX_DEPTH:
            reason = f"files include files more than {MAX_DEPTH} deep"
            self._complain("unknown-include", reason, line, at, "include less deeply")
            return ""
        document = parse(source)
        config_lines = [(raw, *read_command(raw, source.text)) for raw in find_lines(document, ()).config]
        inner = _Place(source, at.files, at.follows, within)
        for _, _, problem in config_lines:
            if problem is not None:
                self.complaints.append(Complaint(problem, source))
        lines = (
            read
            for _, read, _ in config_lines
            if read is not None and not read.disabled and (final or not read.last_only)
        )
        outputs = self.carry_out(lines, inner, final=final)
        cuts = (Cut(raw.span, True, outputs.get(raw.span.start, "")) for raw, _, _ in config_lines)
        return without(source.text, document.body, cuts)

    def _complain(
        self, rule: str, message: str, line: ConfigLine, at: _Place, note: str, severity: Severity = Severity.ERROR
    ) -> None:
        notes = (note,) if note else ()
        self.complaints.append(Complaint(Problem(rule, message, line.name_span, notes, severity=severity), at.source))


_VARIABLES = "vars."


def misspelled(values: Mapping[str, EffectiveValue]) -> Iterator[Complaint]:
    """Yield a warning at each such name."""
    used = {path_of(value.line.variable) for value in values.values() if value.line.variable is not None}
    for path, value in values.items():
        if not path.startswith(_VARIABLES) or setting_of(path) is not None or path in used:
            continue
        if near := nearest_variable(path):
            text, note = f"there is no setting `{value.line.key}`", f"did you mean `{near}`?"
            meant = Misspelling((value.line.key or "").removeprefix(_VARIABLES), near)
            span = value.line.name_span
            problem = Problem("user-variable", text, span, (note,), severity=Severity.WARNING, misspelling=meant)
            yield Complaint(problem, value.source)
