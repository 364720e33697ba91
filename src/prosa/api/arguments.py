"""What the calls of the Python interface take: each function makes a value of `app/options.py` out of arguments."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

from prosa.app.options import NO_RIGHTS, Environment, Options, Record, RecordingOptions, Replay, SiteRights
from prosa.app.settings import settings_for
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.runtime.ports import Provider

if TYPE_CHECKING:
    from prosa.runtime.budget import Ledger

P = ParamSpec("P")
T = TypeVar("T")

ApiName: TypeAlias = Literal["chat", "responses"]
"""The API of a service: Chat Completions or Responses."""

Amount: TypeAlias = "Decimal | float | str | Ledger"
"""US dollars. A text or a `Decimal` is exact; a float means its printed form; calls can share a `Ledger`."""

A_PROVIDER = "give an object with `async def complete(request, on_text)`, such as prosa.testing.ScriptedProvider"

MAX_PATH = 4096
"""Characters of a path on every system; a longer line is a text."""


def synchronous(work: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
    """Return the same for code that is not asynchronous, with the same signature."""
    options = list(inspect.signature(work).parameters)

    @wraps(work)
    def now(*args: P.args, **kwargs: P.kwargs) -> T:
        import asyncio  # it takes its time to load, and reading a document needs none of it

        for unknown in set(kwargs) - set(options):
            near = nearest(unknown, options)
            raise TypeError(f"prosa.{name}() has no option {unknown!r}" + (f"; did you mean {near}?" if near else ""))
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


def with_service(options: Options, environment: Environment, own: Provider | None) -> Options:
    """Return the options with the service that the prefix of their model selects (X7); ``own`` is a provider that
    replaces all, with its own names of models."""
    if own is not None or "/" not in (options.model_name or ""):
        return options
    from prosa.app.run.routes import with_provider  # its table of services is needed for such a name alone

    return with_provider(options, environment.settings, environment.environ)


def provider_of(given: Provider | str | None) -> tuple[str | None, Provider | None]:
    """Return the name of a provider, or one that replaces all. Raises TypeError for anything else."""
    if isinstance(given, str):
        return given, None
    require_provider(given)
    return None, given


def require_provider(given: Value) -> None:
    """Raise TypeError for anything but a provider or None."""
    if given is not None and not (callable(getattr(given, "complete", None)) and not isinstance(given, type)):
        raise TypeError(f"provider is of the type {type(given).__name__}; {A_PROVIDER}")


def options_of(
    model: str | None,
    provider: str | None,
    base_url: str | None,
    api_key: str | None,
    api: ApiName | None,
    iterations: int | None,
    retries: int | None,
    wall_clock: float | None,
    root: str | Path | None,
    allow_cut: bool,
    allow_servers: bool,
    max_output_tokens: int | None,
    max_cost: Amount | None,
    site_rights: SiteRights = NO_RIGHTS,
    *,
    record: str | Path | Record | None = None,
    replay: str | Path | Replay | None = None,
) -> Options:
    """Return the options that all calls share, in the order of their signatures."""
    return Options(
        model=model,
        provider=provider,
        base_url=base_url,
        api_key=api_key,
        api=api,
        iterations=iterations,
        retries=retries,
        wall_clock=wall_clock,
        root=Path(root) if root is not None else None,
        allow_cut=allow_cut,
        output_tokens=max_output_tokens,
        max_cost=None if max_cost is None else cap_of(max_cost),
        site_rights=site_rights,
        tape=_recorded_in(record, replay),
        allow_servers=allow_servers,
    )


def _recorded_in(record: str | Path | Record | None, replay: str | Path | Replay | None) -> RecordingOptions | None:
    """Return what to record and what to play. Raises ValueError for options about a recording without one."""
    if record is None and replay is None:
        return None
    kept = Record(Path(record)) if isinstance(record, str | Path) else record
    played = Replay(Path(replay)) if isinstance(replay, str | Path) else replay
    if played is not None and played.new is not None and kept is None:
        raise ValueError("new='live' records what it asks for: give record= too")
    return RecordingOptions(kept, played)


def cap_of(given: Amount) -> Decimal | Ledger:
    """Return an amount in US dollars above zero, or a ledger. Raises ValueError for anything else."""
    if not isinstance(given, Decimal | float | int | str):
        return given
    try:
        found = Decimal(str(given))
    except InvalidOperation:
        found = Decimal(0)
    if not found.is_finite() or found <= 0:
        raise ValueError(f"max_cost is an amount in US dollars above 0, found {given!r}")
    return found


def words(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the words of an argument; a text is one of them, not its letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def path_of(given: str | Path) -> Path | None:
    """Return the path in an argument, None if it is the text of a document: see `prosa.load`."""
    if isinstance(given, Path):
        return given
    if "\n" in given or len(given) > MAX_PATH or not given:
        return None
    path = Path(given)
    try:
        return path if path.exists() or path.suffix in DOCUMENT_SUFFIXES else None
    except (OSError, ValueError):
        return None


def log(text: str) -> None:
    """Log what a person should know, with the logger ``prosa``."""
    logging.getLogger("prosa").warning("%s", text)
