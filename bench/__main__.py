"""`python -m bench [SECTION…] [--page] [--corpus PATH] [--large] [--install-peers]`: prints the table, section after
section; with `--page` it writes `docs/benchmarks.md` anew in the end.

Every section runs in a process of its own: what one has loaded must not show in the memory of another. A section that
fails, or takes too long, is named, and the next one runs.
"""

from __future__ import annotations

import argparse
import compileall
import os
import selectors
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import msgspec

from bench import page, results
from bench.measure import Failed, end_group, python
from bench.peers import find as peers
from bench.results import Machine, Measured
from bench.row import HEAD, Row
from bench.sections import DEFAULT, SECTIONS

TIMES_LARGE = 4
"""How much longer a section may take with `--large`: 100,000 documents alone are indexed in two minutes."""

INTERRUPTED = 130
PATIENCE = 10.0
"""Seconds in which a section that is interrupted ends what it started."""


class _Left(msgspec.Struct, frozen=True):
    """What a section says after its rows: peers that it left out with the reasons, versions of the others, and why it
    failed."""

    absent: dict[str, str]
    versions: dict[str, str]
    failed: str


def main(arguments: list[str]) -> int:
    """Measure the named sections, by default all that need nothing special."""
    options = _parser().parse_args(arguments)
    if options.rows:
        return _as_lines(options.rows)
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        print(f"unknown section {unknown[0]}; there are {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    if options.corpus:
        os.environ["PROSA_BENCH_CORPUS"] = options.corpus
    if options.large:
        os.environ["PROSA_BENCH_LARGE"] = "1"
    try:
        if options.render:
            page.write(results.read(results.FILE))
            return 0
        return _measured(options)
    except KeyboardInterrupt:
        print("\ninterrupted: nothing was written", file=sys.stderr)
        return INTERRUPTED


def _measured(options: argparse.Namespace) -> int:
    results.read(results.FILE)  # what cannot be read is said before anything is measured
    if options.install_peers:
        peers.install()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compiled = "byte code compiled first" if compile_first() else "byte code not compiled: a start compiles it"
    machine = results.this_machine()
    print(f"{machine.title}, load {results.load()}; medians; {compiled}\n")
    print(HEAD, flush=True)
    now = {name: _in_a_process(name, machine) for name in options.sections or DEFAULT}
    failed = {name: each.failed for name, each in now.items() if each.failed}
    for name, reason in failed.items():
        print(f"{name} was not measured: {reason}", file=sys.stderr)
    if options.page:
        whole = results.merged(results.read(results.FILE), now)
        results.write(whole, results.FILE)
        page.write(whole)
        print(f"\nwritten: {page.FILE.relative_to(page.ROOT)}", file=sys.stderr)
    return 1 if failed else 0


def compile_first() -> bool:
    """Write the byte code of the package, as an installation has it, and say whether it could: otherwise every start
    would measure the compiler."""
    import prosa

    return bool(compileall.compile_dir(Path(prosa.__file__).parent, quiet=2))


def _as_lines(section: str) -> int:
    """Print the rows of a section as JSON, one a line, and in the end what was left out and why it failed."""
    failed = ""
    try:
        for row in import_module(SECTIONS[section].module).rows():
            print(msgspec.json.encode(row).decode(), flush=True)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (Exception, SystemExit) as problem:
        failed = _why(problem)
    print(msgspec.json.encode(_Left(peers.ABSENT, peers.VERSIONS, failed)).decode(), flush=True)
    return 1 if failed else 0


def _why(problem: BaseException) -> str:
    """Return a reason for the page, without paths, and print the problem with its place for a developer."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    print(f"{Path(frame.filename).name}:{frame.lineno}: {type(problem).__name__}: {problem}", file=sys.stderr)
    if isinstance(problem, ModuleNotFoundError):
        return f"{problem.name} is not installed"
    if isinstance(problem, Failed):
        return f"a command {problem.reason}"
    return f"a measurement ended with {type(problem).__name__}"


def _in_a_process(section: str, machine: Machine) -> Measured:
    """Return what a section measured, and print its rows as they come."""
    before, started = results.load(), time.monotonic()
    child = subprocess.Popen(python("-m", "bench", "--rows", section), stdout=subprocess.PIPE, start_new_session=True)
    try:
        rows, left, failed = _heard(child, allowed(section))
    except BaseException:
        end_group(child, PATIENCE)
        raise
    finally:
        assert child.stdout is not None
        child.stdout.close()
        child.wait()
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    taken, loads = time.monotonic() - started, (before, results.load())
    return Measured(when, machine, loads, round(taken, 1), rows, left.absent, left.versions, failed)


def allowed(section: str) -> float:
    """Return the seconds that a section may take: more where the large corpora are asked for."""
    return SECTIONS[section].seconds * (TIMES_LARGE if os.environ.get("PROSA_BENCH_LARGE") else 1)


def _heard(child: subprocess.Popen[bytes], seconds: float) -> tuple[list[Row], _Left, str]:
    """Return the rows, what the section says in the end, and why it failed."""
    rows: list[Row] = []
    left, failed = _Left({}, {}, ""), ""
    for line in _lines(child, seconds):
        if line is None:
            end_group(child, PATIENCE)
            failed = f"it took longer than {seconds / 60:g} minutes"
            break
        try:
            if line.startswith(b'{"absent":'):
                left = msgspec.json.decode(line, type=_Left)
                continue
            rows.append(msgspec.json.decode(line, type=Row))
            print(rows[-1].text(), flush=True)
        except msgspec.DecodeError:
            print(line.decode("utf-8", "replace").rstrip(), file=sys.stderr, flush=True)
    status = child.wait()
    return rows, left, failed or left.failed or (f"it ended with status {status}" if status else "")


def _lines(child: subprocess.Popen[bytes], seconds: float) -> Iterator[bytes | None]:
    """Yield its lines; None when the time is up."""
    assert child.stdout is not None
    until, held = time.monotonic() + seconds, b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        while True:
            if not waiting.select(max(0.0, until - time.monotonic())):
                yield None
                return
            piece = os.read(child.stdout.fileno(), 1 << 16)
            *whole, held = (held + piece).split(b"\n")
            yield from whole
            if not piece:
                yield from [held] if held else []
                return


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures each figure beside its baseline.")
    asked = ", ".join(name for name in SECTIONS if name not in DEFAULT)
    sections = f"any of {', '.join(SECTIONS)} (default: all but {asked})"
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=sections)
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md with what was measured")
    parser.add_argument("--render", action="store_true", help="write docs/benchmarks.md of what is known, and end")
    parser.add_argument("--corpus", metavar="PATH", help="a folder, or a tar archive, that `check` and `read` measure")
    parser.add_argument("--large", action="store_true", help="index 50,000 and 100,000 documents, run 30,000 rows too")
    parser.add_argument("--install-peers", action="store_true", help="install the pinned programs to measure against")
    parser.add_argument("--rows", choices=SECTIONS, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
