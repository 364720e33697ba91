"""One attempt of an agent, from an order to its trace (X36): fresh workspace and home, settings, box, tap and process.

In: an order and an installed agent. Out: an `AgentTrace` whose `end` says how it ended, and the contents of the changed
files. Nothing of the attempt survives, however it ends; cancelling it ends everything at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.agents import box
from prosa.adapters.agents.children import NOT_STARTED, AgentProcess, OutputTooLong, started
from prosa.adapters.agents.discover import VERSION_SECONDS, Installed, system_path
from prosa.adapters.agents.forms import quoted
from prosa.adapters.agents.streams import Stream, StreamReader
from prosa.adapters.agents.table import KnownAgent, Setting
from prosa.adapters.agents.workspace import (
    DiskFull,
    Snapshot,
    Workspace,
    WorkspaceProblem,
    disk_with_space,
    remove_folder,
)
from prosa.records.agent import AgentStep, AgentTrace, End, FileChange, WireName
from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.adapters.agents.tap import Tap, Upstream
    from prosa.runtime.budget import Budget
    from prosa.runtime.ports import Prices

CAP_SECONDS: Final = 10.0
"""How long an agent may take to end after a cap refused its request: all of them end at the first refusal."""

LINGER_SECONDS: Final = 20.0
"""How long an agent may stay, silent, after it printed its end."""

_LOOK_SECONDS: Final = 0.2
_EVALS: Final = frozenset({"evals"})
_NO_URL: Final = "http://127.0.0.1"
_HTTP_ERROR: Final = regex(
    r"\b(?:status|HTTP|Error:?)?\s*(?:40[0-9]|42[0-9]|5[0-9][0-9])\b|rate.?limit|usage limit|overloaded|high demand|"
    r"authentication|API key|login|connect",
    re.IGNORECASE,
)
"""How agents word errors of their service, where no tap saw it."""


class Order(Struct, frozen=True):
    """What one attempt is to be. ``skills`` are names and folders, laid without their ``evals/``; ``files`` are
    sources and places in the workspace, ``context`` places and texts of files that an agent reads at start. ``home``
    is a fresh one or the user's own, then without a tap. ``keep`` is the folder that gets the changed files."""

    agent: str
    model: str
    prompt: str
    skills: tuple[tuple[str, Path], ...] = ()
    files: tuple[tuple[Path, str], ...] = ()
    home: Literal["fresh", "user"] = "fresh"
    boxed: bool = True
    timeout: float = 300.0
    max_calls: int | None = 40
    stop_when_loaded: bool = False
    keep: Path | None = None
    context: tuple[tuple[str, str], ...] = ()


class _Place(Struct, frozen=True):
    """The folders of one attempt: ``root`` holds what goes at its end, ``contents`` stays."""

    root: Path
    workspace: Workspace
    home: Path
    contents: Path


class _Changed(Struct, frozen=True):
    """What became of the workspace: ``left_out`` are sentences about what is no output, ``excess`` is the limit that it
    is over, or what the agent did that it cannot be read; ``problem`` is why this machine could not."""

    files: tuple[FileChange, ...] = ()
    left_out: tuple[str, ...] = ()
    excess: str = ""
    problem: str = ""


_Stop: TypeAlias = Literal["", "timeout", "files", "processes", "cap", "lingers", "unreadable"]


class _Ran(Struct, frozen=True):
    """How the process went: ``stopped`` is why it was ended here, empty where it ended itself."""

    stream: Stream
    status: int | None
    stderr: str
    seconds: float
    stopped: _Stop = ""
    reason: str = ""


