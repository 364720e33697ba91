"""The options of a run, each declared once: the flags of the command line, the keywords of the Python interface, their
signatures and the reference are made of these records; and the values that every door fills before it calls a use case.

In: flags, arguments, settings. Out: values. Nothing is opened here, and no document can widen what they allow (X7, X8).
"""

# Annotations are values here: the doors read the `Option` of each field.

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, ClassVar, Literal, NewType, TypeAlias, get_args, get_origin

from msgspec import Struct, field

from prosa.data import Value
from prosa.source.values import PartlyShown

if TYPE_CHECKING:
    from typing import Annotated, TypedDict

    from prosa.app.client.rights import Declared
    from prosa.records.run import History, StorePlace
    from prosa.runtime.budget import Ledger
    from prosa.settings import Settings

Kind = Literal[
    "text", "value", "count", "number", "seconds", "bytes", "memory", "dollars", "path", "folder", "store",
    "permission", "token",
]  # fmt: skip
"""How a door reads the text of an option; ``value`` is a switch that may have a value behind `=`."""

ApiName: TypeAlias = Literal["chat", "responses"]
"""The API of a service: Chat Completions or Responses."""

if TYPE_CHECKING:
    Amount: TypeAlias = Decimal | float | str | Ledger
else:  # names alone: a text in an annotation is compiled, the first of a process for ten million instructions
    Amount, StorePlace = NewType("Amount", Decimal), NewType("StorePlace", Path)
"""US dollars. A text or a `Decimal` is exact; a float means its printed form; calls can share a `Ledger`."""


if not TYPE_CHECKING:  # those of `typing` check and remember each of these annotations, for a hundredth of a run

    class Annotated(Struct):
        """A type with its words, read as one of `typing` is."""

        __origin__: Value
        __metadata__: tuple

        @classmethod
        def __class_getitem__(cls, parts: tuple) -> "Annotated":
            return cls(parts[0], parts[1:])

    class TypedDict:
        """The keywords of a function; only type checkers ask what they are."""

        def __init_subclass__(cls, *, total: bool) -> None:
            parts = [getattr(base, "__annotations__", {}) for base in (*cls.__bases__, cls)]
            cls.__annotations__ = {name: annotation for part in parts for name, annotation in part.items()}


class Option(Struct, frozen=True):
    """What the doors need to know of an option besides its name, its type and its default.

    ``help`` is the clause of `--help` and of the reference. ``flags`` are its spellings on the command line, where they
    are not its name; None keeps it off the command line. ``words`` spell a bool as two words, the second for True.
    ``several`` lets the flag be repeated. ``dest`` is the attribute of parsed arguments, ``field`` the field of
    `Options`, where they are not the name. ``default`` is that of a keyword.
    """

    help: str
    metavar: str = ""
    kind: Kind = "text"
    flags: tuple[str, ...] | None = ()
    words: tuple[str, str] | None = None
    several: bool = False
    dest: str = ""
    field: str = ""
    default: Value = None


Annotation: TypeAlias = type | GenericAlias | UnionType


class DeclaredOption(Struct, frozen=True):
    """An option of a record: its name, its annotation, its words, its ``flags``, the attribute of parsed arguments."""

    name: str
    annotation: Annotation
    option: Option
    flags: tuple[str, ...]
    dest: str

    @property
    def type(self) -> str:
        """The type as it is written in a signature."""
        return spelled(self.annotation)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a closed set allows."""
        parts = (self.annotation, *get_args(self.annotation))
        return next((get_args(part) for part in parts if get_origin(part) is Literal), ())

    @property
    def is_switch(self) -> bool:
        """Whether its flag takes no value."""
        return self.annotation is bool and self.option.words is None


def declared(record: type, *names: str) -> Iterable[DeclaredOption]:
    """Return the options of a record: those of ``names`` in this order, or all. A field without words is none."""
    by_name = _options_of(record)
    return [by_name[name] for name in names] if names else by_name.values()


@cache
def _options_of(record: type) -> Mapping[str, DeclaredOption]:
    by_name: dict[str, DeclaredOption] = {}
    for name, annotation in record.__annotations__.items():
        for option in getattr(annotation, "__metadata__", ()):
            flags = option.flags or (f"--{name.replace('_', '-')}",)
            by_name[name] = DeclaredOption(name, annotation.__origin__, option, flags, option.dest or name)
    return by_name


def fields_of(record: type, chosen: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of `Options` that the keywords of a record fill."""
    return {it.option.field or it.name: chosen[it.name] for it in declared(record) if it.name in chosen}


def spelled(annotation: Annotation) -> str:
    """Return a type as it is written in a signature, without its option."""
    kind = getattr(annotation, "__origin__", annotation) if hasattr(annotation, "__metadata__") else annotation
    text = getattr(kind, "__forward_arg__", None) or (kind.__name__ if isinstance(kind, type) else str(kind))
    plain = re.sub(r"\b(?:typing|collections\.abc|pathlib|prosa\.app\.options)\.", "", text)
    return re.sub(r"Optional\[(.*)\]", r"\1 | None", plain)


