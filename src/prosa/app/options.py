"""The values that every door fills before it calls a use case: options of the model, limits, rights, the environment.

In: flags, arguments, settings. Out: values. Nothing is opened here, and no document can widen what they allow (X7, X8).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct, field

from prosa.data import Value
from prosa.source.values import PartlyShown

if TYPE_CHECKING:
    from prosa.app.client.rights import Declared
    from prosa.records.run import History, StorePlace
    from prosa.runtime.budget import Ledger
    from prosa.settings import Settings

DEFAULT_MODEL = "gpt-4o"
"""L35: the model where neither the user nor the program names one."""

LOCAL = "local"
EMBEDDED = "embedded"
GGUF = "gguf:"
DEFAULT_EMBEDDED = "smollm2"
SCRIPTED = "scripted:"
NO_SCRIPT = "the model `scripted` plays replies from a file, and none is named"
NO_SCRIPT_HINT = 'write scripted:FILE, a file with one JSON object per line: {"content": …}'


class SiteRights(Struct, frozen=True):
    """The permissions of a run at sites (HA19).

    ``named`` are URLs that the user typed: one that names this machine literally permits requests to it.

    ``allow_private`` allows all private and loopback addresses. ``allow_actions`` allows every changing action that
    the sites of the run declare. ``actions`` allows some: an id, for the declarations of the pages that the user
    named; ``METHOD /path`` or ``ORIGIN METHOD /path``, for the declarations of any page. ``variables`` maps an origin
    to the variable that holds its token.

    Raises ValueError for a text in ``actions`` that names no action.
    """

    named: tuple[str, ...] = ()
    allow_private: bool = False
    allow_actions: bool = False
    actions: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.actions:
            from prosa.app.client.rights import permission

            for text in self.actions:
                permission(text)

    def permits(self, action: Declared, named: Collection[Declared] = ()) -> bool:
        """Return whether an action may change something without a further question. ``named`` are the actions of the
        pages that the user named, as they were when the run began."""
        if self.allow_actions or not self.actions:
            return self.allow_actions
        from prosa.app.client.rights import permission

        return any(permission(text).holds(action, named) for text in self.actions)

    def names(self, action: str) -> bool:
        """Return whether the user named an id, whatever it is declared as."""
        return any(text.strip() == action for text in self.actions)


NO_RIGHTS = SiteRights()
"""Public addresses are read; nothing is changed unless a person says yes."""


class Record(Struct, frozen=True):
    """Where the calls of a run are recorded (X27): in ``folder``, one file for each program and input.

    ``redact`` are patterns (RE2) of secrets to remove. ``force`` also records programs that are `confidential` or
    `secret` (X25). ``take`` distinguishes several recordings of the same input, counted from 1. With ``once`` a
    replayed run is only recorded if it has no recording.
    """

    folder: str | Path
    redact: str | tuple[str, ...] = ()
    force: bool = False
    take: int = 1
    once: bool = False

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of text to remove."""
        return (self.redact,) if isinstance(self.redact, str) else tuple(self.redact)


class Replay(Struct, frozen=True):
    """The recording to replay instead of a run (X27): ``source`` is a recording, or a folder of them.

    ``match`` is what must equal the recording: ``exact`` the whole request, ``messages`` all but descriptions and
    parameters of tools, ``path`` only the place of the call. With ``new`` as ``live`` unrecorded calls are made, with
    ``tools`` as ``live`` tools are called and only models are replayed. With ``strict`` an unused recorded call is an
    error. ``take`` is that of the recording. Raises ValueError for other words.
    """

    source: str | Path
    match: Literal["exact", "messages", "path"] = "exact"
    new: Literal["live"] | None = None
    tools: Literal["live"] | None = None
    strict: bool = False
    take: int = 1

    def __post_init__(self) -> None:
        live = (None, "live")
        allowed = {"match": ("exact", "messages", "path"), "new": live, "tools": live}
        for name, words in allowed.items():
            if (given := getattr(self, name)) not in words:
                raise ValueError(f"{name}={given!r}: it is one of {', '.join(map(repr, words))}")

    @property
    def path(self) -> Path:
        """The file or the folder."""
        return Path(self.source)


class RecordingOptions(Struct, frozen=True):
    """Whether a run is recorded, and whether a recording is played."""

    record: Record | None = None
    replay: Replay | None = None

    @property
    def plays_all(self) -> bool:
        """Whether models are never called."""
        once = self.record is not None and self.record.once
        return self.replay is not None and self.replay.new is None and not once


class JournalOptions(Struct, frozen=True):
    """What the journal stores of the runs of a call (X25). ``door`` is the door that started them, for the history.

    ``store`` is the file, None for that of the user; ``history`` what is kept after a run, None for the settings'
    choice. ``resume`` is the id of a run to continue. ``rerun_in_doubt`` repeats tool calls that may have been made.
    ``again`` is the data that the door needs to start the same call again, as JSON.
    """

    door: str
    store: StorePlace | None = None
    history: History | None = None
    resume: str | None = None
    rerun_in_doubt: bool = False
    again: Value = None


class Otel(Struct, frozen=True):
    """Where spans and metrics of the runs go: the base URL of a collector, empty for the one in the environment.
    ``content`` also sends requests and answers."""

    url: str = ""
    content: bool = False


