"""The Python interface: `prosa.load`, `check`, `run`, `run_scripts`, `chat`. A surface like the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from prosa.app.options import NO_RIGHTS, Environment, Options, SiteRights
from prosa.app.run.load import load_program, with_sites
from prosa.app.run.world import RunResult, run_program
from prosa.app.settings import settings_for
from prosa.diagnostics import Diagnostic
from prosa.dialects.dialect import DialectName
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.chat.turn import ChatResult
    from prosa.app.scripts.choose import Instructions
    from prosa.app.scripts.run import ScriptResult
    from prosa.dialects.magi.context import ContextMode
    from prosa.dialects.magi.model import MagiModel
    from prosa.dialects.markdownlang import ProgramModel
    from prosa.dialects.mdh.model import NodeModel
    from prosa.dialects.plain.model import PlainModel
    from prosa.dialects.prapti.model import ChatModel
    from prosa.dialects.skill_md.model import SkillModel
    from prosa.dialects.ymj.model import YmjModel

T = TypeVar("T")

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
    from prosa.adapters.files import MAX_DOCUMENT_BYTES
    from prosa.app.check.check import Checker, CheckOptions
    from prosa.app.check.gather import gather

    given = [paths] if isinstance(paths, str | Path) else list(paths)
    options = CheckOptions(dialect, strict, _words(select), _words(ignore), jobs, cache)
    checker = Checker.of(options, os.environ)
    groups = gather(given, root=root, max_size=max_size or MAX_DOCUMENT_BYTES, gitignore=gitignore, agents=True)
    return list(checker.diagnostics(groups))


def _words(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def run(path_or_program: str | Path | Program, input: Any = None, **options: Any) -> RunResult:  # noqa: A002
    """`arun` for code that is not asynchronous. Raises RuntimeError inside a running event loop: use `arun` there."""
    return _now("run", lambda: arun(path_or_program, input, **options))


async def arun(
    path_or_program: str | Path | Program,
    input: Any = None,  # noqa: A002 - the name of the interface
    *,
    model: str | None = None,
    provider: Provider | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: Literal["chat", "responses"] | None = None,
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

    ``input`` is plain JSON data, ``{}`` when left out. ``provider`` replaces the model service, as with
    `prosa.testing.ScriptedProvider`. ``timeout`` is wall clock in seconds, ``root`` keeps imports inside a folder.
    ``allow_cut`` takes a text that was cut off at the length limit of the model; else that is `AnswerCut`.
    ``listener`` hears the events. What a person should know is logged to the logger ``prosa``. ``sites`` is a
    `prosa.SiteRights`: sites beside those that the program declares, and what the run may do there; by default it
    changes nothing.

    Raises `RunError`, `AgreementRequired` among them (L41), and `prosa.source.FileProblem`.
    """
    from prosa.adapters.files.agreement_store import check_agreement

    environ = os.environ if environ is None else environ
    choices = Options(
        model=model,
        base_url=base_url,
        api_key=api_key,
        api=api,
        iterations=max_iterations,
        retries=retries,
        wall_clock=timeout,
        root=Path(root) if root is not None else None,
        site_rights=sites,
        allow_cut=allow_cut,
    )
    if isinstance(path_or_program, Program):
        around = Environment(environ, settings_for(None, environ, _log), _log)
        program = path_or_program
    else:
        path = Path(path_or_program)
        around = Environment(environ, settings_for(path, environ, _log), _log)
        program = load_program(path, choices, around.settings, environ=environ)
    program = with_sites(program, sites.named)
    check_agreement(environ)
    given = {} if input is None else input
    return await run_program(program, given, choices, around, listener=listener, provider=provider)


