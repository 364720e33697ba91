"""`make prove`: ask a named model, and a coding agent, what the examples are worth; record that, and quote it.

    python -m tools.prove --model gpt-4o [--agent codex] [--max-cost 20]    asks, records and quotes
    python -m tools.prove --quote                                           quotes what is recorded

The recordings lie in `examples/proof`. The block of the README between two comments is what they give when they are
replayed; until there are any, it is what a plan prints, which asks nothing. Nothing here makes a figure up.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROOF = ROOT / "examples" / "proof"
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "test-your-skill.md"
BEGIN, END = "<!-- proof: written by `make prove` -->", "<!-- end of proof -->"
REPEATS = "3"
SKILL = "delay-notice"
PLAN = "prosa test skills/refunds --agent claude --plan"
AGENTS = {"claude": ("claude", "anthropic"), "codex": ("gpt", "o3", "o4", "openai")}
"""Agents that are tried unasked, each with how the names of models begin that it can have."""

_QUOTED = re.compile(r"^(?:lift of |\S+: .* against ).*\n(?:  .*\n)*", re.MULTILINE)
_FENCE = re.compile(r"^```\w+ (skills/refunds/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Part(NamedTuple):
    """One suite: its name, the folder of the examples in which it is run, and the command without the recording."""

    name: str
    folder: str
    command: tuple[str, ...]


def parts(model: str, agents: Sequence[str]) -> Iterator[Part]:
    """Yield the suites: two prompts, a skill in Prosa's own loop, and the skill in each agent."""
    end = ("--repeat", REPEATS)
    yield Part("reviews", "reviews", ("test", "plain.test.md", "--against", "examples.md", "--model", model, *end))
    yield Part("skill", "skills", ("test", SKILL, "--model", model, *end))
    for agent in agents:
        yield Part(f"skill-{agent.partition(':')[0]}", "skills", ("test", SKILL, "--agent", agent, *end))


def chosen(agent: str, model: str) -> tuple[str, ...]:
    """Return the agents to try: the named one, else an installed one that can have the model."""
    if agent:
        return () if agent == "none" else (agent,)
    name = model.rpartition("/")[2]
    return tuple(
        f"{each}:{name}"
        for each, starts in AGENTS.items()
        if shutil.which(each) and (name.startswith(starts) or model.startswith(starts))
    )


def prosa(command: Sequence[str], folder: Path, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run a command of Prosa in a folder; return its status and what it prints. Errors go to the terminal."""
    run = subprocess.run(
        [sys.executable, "-m", "prosa", *command],
        cwd=folder,
        env={**os.environ, **(environ or {})},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    return run.returncode, run.stdout


def prove(model: str, agents: Sequence[str], most: float, proof: Path) -> int:
    """Run and record every suite within ``most`` US dollars together; return the exit status."""
    spent, done = 0.0, []
    for part in parts(model, agents):
        tapes = proof / part.name
        shutil.rmtree(tapes, ignore_errors=True)
        print(f"{part.name}: prosa {shlex.join(part.command)}", file=sys.stderr, flush=True)
        limits = ("--max-cost", f"{most - spent:.4f}", "--yes", "--record", str(tapes), "--format", "json")
        status, printed = prosa([*part.command, *limits], ROOT / "examples" / part.folder)
        if status not in (0, 1):  # 1: a gate is closed, which is a result
            return status
        total = json.loads(printed)["total"]
        spent += (total["cost"] or 0) + (total["grading"] or 0)
        done.append(part._asdict())
        print(replayed(part, proof)[0], end="", file=sys.stderr, flush=True)
        if spent >= most:
            print(f"the budget of ${most:.2f} is spent", file=sys.stderr)
            break
    (proof / "proof.json").write_text(json.dumps({"model": model, "suites": done}, indent=2) + "\n", "utf-8")
    print(f"${spent:.2f} spent; recorded in {proof}", file=sys.stderr)
    return 0


def replayed(part: Part, proof: Path) -> tuple[str, int]:
    """Return the comparisons that a recording gives, and the status of the replay."""
    folder = ROOT / "examples" / part.folder
    status, printed = prosa([*part.command, "--replay", str(proof / part.name)], folder)
    return "".join(_QUOTED.findall(printed)), status


def recorded(proof: Path) -> tuple[Part, ...]:
    """Return the suites that are recorded."""
    try:
        suites = json.loads((proof / "proof.json").read_text("utf-8"))["suites"]
    except FileNotFoundError:
        return ()
    return tuple(Part(each["name"], each["folder"], tuple(each["command"])) for each in suites)


def block(proof: Path) -> str:
    """Return what the README says between its marks: the recordings, or the plan of a skill in an agent."""
    shown = "\n".join(f"$ prosa {shlex.join(each.command)}\n{replayed(each, proof)[0]}" for each in recorded(proof))
    return f"```text\n{shown or planned()}```\n"


def planned() -> str:
    """Return the command of a plan and its output, for the skill of the page on testing skills. It asks nothing."""
    with tempfile.TemporaryDirectory() as made:
        for path, text in _FENCE.findall(PAGE.read_text("utf-8")):
            file = Path(made) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        # Without agents and settings: what stands in the README is the same on every machine.
        nothing = dict.fromkeys(("PATH", "HOME", "XDG_CONFIG_HOME"), made)
        _, printed = prosa(shlex.split(PLAN)[1:], Path(made), nothing)
    return f"$ {PLAN}\n{printed}"


def quoted(text: str, proof: Path) -> str:
    """Return the text of the README with the block of today. Raises ValueError where the marks are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md has no block between `{BEGIN}` and `{END}`")
    return f"{before}{begin}\n\n{block(proof)}\n{end}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prove and quote, or only quote."""
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", default="", help="the model: MODEL=gpt-4o")
    parser.add_argument(
        "--agent", default="", help="claude, codex, NAME:MODEL or none: AGENT=claude (default: where installed)"
    )
    parser.add_argument("--max-cost", type=float, default=20.0, help="US dollars for all suites together (20)")
    parser.add_argument("--proof", type=Path, default=PROOF, help="where the recordings lie")
    parser.add_argument("--readme", type=Path, default=README, help="the file that quotes them")
    parser.add_argument("--quote", action="store_true", help="only rewrite the block of the README")
    asked = parser.parse_args(argv)
    if not asked.quote:
        if not asked.model:
            parser.error("name a model that your key can ask: make prove MODEL=gpt-4o")
        status = prove(asked.model, chosen(asked.agent, asked.model), asked.max_cost, asked.proof.resolve())
        if status:
            return status
    asked.readme.write_text(quoted(asked.readme.read_text("utf-8"), asked.proof.resolve()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