class Options(PartlyShown, Struct, frozen=True):
    """The user's options for a run. None leaves the choice to the settings, the environment or the program.

    ``model`` overrides every program's and may be ``local``, ``local:NAME`` (X17), ``embedded``, ``embedded:NAME``,
    ``gguf:PATH`` (X35) or ``scripted:FILE`` (X16); ``default_model`` is for programs without their own.
    ``api_key_env`` names the variable with the key for ``base_url``. ``provider`` replaces the one that an ai-script
    names; ``completion`` requests raw completions. ``site_rights`` are the permissions at sites. ``allow_cut`` accepts
    an answer that was cut off at the length limit of the model, which is a failure otherwise. ``max_cost`` bounds the
    cost of all model calls together, in US dollars, or is a ledger that several calls share; None means no limit.
    ``tape`` is what to record and to replay. ``output_schema`` is the schema for the answer of a skill, which is text
    without one. ``journal`` is what to store of the runs; None stores nothing. ``otel`` is where traces are sent; None
    leaves that to the user's settings. ``private_mail`` gives each run its own mailboxes, which end with it.
    ``allow_servers`` lets programs named by a document start their tool servers (X7); ``shipped`` marks the examples
    that come with Prosa, which the agreement does not gate.
    """

    model: str | None = None
    default_model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    api_key_env: str | None = None
    api: Literal["chat", "responses"] | None = None
    provider: str | None = None
    completion: bool = False
    iterations: int | None = None
    wall_clock: float | None = None
    retries: int | None = None
    tool_result: int | None = None
    concurrency: int | None = None
    tool_calls: int | None = None
    output_tokens: int | None = None
    python_timeout: float | None = None
    python_memory: int | None = None
    root: Path | None = None
    max_size: int | None = None
    stream: bool = False
    allow_cut: bool = False
    site_rights: SiteRights = NO_RIGHTS
    max_cost: Decimal | Ledger | None = None
    tape: RecordingOptions | None = None
    journal: JournalOptions | None = None
    otel: Otel | None = None
    output_schema: Mapping[str, Value] | bool | None = None
    private_mail: bool = False
    allow_servers: bool = False
    shipped: bool = False

    unshown: ClassVar = frozenset({"api_key"})

    @property
    def model_name(self) -> str | None:
        """The model name that overrides every program's, where there is one."""
        return None if self.script is not None or self.is_here or self.lacks_script else self.model

    @property
    def script(self) -> Path | None:
        """The file of scripted replies, where they replace the model."""
        model = self.model or ""
        return Path(model.removeprefix(SCRIPTED)) if model.startswith(SCRIPTED) and model != SCRIPTED else None

    @property
    def lacks_script(self) -> bool:
        """Whether replies are to be scripted and no file with them is named."""
        return self.model in (SCRIPTED, SCRIPTED.removesuffix(":"))

    @property
    def is_local(self) -> bool:
        """Whether a model server on this machine is to be looked for."""
        return self.model == LOCAL or (self.model or "").startswith(f"{LOCAL}:")

    @property
    def is_embedded(self) -> bool:
        """Whether a model runs in a process of our own."""
        return is_embedded_word(self.model or "")

    @property
    def is_here(self) -> bool:
        """Whether the model is on this machine, in any server or process."""
        return self.is_local or self.is_embedded

    @property
    def here_name(self) -> str | None:
        """The name of a local model, as far as it is known without a request."""
        if not self.is_embedded:
            return self.local_name
        return word_name(self.model or "")

    @property
    def local_name(self) -> str | None:
        """The model that a local server must have; None for any."""
        return (self.model or "").removeprefix(LOCAL).removeprefix(":") or None if self.is_local else None


def is_embedded_word(model: str) -> bool:
    """Return whether the text is the word for a model that Prosa runs itself (X35)."""
    return model == EMBEDDED or model.startswith((f"{EMBEDDED}:", GGUF))


def word_name(word: str) -> str:
    """Return the name that `embedded`, `embedded:NAME` or `gguf:PATH` gives a model in documents: never a path."""
    if word.startswith(GGUF):
        return Path(word.removeprefix(GGUF)).name.removesuffix(".gguf") or "model"
    return word.removeprefix(EMBEDDED).removeprefix(":") or DEFAULT_EMBEDDED


def say_nothing(text: str) -> None:
    """Discard a notice."""
    del text


class Once(Struct, frozen=True):
    """A notice that says each text once, however many runs or turns would say it again."""

    notice: Callable[[str], None]
    said: set[str] = field(default_factory=set)

    def __call__(self, text: str) -> None:
        """Say it, if it is new."""
        if text not in self.said:
            self.said.add(text)
            self.notice(text)


class Environment(Struct, frozen=True):
    """The environment from a door: variables, settings, and functions for notices and prompts.

    ``ask`` is None if prompting is not possible; it returns whether the answer was yes. So is ``confirm``, which is
    used during a run: it shows a text and waits for the answer without blocking anything else.
    """

    environ: Mapping[str, str]
    settings: Settings
    notice: Callable[[str], None] = say_nothing
    ask: Callable[[str], bool] | None = None
    confirm: Callable[[str], Awaitable[bool]] | None = None


LIMITS = (
    *("iterations", "wall_clock", "retries", "tool_result", "concurrency", "tool_calls", "output_tokens"),
    *("python_timeout", "python_memory"),
)
"""The names of the limits that flags and settings may name."""


def limits_in(holder: Options | Settings) -> dict[str, Value]:
    """Return the limits that flags or settings name."""
    return {name: value for name in LIMITS if (value := getattr(holder, name)) is not None}
