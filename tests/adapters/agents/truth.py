"""Twenty scripted attempts of each agent whose truth is known, with agents from npm, in the box: what is read is right.

    python -m tests.adapters.agents.truth [AGENT…] [--only CASE…] [--kills N]

The model is a script: this shows that steps, files, tokens and ends are read right, and nothing of skills or agents.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.agents.attempt import Order, run_attempt
from prosa.adapters.agents.discover import Installed, find_agent
from prosa.adapters.agents.scripted_service import ScriptedService
from prosa.adapters.agents.table import AGENTS, Setting
from prosa.adapters.agents.tap import Upstream
from prosa.adapters.agents.wires.exchange import ServiceRequest
from prosa.adapters.providers.endpoint import Endpoint
from prosa.records.agent import AgentTrace
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import Usage

NPM = Path(__file__).parent / "npm"
PROMPT = "When is the causeway dry? Write the time to out.txt."
TIDES = "Tells when it is high water at a port. Use it for tides, causeways and harbours."
USAGE = {"input_tokens": 1200, "output_tokens": 30}
EACH = Usage(1200, 30)
OURS = secrets.token_hex(8)
"""A value in the environment of every process that an attempt from here starts."""

Line: TypeAlias = "Mapping[str, Any] | Callable[[ServiceRequest], Mapping[str, Any]] | ProviderError"


class NoPrices:
    """Knows the price of no model."""

    def cost(self, model_name: str, usage: Usage, service: str | None = None) -> Decimal | None:
        """Return None."""
        del model_name, usage, service


class Case(Struct, frozen=True):
    """One attempt: what the model says, what the order has, and the truth. ``lines`` are said in order, the last again
    and again. ``skills`` are laid by name. ``arguments`` go with those of the agent. ``only`` are the agents it is for.
    ``listed`` None means all that are laid."""

    name: str
    lines: tuple[Line, ...]
    end: str = "done"
    skills: tuple[str, ...] = ("tide-times",)
    listed: tuple[str, ...] | None = None
    loaded: tuple[str, ...] = ()
    first: tuple[str, ...] | None = None
    changes: Mapping[str, str] = {}
    answered: int | None = None
    text: str | None = None
    laid: str = ""
    crowd: int = 0
    timeout: float = 120.0
    max_calls: int | None = 40
    stop: bool = False
    files: Mapping[str, str] = {}
    arguments: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    errors: int = 0
    denied: bool = False


def say(text: str) -> Line:
    """A last word."""
    return {"content": text, "usage": USAGE}


def deed(**what: Any) -> Line:
    """A line of the scripted service, with its tokens."""
    return {**what, "usage": USAGE}


def call(tool: str, arguments: Mapping[str, Any]) -> Line:
    """A call of a tool by name, whether or not there is one."""
    return {"tool_calls": [{"name": tool, "arguments": arguments}], "usage": USAGE}


def error(status: int) -> ProviderError:
    """An error of the service."""
    kinds: dict[int, Any] = {500: "server", 429: "rate-limit", 400: "bad-request"}
    return ProviderError(f"scripted {status}", kind=kinds[status], retryable=status != 400, status=status)


LOAD, WRITE, SAY = deed(load="tide-times"), deed(write={"out.txt": "06:12 UTC\n"}), say("High water is at 06:12 UTC.")
MANY = "rm old.txt; echo more >> data.csv; printf 'a\\000b' > blob.bin; mkdir -p sub; echo new > sub/new.txt"
OLD = {"old.txt": "old\n", "data.csv": "a,b\n1,2\n"}
OUT = {"out.txt": "added"}

CASES: tuple[Case, ...] = (
    Case("with skill", (LOAD, WRITE, deed(shell="wc -c out.txt"), SAY), loaded=("tide-times",), changes=OUT, answered=4,
         text="High water is at 06:12 UTC."),
    Case("without skill", (WRITE, SAY), skills=(), changes=OUT, answered=2),
    Case("listed, not loaded", (WRITE, SAY), changes=OUT, answered=2),
    Case("loaded after a change", (WRITE, LOAD, SAY), loaded=("tide-times",), first=(), changes=OUT, answered=3),
    Case("one of two skills", (deed(load="ferry-fares"), SAY), skills=("tide-times", "ferry-fares"),
         loaded=("ferry-fares",), answered=2),
    Case("wrong folder", (WRITE, SAY), laid="skills", listed=(), changes=OUT, answered=2),
    Case("hundred others", (WRITE, SAY), crowd=100, changes=OUT, answered=2),
    Case("many files", (deed(shell=MANY), SAY), files=OLD, answered=2,
         changes={"old.txt": "deleted", "data.csv": "changed", "blob.bin": "added", "sub/new.txt": "added"}),
    Case("failed command", (deed(shell="echo no >&2; exit 3"), SAY), answered=2, errors=1),
    Case("unknown tool", (call("no_such_tool", {"x": 1}), SAY), answered=2),
    Case("refused tool", (WRITE, SAY), end="failed", denied=True, answered=2, only=("claude", "copilot")),
    Case("service: always 500", (error(500),), end="service", timeout=25, answered=0),
    Case("service: always 429", (error(429),), end="service", timeout=25, answered=0),
    Case("service: 400", (error(400),), end="service", answered=0),
    Case("service: 500 after a call", (WRITE, error(500)), end="service", timeout=30, changes=OUT, answered=1),
    Case("service: 500 once", (WRITE, SAY), changes=OUT, answered=2),
    Case("cap on calls", (WRITE, deed(shell="date"), deed(shell="date"), SAY), end="calls", max_calls=2, changes=OUT,
         answered=2),
    Case("stops when loaded", (LOAD, WRITE, SAY), end="loaded", stop=True, loaded=("tide-times",), answered=1),
    Case("stops when changed", (WRITE, LOAD, SAY), end="loaded", stop=True, loaded=(), changes=OUT, answered=1),
    Case("time-out", (WRITE, deed(shell="sleep 300")), end="timeout", timeout=30, changes=OUT),
    Case("crash", (WRITE, deed(shell="k=kill; $k -9 -1"), SAY), end="crashed", changes=OUT, answered=2),
    Case("too many files", (deed(shell="seq -f f%g 20000 | xargs touch; sleep 60"), SAY),
         end="files", changes={"*": "added"}),
    Case("too many processes", (WRITE, deed(shell="seq 700 | xargs -P 700 -I{} sleep 619"), SAY),
         end="processes", changes=OUT, answered=2),
)  # fmt: skip


def script(case: Case) -> Callable[[ServiceRequest], Any]:
    """The model of a case. A request without tools, as for a title, is no part of it."""
    failed = {"once": case.name.endswith("once")}

    def answer(request: ServiceRequest) -> Any:
        if not request.tools:
            return {"content": "A title", "usage": USAGE}
        if failed.pop("once", False):
            return error(500)
        given = sum(len(turn.calls) for turn in request.turns if turn.role == "assistant")
        line = case.lines[min(given, len(case.lines) - 1)]
        return line(request) if callable(line) else line

    return answer


def installed(name: str) -> Installed:
    """An agent that `make agents` installed, else one on PATH. Raises `AgentMissing`."""
    bins = [NPM / each / "node_modules" / ".bin" for each in (name, "codex")]
    tools = (NPM / "codex").glob("node_modules/@openai/codex-linux-*/vendor/*/codex-path")
    path = ":".join((*map(str, bins), *map(str, tools), os.environ["PATH"]))
    return find_agent(name, {**os.environ, "PATH": path})


def skill(folder: Path, name: str, description: str) -> tuple[str, Path]:
    """A skill in a folder, with tests that must not be laid."""
    made = folder / name
    (made / "evals").mkdir(parents=True)
    (made / "evals" / "evals.json").write_text("{}")
    (made / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\nGive every time in UTC.\n")
    return name, made


def order_of(case: Case, name: str, folder: Path) -> Order:
    """The order of a case."""
    # As long as the others: a list that has no room drops long descriptions first.
    about = {
        "tide-times": TIDES + " More words." * 30 * bool(case.crowd),
        "ferry-fares": "Tells what a ferry costs. Use it for fares of ferries.",
    }
    skills = [skill(folder, each, about[each]) for each in case.skills]
    crowd = [skill(folder, f"a{n:03}", f"Tells about subject {n:03}. " + "words " * 60) for n in range(case.crowd)]
    files = []
    for path, text in case.files.items():
        (folder / path).write_text(text)
        files.append((folder / path, path))
    return Order(name, "scripted-model", PROMPT, (*crowd, *skills), tuple(files), timeout=case.timeout,
                 max_calls=case.max_calls, stop_when_loaded=case.stop)  # fmt: skip


def changed(here: Installed, case: Case) -> Installed:
    """The agent with what a case changes in its row."""
    known, extra = here.known, case.arguments
    if case.denied:
        extra = {"claude": ("--permission-mode", "default"), "copilot": ("--deny-tool=write",)}[known.name]

    def arguments(setting: Setting) -> tuple[str, ...]:
        return (*here.known.arguments(setting), *extra)

    def environment(setting: Setting) -> Mapping[str, str]:
        return {**here.known.environment(setting), "PROSA_TRUTH": OURS}

    laid = (case.laid,) if case.laid else known.skills
    known = replace(known, arguments=arguments, environment=environment, skills=laid)
    return replace(here, known=known)


async def attempt(name: str, case: Case, here: Installed | None = None, **more: Any) -> AgentTrace:
    """Run a case; ``more`` changes its order."""
    here = changed(here or installed(name), case)
    wire = here.known.wires[0]
    with TemporaryDirectory(prefix="truth-") as made, ScriptedService(script(case)) as service:
        folder = Path(made)
        (folder / "skills").mkdir()
        upstream = Upstream(Endpoint(base_url=service.base_url(wire), api_key=service.key), service.base_url(wire))
        order = replace(order_of(case, name, folder / "skills"), **more)
        trace, contents = await run_attempt(
            order, here, upstream, wire=wire, prices=NoPrices(), folder=folder / "run", environ=os.environ
        )
        assert all((contents / each.digest).is_file() for each in trace.changes if each.digest)
        assert not [each for each in (folder / "run").iterdir() if each.name.startswith("a-")], "a folder is left"
    return trace


UNLISTED = {"claude", "copilot"}
"""Agents whose list has no room for the last of a hundred and one skills."""


def wrongs(name: str, case: Case, trace: AgentTrace) -> list[str]:
    """What of a trace is not the truth."""
    own = [each for each in trace.calls if each.conversation == _main(trace)]
    answered = [each for each in own if each.answered]
    listed = case.listed if case.listed is not None else case.skills
    if case.crowd and name in UNLISTED:
        listed = ()
    seen = None if trace.listed is None else {each for each in trace.listed if not each[1:].isdigit()}
    changes = {each.path: each.kind for each in trace.changes}
    if "*" in case.changes:
        changes = {"*": "added"} if changes and set(changes.values()) == {"added"} else changes
    first = case.loaded if case.first is None else case.first
    checks: list[tuple[str, Any, Any]] = [
        ("end", trace.end, case.end),
        ("listed", seen, set(listed)),
        ("loaded", trace.loaded, case.loaded),
        ("loaded first", trace.loaded_first, first),
        ("files", changes, dict(case.changes)),
        ("answered", len(answered), len(answered) if case.answered is None else case.answered),
        ("tokens", [each.usage for each in answered], [EACH] * len(answered)),
        ("errors", sum(each.is_error for each in trace.steps) if case.errors else 0, case.errors),
        ("denied", bool(trace.denied), case.denied),
        ("a reason", bool(trace.reason), case.end != "done"),
    ]
    if case.text is not None:
        checks.append(("text", trace.text, case.text))
    if trace.reported is not None and trace.reported.usage is not None and case.end == "done":
        checks.append(("reported", trace.reported.usage, sum([EACH] * len(answered), Usage())))
    return [f"{what}: {is_!r}, not {should!r}" for what, is_, should in checks if is_ != should]


def _main(trace: AgentTrace) -> int:
    """The conversation that is the agent's own: some ask for a title first."""
    counts = [each.conversation for each in trace.calls]
    tools = [each.conversation for each in trace.steps if each.kind == "call"]
    return tools[0] if tools else max(counts, key=counts.count, default=0)