async def run_attempt(
    order: Order,
    here: Installed,
    upstream: Upstream | None,
    *,
    wire: WireName,
    prices: Prices,
    folder: Path,
    environ: Mapping[str, str],
    budget: Budget | None = None,
    output_bound: int | None = None,
) -> tuple[AgentTrace, Path]:
    """Run an agent once, and return its trace with the folder of contents by digest, which is below ``folder``.

    ``upstream`` is what the tap asks; None goes with the user's own home. Raises `WorkspaceProblem` for files that
    cannot be laid, `DiskFull` where there is no space for it, and `BoxRefused` for a place of the agent that the box
    may not show.
    """
    with disk_with_space(folder):
        place = await asyncio.to_thread(_laid, order, here.known, folder)
        try:
            before = await asyncio.to_thread(place.workspace.snapshot, place.contents)
            caps = {"budget": budget, "output_bound": output_bound, "prices": prices}
            async with _tap(order, here.known, upstream, wire, place, caps) as tap:
                ran = await _run(order, here, tap, wire, place, environ)
            changed = await asyncio.to_thread(_changes, place, before)
        finally:
            await asyncio.shield(asyncio.to_thread(_removed, place.root))
    trace = _trace(order, here, tap, wire, ran, changed)
    if order.keep is not None:
        await asyncio.to_thread(_keep, order.keep, changed.files, place.contents)
    return trace, place.contents


# ---- folders ----


def _laid(order: Order, known: KnownAgent, folder: Path) -> _Place:
    """Make the folders of an attempt, with the files and skills of the order."""
    folder.mkdir(parents=True, exist_ok=True)
    contents, root = Path(mkdtemp(prefix="contents-", dir=folder)), Path(mkdtemp(prefix="a-", dir=folder))
    try:
        home = root / "home"
        home.mkdir(mode=0o700)
        (root / "tmp").mkdir(mode=0o700)
        texts = ((text.encode(), path) for path, text in order.context)
        workspace = Workspace.create(root / "workspace", (*order.files, *texts))
        for name, source in order.skills:
            workspace.copy(source, f"{known.skills[0]}/{name}", without=_EVALS)
    except BaseException:
        _removed(root)
        raise
    return _Place(root, workspace, home, contents)


def _removed(root: Path) -> None:
    # What cannot be deleted is left to the owner of the folder above, as after a disk error.
    with suppress(WorkspaceProblem, OSError):
        remove_folder(root)


def _changes(place: _Place, before: Snapshot) -> _Changed:
    """Return the changed files, and what is no output."""
    try:
        after = place.workspace.snapshot()
        left_out = tuple(f"`{path}` is not output: it is {what}" for path, what in after.refused.items())
        return _Changed(place.workspace.changes(before, after, place.contents), left_out, after.excess)
    except DiskFull as full:
        return _Changed(problem=f"what changed is not known: {full}")
    except WorkspaceProblem as problem:
        return _Changed(excess=f"what changed is not known: {problem}")


def _keep(folder: Path, changes: Iterable[FileChange], contents: Path) -> None:
    """Copy the changed files into a folder of the user's, in which they replace those of an earlier attempt."""
    files = [(contents / change.digest, change.path) for change in changes if change.digest]
    remove_folder(folder)
    Workspace.create(folder, files)


# ---- the tap ----


@asynccontextmanager
async def _tap(
    order: Order,
    known: KnownAgent,
    upstream: Upstream | None,
    wire: WireName,
    place: _Place,
    caps: Mapping[str, object],
) -> AsyncIterator[Tap | None]:
    if upstream is None:
        yield None
        return
    from prosa.adapters.agents.tap import TapLimits, open_tap

    names = tuple(name for name, _ in order.skills)
    limits = TapLimits(max_calls=order.max_calls, stop_when_loaded=order.stop_when_loaded)
    socket = place.root / "tap.sock" if order.boxed else None
    stamp = place.workspace.stamp
    opened = open_tap(known, upstream, wire, skills=names, limits=limits, socket=socket, stamp=stamp, **caps)  # type: ignore[arg-type]
    async with opened as tap:
        yield tap


# ---- the process ----


async def _run(
    order: Order, here: Installed, tap: Tap | None, wire: WireName, place: _Place, environ: Mapping[str, str]
) -> _Ran:
    """Start the agent, read what it prints, and end it at a limit."""
    command, env = await _command(order, here, tap, wire, place, environ)
    reader, begun = StreamReader(here.known.form), time.monotonic()
    try:
        async with started(command, env=env, folder=place.workspace.folder, given=order.prompt.encode()) as process:
            stopped, reason = await _watched(order, process, reader, tap, place)
    except OSError as error:
        return _Ran(reader.stream(), 127, str(error), time.monotonic() - begun)
    status = None if stopped else process.status
    return _Ran(reader.stream(), status, process.stderr, time.monotonic() - begun, stopped, reason)


