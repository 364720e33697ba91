"""A chat made ready: its layers read, its commands run, its messages as they would be sent (P2–P14, PA17, X7).

In: the path of a chat and the user's options. Out: a `Conversation`; `prosa.app.chat.answer` gets the replies. Nothing
is sent here and nothing is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict, replace

from prosa.adapters.files import RootedFiles, config_dir, find_root
from prosa.app.chat.grants import SITE, Tools, chosen, granted, load_plugins, wanted_by, without_output
from prosa.app.chat.layers import include_files, layers_below, read_layer
from prosa.app.options import Environment, Options
from prosa.app.permission import is_trusted
from prosa.app.run.load import load_program
from prosa.app.settings import size_limit
from prosa.data import Value
from prosa.diagnostics import Problem, Severity
from prosa.dialects.prapti.commands import BUILT_IN, Registry, fenced
from prosa.dialects.prapti.configuration import inspected
from prosa.dialects.prapti.fields import BUILT_IN_PLUGINS, loads
from prosa.dialects.prapti.perform import CHOOSES_SITES, CHOOSES_TOOLS, misspelled, perform
from prosa.dialects.prapti.write import NewMessage
from prosa.rules.policy import Policy, diagnosed, ordered
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.lower.prapti import lower, spoken
from prosa.runtime.messages import Message
from prosa.runtime.prompt import spoken_to
from prosa.runtime.skill import skills_text

if TYPE_CHECKING:
    from prosa.app.chat.layers import ReadLayer
    from prosa.app.run.skills import LoadedSkill
    from prosa.diagnostics import Diagnostic
    from prosa.dialects.prapti import ChatModel
    from prosa.dialects.prapti.commands import Plugin
    from prosa.dialects.prapti.configuration import EffectiveValue
    from prosa.dialects.prapti.perform import Performed
    from prosa.runtime.lower.prapti import Lowered, Turn
    from prosa.runtime.program import Program
    from prosa.source import SourceText

_TOLD = ("message-heading-text",)
"""Hints that are shown before a chat is sent: text meant as a message belongs to the one above it."""


class ChatOptions(Struct, frozen=True):
    """The user's options for a chat, besides `Options`.

    ``config_files`` are read after all others; ``default_config`` False leaves those others out. ``tools`` and
    ``plugins`` are granted. ``trusted`` gives the chat the rights of the user, as `prosa trust` does, and carries out
    the lines of what it includes (PA11). ``legacy`` reads headings and configuration in code (PA1). ``force`` answers
    even if the last message is not a question (PA17). ``n`` overrides the chat's own number of replies. With
    ``looking`` nothing will be sent, so errors are not fatal. ``skills`` are skills, or folders of them, that the
    model may load (X32).
    """

    config_files: tuple[Path, ...] = ()
    default_config: bool = True
    tools: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    trusted: bool = False
    legacy: bool = False
    force: bool = False
    n: int | None = None
    looking: bool = False
    skills: tuple[Path, ...] = ()


NO_OPTIONS = ChatOptions()
"""What holds where the user chose nothing."""


class Conversation(Struct, frozen=True):
    """A chat ready to be answered.

    ``turns`` are the requested answers, in their order; if there are none, ``nothing`` says why. ``answered`` is a
    digest of the messages to answer, which changes with any edit. ``shown`` are hidden messages that commands add to
    the file. ``values`` is the configuration in effect; ``diagnostics`` are warnings, and errors if the chat ignores
    them. ``spoken`` are all messages, for any responder, under the names in the file. ``skills`` are those that the
    model may load.
    """

    path: Path
    source: SourceText
    model: ChatModel
    turns: tuple[Turn, ...]
    nothing: str
    tools: Tools
    values: Mapping[str, EffectiveValue]
    shown: tuple[NewMessage, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    trusted: bool = False
    dry_run: bool = False
    spoken: tuple[Message, ...] = ()
    skills: tuple[LoadedSkill, ...] = ()

    @property
    def sent(self) -> tuple[Turn, ...]:
        """The turns with the text about skills, as they are sent first."""
        told = skills_text([each.skill for each in self.skills])
        return tuple(replace(each, messages=spoken_to(each.messages, told)) for each in self.turns)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the first turn."""
        if not self.turns:
            return ()
        first = self.sent[0]
        return first.messages if first.mode == "chat" else (Message("user", first.prompt),)

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The parameters of the first turn."""
        return self.turns[0].parameters if self.turns else {}

    @property
    def model_name(self) -> str | None:
        """The model that the chat names, None where it leaves that to the user."""
        return self.turns[0].model_name if self.turns else None

    @property
    def provider(self) -> str | None:
        """The provider that the chat names."""
        return self.turns[0].provider if self.turns else None

    @property
    def n(self) -> int:
        """How many replies the first turn gives."""
        return self.turns[0].n if self.turns else 0

    @property
    def answered(self) -> str:
        """A digest of everything that is answered."""
        text = json.dumps([asdict(turn) for turn in self.turns], ensure_ascii=True, sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Value) -> Value:
    return asdict(value) if isinstance(value, Struct) else str(value)


def prepare(
    path: Path,
    choices: Options,
    around: Environment,
    asked: ChatOptions = NO_OPTIONS,
    *,
    source: SourceText | None = None,
) -> Conversation:
    """Read a chat with its configuration and carry it out. ``source`` is its text where it is not that of the file.

    Raises `FileProblem`, `ProgramRefused` for errors in the chat or its configuration, and `RunError` for a plugin, a
    tool or a provider that there is not.
    """
    work = _preparing(path, choices, around, asked, source)
    done, lowered = work.carried_out()
    own = work.tools(done, lowered)
    tools, beyond = chosen(own, wanted_by(lowered.tools, lowered.sites, own))
    diagnostics = work.diagnostics(lowered, beyond, done)
    if lowered.halts and not asked.looking and any(each.severity == "error" for each in diagnostics):
        raise ProgramRefused(diagnostics, "the chat has errors, so nothing was sent")
    turns = tuple(replace(turn, n=asked.n or turn.n) for turn in lowered.turns)
    return Conversation(
        path=path,
        source=work.source,
        model=work.layers[-1].layer.model,
        turns=turns,
        nothing=lowered.nothing,
        tools=tools,
        values=done.values,
        shown=tuple(_shown(done, work.registry)),
        diagnostics=diagnostics,
        trusted=work.trusted,
        dry_run=lowered.dry_run,
        spoken=spoken(done),
        skills=_skills(asked.skills, choices, around),
    )


def _skills(named: Sequence[Path], choices: Options, around: Environment) -> tuple[LoadedSkill, ...]:
    """Return the skills that the user named. Raises `FileProblem`, `ProgramRefused`, and `RunError` for two of one
    name."""
    if not named:
        return ()
    from prosa.app.run.skills import load_skills

    return load_skills(named, choices, around.settings)


class _Preparing(Struct, frozen=True):
    """Everything that was read for a chat."""

    path: Path
    root: Path
    user_dir: Path
    source: SourceText
    layers: tuple[ReadLayer, ...]
    registry: Registry
    trusted: bool
    choices: Options
    around: Environment
    asked: ChatOptions

    def carried_out(self) -> tuple[Performed, Lowered]:
        files = include_files(self.root, self.user_dir, size_limit(self.choices.max_size, self.around.settings))
        with without_output():
            done = perform([each.layer for each in self.layers], self.registry, files)
        return done, lower(done, assistant_names=self._names_of_assistants(), force=self.asked.force)

    def _names_of_assistants(self) -> bool:
        """Return whether the service takes names of assistants: OpenAI's own does, others may refuse them (PA18)."""
        base_url = self.choices.base_url or self.around.environ.get("OPENAI_BASE_URL") or self.around.settings.base_url
        return not base_url and not self.choices.is_here and self.choices.provider in (None, "openai")

    def tools(self, done: Performed, lowered: Lowered) -> Tools:
        """Return the granted tools: by flags, and by lines of a file with the rights of the user (X7)."""
        tools = (lowered.tools or ()) if self._is_own(done.values.get(CHOOSES_TOOLS)) else ()
        sites = (lowered.sites or ()) if self._is_own(done.values.get(CHOOSES_SITES)) else ()
        return granted(self.asked.tools, self._program, written=(*tools, *(f"{SITE}{url}" for url in sites)))

    def _is_own(self, line: EffectiveValue | None) -> bool:
        """Return whether a line has the rights of the user: it stands itself in a file that has them."""
        trusted = [each.layer.model.source for each in self.layers if each.layer.trusted]
        return line is not None and line.line.variable is None and any(line.source is each for each in trusted)

    def _program(self, spec: str) -> Program:
        if spec in self.asked.tools:
            choices = replace(self.choices, root=self.choices.root or find_root(Path(spec)))
            return load_program(Path(spec), choices, self.around.settings)
        return load_program(self.path.parent / spec, self.choices, self.around.settings, within=self.root)

    def diagnostics(self, lowered: Lowered, beyond: tuple[str, ...], done: Performed) -> tuple[Diagnostic, ...]:
        """Return the problems that change what is sent, in the order of the files."""
        found = [each for layer in self.layers for each in layer.diagnostics]
        for each in (*done.complaints, *lowered.complaints, *misspelled(done.values)):
            found += diagnosed((each.problem,), each.source, Policy())
        for name in beyond:
            by_site = name.startswith(SITE) and name.removeprefix(SITE) in (lowered.sites or ())
            line = done.values[CHOOSES_SITES if by_site else CHOOSES_TOOLS]
            note = f"grant it: --tool {name}, or if you trust the chat: prosa trust {self.path}"
            text = f"the tool `{name[:64]}` is not granted, so the model is not offered it"
            problem = Problem("refused-configuration", text, line.line.value_span, (note,), severity=Severity.WARNING)
            found += diagnosed((problem,), line.source, Policy())
        heavy = (Severity.ERROR, Severity.WARNING)
        return ordered(each for each in found if each.severity in heavy or each.rule in _TOLD)