def survivors() -> list[int]:
    """Processes on this machine that an attempt from here started."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and f"PROSA_TRUTH={OURS}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


async def kill(name: str, times: int) -> tuple[int, int]:
    """Cancel attempts while a tool sleeps; return how many reached that, and how many processes were left."""
    reached = left = 0
    case = Case("killed", (WRITE, deed(shell="setsid sleep 611 & sleep 612"), SAY), timeout=120)
    loop = asyncio.get_running_loop()
    for _ in range(times):
        asked = asyncio.Event()

        def sleeps(request: ServiceRequest, asked: asyncio.Event = asked) -> Line:
            del request
            loop.call_soon_threadsafe(loop.call_later, 0.7, asked.set)
            return case.lines[1]

        running = asyncio.create_task(attempt(name, replace(case, lines=(case.lines[0], sleeps, SAY))))
        waiting = asyncio.create_task(asked.wait())
        await asyncio.wait({running, waiting}, timeout=90, return_when=asyncio.FIRST_COMPLETED)
        reached += waiting.done()
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        left += len(survivors())
    return reached, left


async def show(names: Sequence[str], only: Sequence[str], kills: int) -> int:
    """Print the table; return the number of wrong attempts."""
    wrong = total = 0
    for name in names:
        for case in CASES:
            if (only and case.name not in only) or (case.only and name not in case.only):
                continue
            begun = time.monotonic()
            trace = await attempt(name, case)
            found = wrongs(name, case, trace)
            total, wrong = total + 1, wrong + bool(found)
            print(f"{name:9}{case.name:28}{trace.end:11}{time.monotonic() - begun:6.1f} s  "
                  f"{'right' if not found else '; '.join(found)}", flush=True)  # fmt: skip
            if found:
                print(f"          {trace.reason!r} {trace.unseen} exit {trace.exit_status}", flush=True)
        if kills:
            reached, left = await kill(name, kills)
            print(f"{name:9}{kills} killed, {reached} of them in a tool: {left} processes left", flush=True)
            wrong += bool(left)
    print(f"{total - wrong} of {total} right, with a scripted model: this says nothing of skills or agents")
    return wrong


def main() -> int:
    """Run on the command line."""
    parser = argparse.ArgumentParser(prog="tests.adapters.agents.truth", description=__doc__)
    parser.add_argument("agents", nargs="*", default=[each.name for each in AGENTS.values() if each.supported])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--kills", type=int, default=0)
    given = parser.parse_args()
    return 1 if asyncio.run(show(given.agents, given.only, given.kills)) else 0


if __name__ == "__main__":
    sys.exit(main())