async def _watched(
    order: Order, process: AgentProcess, reader: StreamReader, tap: Tap | None, place: _Place
) -> tuple[_Stop, str]:
    """Wait for the end of the process, or for what ends it."""
    reading = asyncio.ensure_future(_read(process, reader))
    full = asyncio.ensure_future(place.workspace.overflow())
    over = asyncio.ensure_future(_over(tap, reader))
    try:
        await asyncio.wait({reading, full, over}, timeout=order.timeout, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            error = reading.exception()
            if error is not None and not isinstance(error, OutputTooLong):
                raise error
            if process.excess:
                return "processes", process.excess
            return ("unreadable", str(error)) if error is not None else ("", "")
        if full.done():
            return "files", str(full.exception() or full.result())
        return (over.result(), "") if over.done() else ("timeout", "")
    finally:
        for task in (reading, full, over):
            task.cancel()
        await asyncio.gather(reading, full, over, return_exceptions=True)


async def _read(process: AgentProcess, reader: StreamReader) -> None:
    async for line in process.lines():
        reader.feed(line)
    await process.exited()


async def _over(tap: Tap | None, reader: StreamReader) -> Literal["cap", "lingers"]:
    """Return once an agent stays although a cap refused its request, or although it printed its end."""
    refused_at = 0.0
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        now = time.monotonic()
        if tap is not None and tap.end:
            refused_at = refused_at or now
            if tap.end == "loaded" or now - refused_at > CAP_SECONDS:
                return "cap"
        if reader.has_ended and now - reader.last > LINGER_SECONDS:
            return "lingers"


async def _command(
    order: Order, here: Installed, tap: Tap | None, wire: WireName, place: _Place, environ: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Write the settings into the home, and return the command and the environment."""
    known = here.known
    if order.home == "user" or tap is None:
        return [str(here.path), *_own_arguments(order, known)], dict(environ)
    home = box.HOME if order.boxed else str(place.home)
    setting = Setting(tap.url or box.RELAY_URL, tap.token, order.model, wire, home)
    for path, text in known.files(setting).items():
        file = place.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    command = [str(here.path), *known.arguments(setting)]
    env = {"HOME": home, "LANG": "C.UTF-8", **known.environment(setting)}
    if not order.boxed:
        as_root = known.as_root if hasattr(os, "getuid") and os.getuid() == 0 else {}
        path = ":".join((*map(str, here.programs), environ.get("PATH", "")))
        return command, {**env, **as_root, "PATH": path, "TMPDIR": str(place.root / "tmp")}
    roots = list(here.roots)
    if known.cache:
        unpacked = await _unpacked(here, place.root.parent)
        env[known.cache] = str(unpacked)
        roots.append(unpacked)
    shown = [root for root in roots if not root.is_relative_to("/usr")]
    socket = place.root / "tap.sock"
    inside = box.boxed(command, workspace=place.workspace.folder, home=place.home, readable=shown, socket=socket)
    return inside, {**env, "PATH": system_path(here), "TMPDIR": "/tmp"}  # noqa: S108 - that of the box


def _own_arguments(order: Order, known: KnownAgent) -> tuple[str, ...]:
    """Return the arguments with the user's own login, with a cap on calls where the agent has a flag for it."""
    own = known.own
    model = (own.model, order.model) if order.model else ()
    calls = (own.calls, str(order.max_calls)) if own.calls and order.max_calls is not None else ()
    return (*own.arguments, *model, *calls)


_filling: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)


async def _unpacked(here: Installed, folder: Path) -> Path:
    """Return the folder that the agent has unpacked itself into, for all attempts of one call. Boxes show it read-only,
    so that no attempt can change the agent of the next one."""
    unpacked = folder / f"unpacked-{here.known.name}"
    async with _filling[unpacked]:
        if not unpacked.exists():
            await asyncio.to_thread(_unpack, here, unpacked)
    return unpacked


def _unpack(here: Installed, unpacked: Path) -> None:
    home = Path(mkdtemp(prefix="home-", dir=unpacked.parent))
    env = {"HOME": str(home), "PATH": system_path(here), "LANG": "C.UTF-8", here.known.cache: str(unpacked)}
    command = [str(here.path), "--version"]
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            env=env,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=4 * VERSION_SECONDS,
        )
    unpacked.mkdir(exist_ok=True)
    _removed(home)


