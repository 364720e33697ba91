"""Who passes how many of the shared tests: the second table of `docs/compatibility.md`.

Prosa is asked in this process, and its site in another one. Implementations of others are asked where they are unpacked
or installed below the folder of the suites; a folder that is missing keeps its row.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import prosa
from conformance.judge import FORMATS, Case, Runner, RunnerProblem, Verdict, cases_of, judge, over_http, run
from conformance.runners.lines import answer
from conformance.runners.of_prosa import do
from tests.house.tree import ROOT
from tests.suites.suite import stated_version

HEAD = "| format | implementation | version | must | should | may | not supported |"
SITE = ROOT / "conformance" / "site"


class Origin(NamedTuple):
    """Another implementation of a format: where below the folder of all suites it is looked for, what to put there
    (``source``), and the command of its runner, in which `{place}` is that folder; with a ``port``, the command of its
    server, which is started there."""

    name: str
    format: str
    where: str
    source: str
    command: tuple[str, ...]
    port: int = 0


ORIGINS = (
    Origin(
        "Prapti",
        "prapti",
        "prapti",
        "pip install --no-deps --target DIR/prapti git+https://github.com/prapti-ai/prapti, and cancel-token",
        (sys.executable, "-m", "conformance.runners.of_prapti"),
    ),
    Origin(
        "sfa-toolkit",
        "ymj",
        "sfa-toolkit",
        "https://github.com/mnemosyneAI/sfa-toolkit",
        (sys.executable, "-m", "conformance.runners.of_sfa_ymj"),
    ),
    Origin(
        "magi-markdown",
        "magi",
        "magi-markdown",
        "https://github.com/sno-ai/magi-markdown at 8c70eea, with scripts/parse-document.ts as parse-document.mjs",
        ("node", str(ROOT / "conformance" / "runners" / "of_magi_markdown.mjs"), "{place}"),
    ),
    Origin(
        "markdown-hypertext",
        "mdh",
        "markdown-hypertext",
        "example of https://github.com/wilpel/markdown-hypertext, after npm ci, with conformance/site in content/md",
        ("node", "node_modules/next/dist/bin/next", "dev", "--hostname", "127.0.0.1", "--port", "38217"),
        38217,
    ),
)


def own(case: Case) -> Verdict:
    """Return what Prosa makes of a case, in this process."""
    return judge(case, answer(case.request, do))


@contextmanager
def served() -> Iterator[str]:
    """Yield the URL of `prosa serve` over the folder of the server cases."""
    command = [sys.executable, "-m", "prosa", "serve", str(SITE), "--port", "0"]
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "PROSA_CACHE_DIR": home}
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stderr.readline() if process.stderr else ""
            found = re.search(r"http://[\w.:]+", line)
            if found is None:
                raise RunnerProblem(f"`prosa serve` does not say where it is: {line!r}")
            yield found[0]
        finally:
            process.kill()
            process.communicate()


def of_prosa() -> dict[str, list[Verdict]]:
    """Return the verdicts of every format."""
    with served() as url:
        ask = over_http(url)
        return {
            name: [own(case) if case.op != "get" else judge(case, ask(case.request)) for case in cases_of(name)]
            for name in FORMATS
        }


def of_origin(origin: Origin, place: Path) -> list[Verdict]:
    """Return the verdicts on another implementation."""
    command = [word.replace("{place}", str(place)) for word in origin.command]
    if origin.port:
        with _listening(command, place, origin.port) as url:
            return list(run(over_http(url), cases_of(origin.format)))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(place), str(ROOT)))}
    with Runner(command, environ=environ) as runner:
        return list(run(runner, cases_of(origin.format)))


@contextmanager
def _listening(command: list[str], place: Path, port: int) -> Iterator[str]:
    """Yield the URL of a server as soon as it takes connections."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=place, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        for _ in range(120):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def row(format: str, name: str, version: str, verdicts: list[Verdict]) -> str:  # noqa: A002 - the word of the cases
    """Return a row: how many cases of each level passed, of those that could be asked."""
    counts = Counter((each.case.level, each.outcome) for each in verdicts)
    cells = []
    for level in ("must", "should", "may"):
        passed, failed = counts[level, "passed"], counts[level, "failed"]
        cells.append(f"{passed} of {passed + failed}" if passed + failed else "none")
    missing = sum(counts[level, "unsupported"] for level in ("must", "should", "may"))
    return f"| {format} | {name} | {version} | {' | '.join(cells)} | {missing} |"


def with_rows(page: str, rows: Mapping[tuple[str, str], str]) -> str:
    """Return the page with these rows in its table, by format and implementation; others stay."""
    lines = page.splitlines()
    start = lines.index(HEAD) + 2
    end = lines.index("", start)
    kept = {_key(line): line for line in lines[start:end]}
    order = {name: number for number, name in enumerate(FORMATS)}
    merged = sorted({**kept, **rows}.items(), key=lambda item: (order[item[0][0]], item[0][1] != "Prosa", item[0][1]))
    return "\n".join([*lines[:start], *(line for _, line in merged), *lines[end:]]) + "\n"


def _key(line: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return cells[0], cells[1]


def refresh(page: str, folder: Path, say: Callable[[str], Any] = print) -> tuple[str, int]:
    """Return the page with new figures, and 1 where Prosa fails a case or a runner cannot be used."""
    rows: dict[tuple[str, str], str] = {}
    status = 0
    for name, verdicts in of_prosa().items():
        rows[name, "Prosa"] = row(name, "Prosa", prosa.__version__, verdicts)
        for each in verdicts:
            if each.outcome != "passed":
                status = 1
                say(f"  {each.case.id}: {each.why or each.outcome}")
    for origin in ORIGINS:
        place = folder / origin.where
        if not place.is_dir():
            say(f"missing: {origin.name}, from {origin.source}, in {place}")
            continue
        try:
            verdicts = of_origin(origin, place)
        except (RunnerProblem, OSError) as error:
            say(f"missing: {origin.name} does not run in {place}: {error}")
            status = 1
            continue
        rows[origin.format, origin.name] = row(origin.format, origin.name, stated_version(place), verdicts)
    return with_rows(page, rows), status