def run_scripts(
    path_or_text: str | Path, scripts: Instructions | None = None, **options: Any
) -> tuple[ScriptResult, ...]:
    """`arun_scripts` for code that is not asynchronous. Raises RuntimeError inside a running event loop."""
    return _now("run_scripts", lambda: arun_scripts(path_or_text, scripts, **options))


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
    api: Literal["chat", "responses"] | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    root: str | Path | None = None,
    allow_cut: bool = False,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> tuple[ScriptResult, ...]:
    """Runs the ai-scripts of a MAGI document, or scripts that come beside any document: a result for each (M41).

    ``path_or_text`` is read as by `load`. ``scripts`` take the place of the blocks: the path of a JSON file, or the
    data of one. Run are all for ``env``, or ``ids``, or with ``auto`` those that ask for it in a document that the user
    trusts; of these with ``stale`` those whose result is stale. ``text`` is for scripts with an input field, or texts
    by id. ``context`` is sent beside the prompt: the document, unless a stale result was made otherwise. ``write`` puts
    results into the document. ``provider`` is a name, or replaces the model service. ``timeout``,
    ``retries``, ``allow_cut``, ``listener`` are as in `arun`, for each script; ``jobs`` scripts run at the same time.

    A script that fails is a result with an ``error``; one that is passed over is logged. Raises `RunError` for what
    keeps all from running, `prosa.source.FileProblem`, and ValueError for options that contradict each other.
    """
    from prosa.app.scripts.choose import choice_of, requested, require_tools
    from prosa.app.scripts.run import Means, run_chosen

    path, environ = _path_of(path_or_text), os.environ if environ is None else environ
    name, own = (provider, None) if isinstance(provider, str) else (None, provider)
    place = Path(root) if root is not None else None
    service = Options(model=model, provider=name, base_url=base_url, api_key=api_key, api=api, allow_cut=allow_cut)
    choices = replace(service, retries=retries, wall_clock=timeout, root=place)
    around = Environment(environ, settings_for(path, environ, _log), _log)
    choice = choice_of(ids, text, auto=auto, stale=stale, write=write, env=env, force=force)
    file = requested(path or SourceText(str(path_or_text)), scripts, choice, choices, around)
    means = Means(choices, around, context, require_tools(tools), own, listener, jobs)
    return await run_chosen(file, choice, means)


def chat(path_or_text: str | Path, message: str | None = None, **options: Any) -> ChatResult:
    """`achat` for code that is not asynchronous. Raises RuntimeError inside a running event loop."""
    return _now("chat", lambda: achat(path_or_text, message, **options))


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
    api: Literal["chat", "responses"] | None = None,
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
    ``plugins``, ``config_files``, ``trusted`` and ``legacy`` are as the flags of `prosa chat`. ``provider`` is a name,
    or replaces the model service; ``timeout``, ``retries``, ``allow_cut``, ``listener`` are as in `arun`, for each
    reply.

    Raises `RunError` where there is nothing to answer and when a reply fails, `ProgramRefused` among them for errors in
    the chat; `prosa.source.FileProblem`; and ValueError for options that contradict each other.
    """
    from prosa.app.chat.prepare import ChatOptions
    from prosa.app.chat.turn import ChatMeans, take_turn

    path, environ = _path_of(path_or_text), os.environ if environ is None else environ
    name, own = (provider, None) if isinstance(provider, str) else (None, provider)
    place = Path(root) if root is not None else None
    service = Options(model=model, provider=name, base_url=base_url, api_key=api_key, api=api, allow_cut=allow_cut)
    choices = replace(service, iterations=max_iterations, retries=retries, wall_clock=timeout, root=place)
    around = Environment(environ, settings_for(path, environ, _log), _log)
    tools = tuple(tools)
    typed = tuple(each.removeprefix("mdh:") for each in tools if each.startswith("mdh:"))
    choices = replace(choices, site_rights=replace(sites, named=(*sites.named, *typed)))
    files = tuple(map(Path, config_files))
    rights = ChatOptions(files, default_config, tools, tuple(plugins), trusted, legacy, force, n)
    means = ChatMeans(choices, around, rights, speaker, own, listener, write)
    return await take_turn(path or SourceText(str(path_or_text)), message, means)


def _now(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs asynchronous work to its end."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    raise RuntimeError(f"prosa.{name} cannot be called while an event loop is running; await prosa.a{name} instead")


def _log(text: str) -> None:
    import logging

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