# ---- the trace ----


def _trace(
    order: Order,
    here: Installed,
    tap: Tap | None,
    wire: WireName,
    ran: _Ran,
    changed: _Changed,
) -> AgentTrace:
    known, stream = here.known, ran.stream
    end, reason = _end(order, known, tap, ran, changed.excess)
    if changed.problem:
        end, reason = "interrupted", changed.problem
    names = [name for name, _ in order.skills]
    steps = stream.steps if tap is None else _steps(tap, stream)
    loads = _loads(known, names, steps)
    first = [name for name in loads if name in tap.loaded_first] if tap is not None else _first(known, loads, steps)
    return AgentTrace(
        agent=known.name,
        version=stream.version or here.version,
        model=order.model or (stream.reported.model if stream.reported else ""),
        end=end,
        reason=reason,
        text=stream.text,
        steps=steps,
        calls=() if tap is None else tuple(tap.calls),
        changes=changed.files,
        listed=_listed(names, tap, stream),
        loaded=tuple(loads),
        loaded_first=tuple(first),
        denied=stream.denied,
        reported=stream.reported,
        configuration=_configuration(order, known, wire),
        exit_status=ran.status,
        seconds=ran.seconds,
        unseen=(*_unseen(order, known, tap), *changed.left_out),
    )


def _end(order: Order, known: KnownAgent, tap: Tap | None, ran: _Ran, excess: str) -> tuple[End, str]:
    """Return how the attempt ended, and why."""
    stream, stderr = ran.stream, quoted(ran.stderr[-600:])
    if ran.status in NOT_STARTED and not stream.lines:
        return "missing", f"{known.title} did not start: {stderr or f'status {ran.status}'}"
    if tap is not None and tap.end in ("calls", "cost", "loaded"):
        return tap.end, tap.reason
    if ran.stopped == "files" or excess:
        return "files", ran.reason or excess
    if ran.stopped == "processes":
        return "processes", ran.reason
    if ran.stopped == "unreadable":
        return "unreadable", ran.reason
    failed = _service_error(tap)
    if ran.stopped == "timeout":
        return _timed_out(order, known, tap, failed)
    if tap is not None and not tap.calls:
        return (
            "silent",
            f"{known.title} ended before its first model request: {stream.problem or stderr or 'it gave no reason'}",
        )
    if stream.problem or ran.status:
        return _failed(known, tap, ran, failed)
    if stream.denied:
        return "failed", f"a permission was refused: {', '.join(stream.denied)}"
    if stream.unreadable:
        return "unreadable", stream.unreadable
    if failed and _is_last_of_its_conversation(tap):
        return "service", failed  # some print the error as their answer
    return ("done", "") if stream.ended else ("unreadable", "its stream has no end, although it ended without an error")


def _timed_out(order: Order, known: KnownAgent, tap: Tap | None, failed: str) -> tuple[End, str]:
    limit = f"within {order.timeout:g} seconds (--agent-timeout)"
    if failed:
        return "service", f"{failed}; {known.title} tried again until the time was over"
    if tap is not None and not tap.calls:
        return "silent", f"{known.title} made no model request {limit}"
    return "timeout", f"{known.title} did not end {limit}"


def _failed(known: KnownAgent, tap: Tap | None, ran: _Ran, failed: str) -> tuple[End, str]:
    """Return the end of an agent that reported an error, or exited with one."""
    stream = ran.stream
    if failed:
        return "service", failed
    if tap is None and stream.problem:
        if _HTTP_ERROR.search(stream.problem):
            return "service", stream.problem
        return ("failed", stream.problem) if stream.steps else ("silent", stream.problem)
    if tap is None and not stream.steps:
        return (
            "silent",
            f"{known.title} ended with status {ran.status} before it did anything: {quoted(ran.stderr[-600:])}",
        )
    if stream.problem:
        return "failed", stream.problem
    return "crashed", f"{known.title} ended with status {ran.status}: {quoted(ran.stderr[-600:]) or stream.unreadable}"