def _preparing(
    path: Path, choices: Options, around: Environment, asked: ChatOptions, source: SourceText | None
) -> _Preparing:
    root = RootedFiles(choices.root or find_root(path)).root or path.parent
    user_dir = config_dir(around.environ)
    files = RootedFiles(root, max_size=size_limit(choices.max_size, around.settings))
    source = source or RootedFiles(max_size=files.max_size).read(path)
    trusted = asked.trusted or is_trusted(source, around.environ)
    below = layers_below(path, files, root, user_dir=user_dir, named=asked.config_files, default=asked.default_config)
    document = read_layer("document", source, trusted=trusted, follows=asked.trusted, legacy=asked.legacy)
    layers = (*below, document)
    registry = Registry(BUILT_IN, _plugins(layers, asked))
    return _Preparing(path, root, user_dir, source, layers, registry, trusted, choices, around, asked)


def _plugins(layers: tuple[ReadLayer, ...], asked: ChatOptions) -> Mapping[str, Plugin]:
    """Return the plugins that the user allows: by a flag, and those that a file with the user's rights loads."""
    trusted = [each.layer.model for each in layers if each.layer.trusted]
    named = [loads(line) for model in trusted for line in model.actions if line.name == "plugins.load"]
    return load_plugins((*asked.plugins, *(name for name in named if name and name not in BUILT_IN_PLUGINS)))


def _shown(done: Performed, registry: Registry) -> list[NewMessage]:
    """Return what commands want to be shown, as hidden messages."""
    texts = {"tree": inspected(done.values), "plugins": "\n".join(registry.names)}
    names = {"tree": "inspect", "plugins": "plugins"}
    return [NewMessage("_prapti", fenced(texts[each], "text"), names[each]) for each in dict.fromkeys(done.shows)]


def require_something(conversation: Conversation) -> None:
    """Raise `RunError` where there is nothing to answer (PA17), and where the chat says that nothing is to be sent."""
    if conversation.dry_run:
        hint = "take the line out, or look at what would be sent: --dry-run"
        raise RunError(f"{conversation.path}: `dry_run` is set, so nothing is sent", hint=hint)
    if not conversation.turns:
        hint = "write below a `### @user:` heading at the end of the file"
        raise RunError(f"{conversation.path}: {conversation.nothing}", hint=hint)
