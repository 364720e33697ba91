"""The keywords that calls of the Python interface share, out of the records of `prosa.app.options`; and what arguments
become: `Options`, an `Environment`, paths.
"""

import inspect
import logging
import os
import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from copy import deepcopy
from decimal import Decimal, InvalidOperation
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, ParamSpec, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from prosa.api.checked import require_types
from prosa.app.options import (
    NO_RIGHTS,
    AgentKeywords,
    Amount,
    DeclaredOption,
    Environment,
    JournalOptions,
    LimitOptions,
    ModelOptions,
    Option,
    Options,
    ReadingOptions,
    Record,
    RecordingKeywords,
    RecordingOptions,
    Replay,
    ServiceOptions,
    SiteRights,
    declared,
    fields_of,
)
from prosa.app.settings import settings_for
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.runtime.budget import Ledger
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program

P = ParamSpec("P")
T = TypeVar("T")

A_PROVIDER = "give an object with `async def complete(request, on_text)`, such as prosa.testing.ScriptedProvider"

MAX_PATH = 4096
"""Characters of a path on every system; a longer line is a text."""


class CallOptions(ServiceOptions, LimitOptions, ReadingOptions, total=False):
    """The keywords of every call that asks a model."""

    listener: Annotated[Listener, Option("receives the events of the run", flags=None, default=ignore)]
    environ: Annotated[Mapping[str, str] | None, Option("replaces `os.environ`", flags=None)]


class BatchKeywords(ModelOptions, CallOptions, total=False):
    """The keywords that `abatch` shares with others."""


class RunOptions(BatchKeywords, RecordingKeywords, total=False):
    """The keywords that `arun`, `achat` and `arun_scripts` share."""


class EvalKeywords(CallOptions, RecordingKeywords, AgentKeywords, total=False):
    """The keywords that `arun_tests` shares with others."""


Work: TypeAlias = Callable[P, Coroutine[Any, Any, T]]


def takes(record: type) -> Callable[[Work[P, T]], Work[P, T]]:
    """Return a decorator for a call with the keywords of ``record``: its signature and its docstring name each of them.
    An unknown keyword raises TypeError with the nearest name, as does an argument of a wrong type; a number that the
    command line refuses raises ValueError."""

    def decorate(work: Work[P, T]) -> Work[P, T]:
        whole = inspect.signature(work)
        own = [parameter for parameter in whole.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        parameters = {parameter.name: parameter for parameter in (*own, *map(_parameter, declared(record)))}

        @wraps(work)
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            _require_known(work.__name__, kwargs, parameters)
            require_types(work, args, kwargs, record)
            _require_ranges(kwargs, record)
            return await work(*args, **kwargs)

        vars(call)["__signature__"] = whole.replace(parameters=list(parameters.values()))
        call.__doc__ = f"{(work.__doc__ or '').rstrip()}\n\n{_list_of(record)}"
        return call

    return decorate


def _parameter(option: DeclaredOption) -> inspect.Parameter:
    default = False if option.is_switch else option.option.default
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option.type)


def _list_of(record: type) -> str:
    """Return what the keywords of a record are for, in the words of `--help`, where a keyword is a flag."""
    lines = (f"    - ``{option.name}``: {option.option.help}" for option in declared(record))
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: f"``{flag[1].replace('-', '_')}``", "\n".join(lines))


def _require_known(name: str, names: Iterable[str], known: Collection[str]) -> None:
    for unknown in set(names) - set(known):
        near = nearest(unknown, known)
        raise TypeError(f"prosa.{name}() has no option {unknown!r}" + (f"; did you mean {near}?" if near else ""))


_LEAST: Final[Mapping[str, int]] = {"count": 1, "number": 0, "bytes": 1, "memory": 1}


def _require_ranges(arguments: Mapping[str, object], record: type) -> None:
    """Raise ValueError for a number or a time that is too small to mean anything."""
    for option in declared(record):
        value, kind = arguments.get(option.name), option.option.kind
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if kind == "seconds" and not value > 0:
            raise ValueError(f"{option.name} is a time in seconds above 0, found {value!r}")
        if kind in _LEAST and value < _LEAST[kind]:
            raise ValueError(f"{option.name} is at least {_LEAST[kind]}, found {value!r}")


def synchronous(work: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
    """Return the same for code that is not asynchronous, with the same signature."""
    known = inspect.signature(work).parameters

    @wraps(work)
    def now(*args: P.args, **kwargs: P.kwargs) -> T:
        import asyncio  # it takes its time to load, and reading a document needs none of it

        _require_known(name, kwargs, known)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work(*args, **kwargs))
        raise RuntimeError(f"prosa.{name} cannot be called while an event loop is running; await prosa.a{name} instead")

    now.__name__ = now.__qualname__ = name
    head, _, rest = (work.__doc__ or "").partition("\n")
    now.__doc__ = f"{head}\n\n    This is `a{name}` for code that is not asynchronous; inside a running event loop it\n"
    now.__doc__ += f"    raises RuntimeError.\n{rest}"
    return now