def _service_error(tap: Tap | None) -> str:
    """Return the sentence of the last model call if the service did not answer it."""
    asked = [call for call in tap.calls if not call.refused] if tap is not None else []
    if not asked or asked[-1].answered:
        return ""
    last = asked[-1]
    return f"the model service answered with status {last.status}: {quoted(last.problem) or 'no reply'}"


def _is_last_of_its_conversation(tap: Tap | None) -> bool:
    """Return whether the last model call goes on what was answered before; one for a title, say, does not."""
    asked = [call for call in tap.calls if not call.refused] if tap is not None else []
    answered = [call.conversation for call in asked if call.answered]
    return not answered or answered[-1] == asked[-1].conversation


def _steps(tap: Tap, stream: Stream) -> tuple[AgentStep, ...]:
    """Return what went over the wire, with what the agent says of results: whether they are errors."""
    tools = {step.call: step.tool for step in tap.steps if step.kind == "call"}
    wrong = {step.call for step in stream.steps if step.kind == "result" and step.is_error}
    return tuple(
        replace(
            step, tool=tools.get(step.call, ""), is_error=step.call in wrong or bool(_EXIT.search(step.text[-4000:]))
        )
        if step.kind == "result"
        else step
        for step in tap.steps
    )


_EXIT: Final = regex(r"(?:exited with(?: exit)? code|exit code:?) [1-9]", re.IGNORECASE)
"""How results of shells name a status: Codex's own stream counts its calls differently from the wire."""


def _loads(known: KnownAgent, names: Iterable[str], steps: tuple[AgentStep, ...]) -> dict[str, int]:
    """Return the loaded skills in order, each with the place of the call that loaded it. A call that failed did not."""
    wrong = {step.call for step in steps if step.kind == "result" and step.is_error}
    positions: dict[str, int] = {}
    for at, step in enumerate(steps):
        if step.kind == "call" and step.call not in wrong:
            for name in names:
                if name not in positions and known.loaded(name, step.tool, step.arguments):
                    positions[name] = at
    return positions


def _first(known: KnownAgent, loads: Mapping[str, int], steps: tuple[AgentStep, ...]) -> list[str]:
    """Return the skills that were loaded before a tool changed a file, as far as its name tells."""
    before = next(
        (at for at, step in enumerate(steps) if step.kind == "call" and step.tool in known.writes), len(steps)
    )
    return [name for name, at in loads.items() if at < before]


def _listed(names: list[str], tap: Tap | None, stream: Stream) -> tuple[str, ...] | None:
    """Return the skills that were offered. Without a tap that is only known where the agent knows none of them."""
    if tap is not None:
        return tuple(tap.listed) if tap.calls else None
    return () if names and stream.skills is not None and not set(names) & set(stream.skills) else None


def _configuration(order: Order, known: KnownAgent, wire: WireName) -> str:
    """Return the digest of the agent's settings, which are the same for every attempt with one model."""
    setting = Setting(_NO_URL, "token", order.model, wire, "home")
    own = _own_arguments(order, known)
    parts = [known.arguments(setting), known.environment(setting), known.files(setting)]
    whole = json.dumps(own if order.home == "user" else parts, sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _unseen(order: Order, known: KnownAgent, tap: Tap | None) -> tuple[str, ...]:
    """Return in sentences what was not seen or held."""
    if tap is not None:
        return tuple(tap.notes)
    own = known.own
    capped = f"model calls were limited to {order.max_calls} by {known.title} itself (`{own.calls}`)"
    return (
        f"{known.title} used your own login and settings: memory, hooks, servers and further skills had effect",
        "its model requests were not seen: whether a skill was offered is not known, tokens are what it reports",
        capped if own.calls else f"model calls were not limited: {known.title} has no flag for it",
        "money was not limited",
    )