class ModelOptions(TypedDict, total=False):
    """Which model answers."""

    model: Annotated[
        str | None,
        Option(
            "model of the program and its imports; SERVICE/NAME for that of a service, such as anthropic/NAME;"
            " local[:NAME] for this machine, scripted:FILE for fixed replies",
            "NAME",
            flags=("-m", "--model"),
        ),
    ]


class ServiceOptions(TypedDict, total=False):
    """Where the model is asked."""

    base_url: Annotated[str | None, Option("an OpenAI-compatible server (also: OPENAI_BASE_URL)", "URL")]
    api_key: Annotated[str | None, Option("the key for the service", flags=None)]
    api_key_env: Annotated[str | None, Option("the environment variable with the key for --base-url", "NAME")]
    api: Annotated[ApiName | None, Option("Chat Completions (default) or Responses")]


class LimitOptions(TypedDict, total=False):
    """The limits of a run; they may exceed the ceilings of documents (X9)."""

    max_iterations: Annotated[int | None, Option("model calls (10)", "N", "count", field="iterations")]
    timeout: Annotated[
        float | None, Option("wall-clock time of the run (600)", "SECONDS", "seconds", field="wall_clock")
    ]
    retries: Annotated[int | None, Option("further attempts after a transient error (10)", "N", "number")]
    max_tool_result: Annotated[
        int | None, Option("longest tool result that the model sees (256KiB)", "SIZE", "bytes", field="tool_result")
    ]
    max_tool_calls: Annotated[int | None, Option("tool calls in one reply (32)", "N", "count", field="tool_calls")]
    max_output_tokens: Annotated[
        int | None,
        Option(
            "tokens that one model call may write (no limit; 4096 with --max-cost)", "N", "count", field="output_tokens"
        ),
    ]
    max_cost: Annotated[Amount | None, Option("the most that all model calls together may cost", "USD", "dollars")]
    python_timeout: Annotated[float | None, Option("seconds for one call of the sandbox (30)", "SECONDS", "seconds")]
    python_memory: Annotated[int | None, Option("memory of the sandbox (128MB)", "SIZE", "memory")]
    allow_cut: Annotated[bool, Option("accept an answer that was cut off at the model's length limit, and mark it")]
    allow_servers: Annotated[
        bool,
        Option("let programs that a document names start their MCP servers (default: those that you trust)"),
    ]


class ReadingOptions(TypedDict, total=False):
    """What may be read."""

    root: Annotated[
        str | Path | None, Option("open imports only inside this folder (default: the project)", "DIR", "folder")
    ]
    max_size: Annotated[int | None, Option("largest document, and input (10MB)", "SIZE", "bytes")]


class CommandOptions(TypedDict, total=False):
    """Options that only some commands take, each with words of its own."""

    concurrency: Annotated[int | None, Option("tool calls at once (8)", "N", "count")]
    provider: Annotated[str | None, Option("the provider for all scripts", "NAME")]
    stream: Annotated[bool, Option("ask for streaming replies and show them as they arrive")]