def environment_of(path: Path | None, environ: Mapping[str, str] | None) -> Environment:
    """Return the environment of a call: variables, the settings of the user and of the project of ``path``, the log."""
    variables = os.environ if environ is None else environ
    return Environment(variables, settings_for(path, variables, log), log)


def provider_of(provider: Provider | str | None) -> tuple[str | None, Provider | None]:
    """Return the name of a provider, or one that replaces all. Raises TypeError for anything else."""
    if isinstance(provider, str):
        return provider, None
    require_provider(provider)
    return None, provider


def require_provider(provider: T) -> None:
    """Raise TypeError for anything but a provider or None."""
    if provider is not None and not (callable(getattr(provider, "complete", None)) and not isinstance(provider, type)):
        raise TypeError(f"provider is of the type {type(provider).__name__}; {A_PROVIDER}")


def options_of(
    arguments: Mapping[str, object],
    environment: Environment,
    own: Provider | None,
    *,
    provider: str | None = None,
    site_rights: SiteRights = NO_RIGHTS,
    output_schema: Mapping[str, Value] | bool | None = None,
    journal: JournalOptions | None = None,
) -> Options:
    """Return the options that the keywords of a call say, with the service that the prefix of their model selects (X7);
    ``own`` is a provider that replaces all, with its own names of models."""
    chosen: dict[str, object] = {}
    for record in (ModelOptions, ServiceOptions, LimitOptions, ReadingOptions):
        chosen |= fields_of(record, arguments)
    keywords = cast("RunOptions", arguments)
    if (root := keywords.get("root")) is not None:
        chosen["root"] = Path(root)
    if (cap := keywords.get("max_cost")) is not None:
        chosen["max_cost"] = cap_of(cap)
    options = replace(
        Options(
            provider=provider,
            site_rights=site_rights,
            recording=_recorded_in(keywords.get("record"), keywords.get("replay")),
            output_schema=deepcopy(output_schema),  # what is made of a schema is kept, and its owner may change it
            journal=journal,
        ),
        **chosen,
    )
    if own is not None or "/" not in (options.model_name or ""):
        return options
    from prosa.app.run.routes import with_provider  # its table of services is needed for such a name alone

    return with_provider(options, environment.settings, environment.environ)


def _recorded_in(record: str | Path | Record | None, replay: str | Path | Replay | None) -> RecordingOptions | None:
    """Return what to record and what to play. Raises ValueError for options about a recording without one."""
    if record is None and replay is None:
        return None
    kept = Record(Path(record)) if isinstance(record, str | os.PathLike) else record
    played = Replay(Path(replay)) if isinstance(replay, str | os.PathLike) else replay
    if played is not None and played.new is not None and kept is None:
        raise ValueError("new='live' records the calls that it makes: give record= too")
    return RecordingOptions(kept, played)


def cap_of(amount: Amount) -> Decimal | Ledger:
    """Return an amount in US dollars above zero, or a ledger. Raises ValueError for another amount, and TypeError."""
    if isinstance(amount, Ledger):
        return amount
    if not isinstance(amount, Decimal | float | int | str):
        raise TypeError(f"an amount is of the type {type(amount).__name__}; expected Decimal | float | str | Ledger")
    try:
        cap = Decimal(str(amount))
    except InvalidOperation:
        cap = Decimal(0)
    if not cap.is_finite() or cap <= 0:
        raise ValueError(f"max_cost is an amount in US dollars above 0, found {amount!r}")
    return cap


def words(text: str | Iterable[str]) -> tuple[str, ...]:
    """Return the words of an argument; a text is one of them, not its letters."""
    return (text,) if isinstance(text, str) else tuple(text)


def path_of(location: str | Path) -> Path | None:
    """Return the path in an argument, None if it is the text of a document: see `prosa.load`."""
    if isinstance(location, Path):
        return location
    if "\n" in location or len(location) > MAX_PATH or not location:
        return None
    path = Path(location)
    try:
        return path if path.exists() or path.suffix in DOCUMENT_SUFFIXES else None
    except (OSError, ValueError):
        return None


def program_of(program: str | Path | Program) -> Path | Program:
    """Return the program in an argument, or its path. Raises TypeError for the text of one."""
    if isinstance(program, str) and "\n" in program:
        raise TypeError("give the path of a program, found the text of one: save it in a file, such as program.md")
    return Path(program) if isinstance(program, str) else program


def log(text: str) -> None:
    """Log what a person should know, with the logger ``prosa``."""
    logging.getLogger("prosa").warning("%s", text)


def journal_of(
    journal: bool | str | Path, resume: str | None = None, *, rerun_in_doubt: bool = False
) -> JournalOptions | None:
    """Return what is stored of a call, and where; None for nothing."""
    if journal is False and resume is None:
        return None
    store = None if isinstance(journal, bool) else Path(journal)
    return JournalOptions("python", store, resume=resume, rerun_in_doubt=rerun_in_doubt)
