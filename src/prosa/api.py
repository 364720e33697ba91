"""The Python interface: `prosa.load`, `check`, `run`, `run_scripts`, `chat`. A surface like the command line."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

from prosa.app.options import NO_RIGHTS, Environment, Options, SiteRights
from prosa.app.settings import settings_for
from prosa.diagnostics import Diagnostic
from prosa.diagnostics.nearest import nearest
from prosa.dialects.dialect import DialectName
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program
from prosa.runtime.summary import RunResult
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.chat.turn import ChatResult
    from prosa.app.scripts.choose import Instructions
    from prosa.app.scripts.run import ScriptResult
    from prosa.dialects.magi.context import ContextMode
    from prosa.dialects.magi.model import MagiModel
    from prosa.dialects.markdownlang import ProgramModel
    from prosa.dialects.mdh.model import NodeModel
    from prosa.dialects.plain import PlainModel
    from prosa.dialects.prapti.model import ChatModel
    from prosa.dialects.skill_md.model import SkillModel
    from prosa.dialects.ymj.model import YmjModel

P = ParamSpec("P")
T = TypeVar("T")

ApiName: TypeAlias = Literal["chat", "responses"]
"""Which API of a service is asked: Chat Completions or Responses."""

A_PROVIDER = "give an object with `async def complete(request, on_text)`, such as prosa.testing.ScriptedProvider"

MAX_PATH = 4096
"""Characters of a path on every system; a longer line is a text."""


Model: TypeAlias = "ChatModel | MagiModel | NodeModel | PlainModel | ProgramModel | SkillModel | YmjModel"
"""The typed reading of a document: one class for each dialect."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document as `load` reads it.

    ``front_matter`` is plain data or None; ``model`` the typed reading of its dialect, None where the text cannot be
    read as one; ``diagnostics`` what `prosa check` says of this document.
    """

    source: SourceText
    dialect: DialectName
    front_matter: dict[str, Any] | None
    model: Model | None
    diagnostics: tuple[Diagnostic, ...]


def load(path_or_text: str | Path, dialect: DialectName | None = None) -> Document:
    """Reads a document: a `Path`, one line that names a file or ends like one (`.md`), or else the text itself.

    A file is read as `prosa check` reads it: under the settings of its project, beside the documents there. For a text
    nothing else is opened. Never fails for what the text says; a path that cannot be read raises
    `prosa.source.FileProblem`, a dialect that does not exist ValueError.
    """
    from prosa.app.check.check import Checker, CheckOptions
    from prosa.app.check.gather import gather
    from prosa.dialects.table import known_dialect
    from prosa.rules.engine import check_text

    path = _path_of(path_or_text)
    if path is None:
        checked = check_text(SourceText(str(path_or_text)), dialect=dialect and known_dialect(dialect))
    else:
        (group,) = gather([path])
        group.files.read(path)
        checked = Checker.of(CheckOptions(dialect), os.environ).check(group, keep=True)
    found = checked.documents[0]
    front = found.front
    return Document(front.source, found.dialect, found.reading.front_matter, found.model, checked.of(front.source))


def check(
    paths: str | Path | Iterable[str | Path],
    *,
    dialect: DialectName | None = None,
    strict: bool | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    root: str | Path | None = None,
    gitignore: bool = True,
    max_size: int | None = None,
    jobs: int | None = 1,
    cache: bool = False,
) -> list[Diagnostic]:
    """What `prosa check` reports of documents and of what they import, under the settings of their projects: those of
    `prosa.toml` first, then in reading order. Folders without a document give nothing.

    The options are those of the command; ``strict`` None leaves it to documents and project. ``jobs`` is the number of
    processes, None one for each processor; ``cache`` keeps what was found for the next check.

    Raises `prosa.source.FileProblem` for a path that does not exist, ValueError for a rule or dialect that does not.
    """
    from prosa.app.check.check import Checker, CheckOptions
    from prosa.app.check.gather import gather

    given = [paths] if isinstance(paths, str | Path) else list(paths)
    options = CheckOptions(dialect, strict, _words(select), _words(ignore), jobs, cache)
    checker = Checker.of(options, os.environ)
    groups = gather(given, root=root, max_size=max_size, gitignore=gitignore, agents=True)
    return list(checker.diagnostics(groups))


def _words(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


async def arun(
    path_or_program: str | Path | Program,
    input: Any = None,  # noqa: A002 - the name of the interface
    *,
    model: str | None = None,
    provider: Provider | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: ApiName | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    sites: SiteRights = NO_RIGHTS,
    allow_cut: bool = False,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> RunResult:
    """Runs a program and gives its validated output and the summary.

    ``input`` is plain JSON data, ``{}`` when left out. ``model`` wins over every program's; it may be ``local`` or
    ``scripted:FILE``. ``provider`` replaces the model service, as with `prosa.testing.ScriptedProvider`; else
    ``base_url``, ``api_key`` and ``api`` say who is asked and how. ``max_iterations`` bounds model calls, ``retries``
    further attempts, ``timeout`` the wall clock in seconds; ``root`` keeps imports inside a folder. ``sites`` are those
    beside the program's own, and what the run may do there; by default it changes nothing. ``allow_cut`` takes a text
    that was cut off at the length limit of the model; else that is `AnswerCut`. ``listener`` hears the events, the
    logger ``prosa`` what a person should know; ``environ`` takes the place of `os.environ`.

    Raises `RunError`, `AgreementRequired` among them (L41), `FileProblem`, and TypeError for a provider that is none.
    """
    from prosa.app.run.jobs import run_program
    from prosa.app.run.load import ready_program

    if isinstance(provider, str):
        raise TypeError(f"provider={provider!r}: a program has no name for a provider; {A_PROVIDER}, or base_url=")
    _require_provider(provider)
    given = path_or_program if isinstance(path_or_program, Program) else Path(path_or_program)
    options = _options(model, None, base_url, api_key, api, max_iterations, retries, timeout, root, allow_cut, sites)
    environment = _environment(given if isinstance(given, Path) else None, environ)
    program = ready_program(given, options, environment)
    value = {} if input is None else input
    return await run_program(program, value, options, environment, listener=listener, provider=provider)


async def arun_scripts(
    path_or_text: str | Path,
    scripts: Instructions | None = None,
    *,
    ids: str | Iterable[str] = (),
    auto: bool = False,
    stale: bool = False,
    text: str | Mapping[str, str] | None = None,
    context: ContextMode | None = None,
    env: str = "server",
    tools: Iterable[str] = (),
    write: bool = False,
    force: bool = False,
    jobs: int = 4,
    model: str | None = None,
    provider: Provider | str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: ApiName | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    allow_cut: bool = False,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> tuple[ScriptResult, ...]:
    """Runs the ai-scripts of a MAGI document, or scripts that come beside any document: a result for each (M41).

    ``path_or_text`` is read as by `load`. ``scripts`` take the place of the blocks: a JSON file, or its data. Run are
    all for ``env``, or ``ids``, or with ``auto`` those that ask for it in a document that the user trusts; of these
    with ``stale`` those whose result is stale. ``text`` is for scripts with an input field, or texts by id. ``context``
    is sent beside the prompt: the document, unless a stale result was made otherwise. ``tools`` are granted: `python`.
    ``write`` puts results into the document, with ``force`` over edited ones. ``jobs`` run at the same time.
    ``provider`` is a name, or replaces the model service. ``model``, ``base_url``, ``api_key``, ``api``,
    ``max_iterations``, ``retries``, ``timeout``, ``root``, ``allow_cut``, ``listener``, ``environ`` are as in `arun`.

    A script that fails is a result with an ``error``; one that is passed over is logged. Raises `RunError` for what
    keeps all from running, such as a named script that cannot run; `FileProblem`; ValueError for options that
    contradict each other; TypeError for a provider that is none.
    """
    from prosa.app.scripts.choose import choice_of, requested, require_tools, selection
    from prosa.app.scripts.run import run_scripts as run_all

    path = _path_of(path_or_text)
    name, own = _provider(provider)
    options = _options(model, name, base_url, api_key, api, max_iterations, retries, timeout, root, allow_cut)
    environment = _environment(path, environ)
    choice = choice_of(ids, text, auto=auto, stale=stale, write=write, env=env, force=force)
    file = requested(path or SourceText(str(path_or_text)), scripts, choice, options, environment)
    granted, replaced = require_tools(tools), own is not None
    found = selection(file, choice, options, environment, context=context, tools=granted, replaced=replaced)
    found.require_named()
    for note in found.passed_over():
        environment.notice(note)
    ready = found.made_ready()
    return await run_all(ready, options, environment, listener=listener, at_once=jobs, provider=own)


async def achat(
    path_or_text: str | Path,
    message: str | None = None,
    *,
    speaker: str | None = None,
    n: int | None = None,
    write: bool = False,
    force: bool = False,
    tools: Iterable[str] = (),
    plugins: Iterable[str] = (),
    config_files: Iterable[str | Path] = (),
    default_config: bool = True,
    trusted: bool = False,
    legacy: bool = False,
    sites: SiteRights = NO_RIGHTS,
    model: str | None = None,
    provider: Provider | str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: ApiName | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    allow_cut: bool = False,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> ChatResult:
    """Answers the last message of a chat, or ``message``, which is added first as one of ``speaker`` (P2, P7).

    ``path_or_text`` is read as by `load`; a chat that is empty or not there is begun. ``write`` puts the message and
    the replies into the file. ``n`` asks for several replies, ``force`` sends whatever the last message is. ``tools``,
    ``plugins``, ``config_files``, ``default_config``, ``trusted``, ``legacy`` are as the flags of `prosa chat`.
    ``provider`` is a name, or replaces the model service. ``model``, ``base_url``, ``api_key``, ``api``,
    ``max_iterations``, ``retries``, ``timeout``, ``root``, ``sites``, ``allow_cut``, ``listener``, ``environ`` are as
    in `arun`, for each reply.

    Raises `RunError` where there is nothing to answer and when a reply fails, `ProgramRefused` for errors in the chat;
    `FileProblem`; ValueError for options that contradict each other; TypeError for a provider that is none.
    """
    from prosa.app.chat.prepare import ChatOptions
    from prosa.app.chat.turn import TurnRequest, take_turn

    path = _path_of(path_or_text)
    name, own = _provider(provider)
    tools = _words(tools)
    typed = tuple(each.removeprefix("mdh:") for each in tools if each.startswith("mdh:"))
    rights = replace(sites, named=(*sites.named, *typed))
    options = _options(model, name, base_url, api_key, api, max_iterations, retries, timeout, root, allow_cut, rights)
    files = (config_files,) if isinstance(config_files, str | Path) else config_files
    asked = ChatOptions(tuple(map(Path, files)), default_config, tools, _words(plugins), trusted, legacy, force, n)
    request = TurnRequest(options, _environment(path, environ), asked, speaker, write, own, listener)
    result = await take_turn(path or SourceText(str(path_or_text)), message, request)
    if result.error is not None:
        _log(f"note: {result.error.message}")
    return result


def _synchronous(work: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
    """The same for code that is not asynchronous, with the same signature."""
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


run = _synchronous(arun, "run")
run_scripts = _synchronous(arun_scripts, "run_scripts")
chat = _synchronous(achat, "chat")


def _environment(path: Path | None, environ: Mapping[str, str] | None) -> Environment:
    """The environment of a call: variables, the settings of the user and of the project of ``path``, the log."""
    variables = os.environ if environ is None else environ
    return Environment(variables, settings_for(path, variables, _log), _log)


def _provider(given: Provider | str | None) -> tuple[str | None, Provider | None]:
    """The name of a provider, or one that takes the place of all. Raises TypeError for what is neither."""
    if isinstance(given, str):
        return given, None
    _require_provider(given)
    return None, given


def _require_provider(given: object) -> None:
    if given is not None and not (callable(getattr(given, "complete", None)) and not isinstance(given, type)):
        raise TypeError(f"provider is of the type {type(given).__name__}; {A_PROVIDER}")


def _options(
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
    site_rights: SiteRights = NO_RIGHTS,
) -> Options:
    """The options that all calls share, in the order of their signatures."""
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
        site_rights=site_rights,
    )


def _log(text: str) -> None:
    logging.getLogger("prosa").warning("%s", text)


def _path_of(given: str | Path) -> Path | None:
    if isinstance(given, Path):
        return given
    from prosa.dialects.table import DOCUMENT_SUFFIXES

    if "\n" in given or len(given) > MAX_PATH or not given:
        return None
    path = Path(given)
    try:
        return path if path.exists() or path.suffix in DOCUMENT_SUFFIXES else None
    except (OSError, ValueError):
        return None