class AgentKeywords(TypedDict, total=False):
    """Agents that try skills in place of Prosa's own loop (X36)."""

    agents: Annotated[
        str | Sequence[str],
        Option(
            "try skills in this agent: claude, codex, copilot, pi, opencode, gemini or qwen; with :MODEL on a model",
            "NAME",
            flags=("--agent",),
            several=True,
            dest="agents",
            default=(),
        ),
    ]
    trust_agent: Annotated[
        bool, Option("let an agent run without isolation, with your rights (needed where there is no bubblewrap)")
    ]
    agent_home: Annotated[
        Literal["fresh", "user"], Option("fresh: an empty home (default); user: your own login and settings")
    ]
    agent_timeout: Annotated[float | None, Option("seconds of one attempt of an agent (300)", "SECONDS", "seconds")]
    max_calls: Annotated[int | None, Option("model calls of one attempt of an agent (40)", "N", "count")]
    workspace_out: Annotated[str | Path | None, Option("keep the workspaces of attempts in this folder", "DIR", "path")]


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

    named: Annotated[
        tuple[str, ...],
        Option("a page whose actions become tools", "URL", flags=("--site",), several=True, dest="sites"),
    ] = ()
    allow_private: Annotated[bool, Option("allow sites at private and loopback addresses")] = False
    allow_actions: Annotated[bool, Option("let all actions change things at their sites")] = False
    actions: Annotated[
        tuple[str, ...],
        Option(
            "let this action change things: an id, or 'METHOD /path'",
            "ACTION",
            "permission",
            flags=("--allow-action",),
            several=True,
            dest="allowed",
        ),
    ] = ()
    variables: Annotated[
        Mapping[str, str],
        Option(
            "the environment variable with the token for a site",
            "ORIGIN=NAME",
            "token",
            flags=("--site-token",),
            several=True,
            dest="site_tokens",
        ),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.actions:
            from prosa.app.client.rights import permission

            for text in self.actions:
                permission(text)

    def permits(self, action: "Declared", named: "Collection[Declared]" = ()) -> bool:
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
    redact: Annotated[
        str | tuple[str, ...],
        Option(
            "remove whatever this RE2 pattern matches from the recording; without it, a confidential or secret "
            "document is recorded only with --force",
            "PATTERN",
            several=True,
        ),
    ] = ()
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
    match: Annotated[
        Literal["exact", "messages", "path"],
        Option(
            "what must equal the recording: all (exact), all but tool descriptions (messages), only the place (path)"
        ),
    ] = "exact"
    new: Annotated[
        Literal["live"] | None, Option("make calls that are not recorded, and record them (needs --record)")
    ] = None
    tools: Annotated[
        Literal["live"] | None, Option("call tools as in any run, and replay only the models", dest="live_tools")
    ] = None
    strict: Annotated[bool, Option("treat a recorded call that is not made as an error")] = False
    take: int = 1

    def __post_init__(self) -> None:
        live = (None, "live")
        allowed = {"match": ("exact", "messages", "path"), "new": live, "tools": live}
        for name, words in allowed.items():
            if (value := getattr(self, name)) not in words:
                raise ValueError(f"{name}={value!r}: it is one of {', '.join(map(repr, words))}")

    @property
    def path(self) -> Path:
        """The file or the folder."""
        return Path(self.source)


class RecordingKeywords(TypedDict, total=False):
    """Whether a run is recorded, and whether a recording is played (X27)."""

    record: Annotated[str | Path | Record | None, Option("record every call in a file in this folder", "DIR", "path")]
    replay: Annotated[
        str | Path | Replay | None,
        Option("replay a recording (a file, or a folder of them); no model or tool is called", "PLACE", "path"),
    ]


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
    store: Annotated[StorePlace | None, Option("the store of runs: a file, postgresql://…", "PATH|URL", "store")] = None
    history: "History | None" = None
    resume: Annotated[str | None, Option("continue an interrupted run; its ID is in: prosa runs", "ID")] = None
    rerun_in_doubt: Annotated[
        bool,
        Option(
            "what to do about tool calls that may have been made already (fail)",
            flags=("--in-doubt",),
            words=("fail", "rerun"),
            dest="in_doubt",
        ),
    ] = False
    again: Value = None


class Otel(Struct, frozen=True):
    """Where spans and metrics of the runs go: the base URL of a collector, empty for the one in the environment.
    ``content`` also sends requests and answers."""

    url: Annotated[
        str,
        Option(
            "send spans and metrics to an OpenTelemetry collector: --otel=URL, or the address of the environment",
            "URL",
            "value",
            flags=("--otel",),
            dest="traced",
        ),
    ] = ""
    content: Annotated[
        bool,
        Option("include prompts and answers in the traces", flags=("--otel-content",), dest="otel_content"),
    ] = False


class Options(PartlyShown, Struct, frozen=True):
    """The user's options for a run. None leaves the choice to the settings, the environment or the program.

    ``model`` overrides every program's and may be ``local``, ``local:NAME`` (X17), ``embedded``, ``embedded:NAME``,
    ``gguf:PATH`` (X35) or ``scripted:FILE`` (X16); ``default_model`` is for programs without their own.
    ``api_key_env`` names the variable with the key for ``base_url``. ``provider`` replaces the one that an ai-script
    names; ``completion`` requests raw completions. ``site_rights`` are the permissions at sites. ``allow_cut`` accepts
    an answer that was cut off at the length limit of the model, which is a failure otherwise. ``max_cost`` bounds the
    cost of all model calls together, in US dollars, or is a ledger that several calls share; None means no limit.
    ``recording`` is what to record and to replay. ``output_schema`` is the schema for the answer of a skill, which is
    text without one. ``journal`` is what to store of the runs; None stores nothing. ``otel`` is where traces are sent;
    None leaves that to the user's settings. ``private_mail`` gives each run its own mailboxes, which end with it.
    ``allow_servers`` lets programs named by a document start their tool servers (X7); ``shipped`` marks the examples
    that come with Prosa, which the agreement does not gate.
    """

    model: str | None = None
    default_model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    api_key_env: str | None = None
    api: ApiName | None = None
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
    max_cost: "Decimal | Ledger | None" = None
    recording: RecordingOptions | None = None
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
    settings: "Settings"
    notice: Callable[[str], None] = say_nothing
    ask: Callable[[str], bool] | None = None
    confirm: Callable[[str], Awaitable[bool]] | None = None


LIMITS = (
    *("iterations", "wall_clock", "retries", "tool_result", "concurrency", "tool_calls", "output_tokens"),
    *("python_timeout", "python_memory"),
)
"""The names of the limits that flags and settings may name."""


def limits_in(holder: "Options | Settings") -> dict[str, float]:
    """Return the limits that flags or settings name."""
    return {name: value for name in LIMITS if (value := getattr(holder, name)) is not None}
