"""`python -m bench [SECTION…] [--corpus PATH] [--large] [--install-peers]`: prints the table, section after section.

Every section runs in a process of its own: what one has loaded must not show in the memory of another.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from bench.measure import HEAD, python

SECTIONS = {
    "startup": "bench.startup",
    "calls": "bench.model_calls",
    "record": "bench.recording",
    "tests": "bench.tests",
    "sandbox": "bench.sandbox",
    "pure": "bench.pure",
    "check": "bench.checking",
    "context": "bench.context",
    "resident": "bench.resident",
    "lsp": "bench.lsp",
    "read": "bench.reading",
    "index": "bench.indexing",
    "serve": "bench.serve",
    "history": "bench.history",
    "batch": "bench.batch",
    "workers": "bench.workers",
    "mail": "bench.mail",
    "embedded": "bench.embedded",
    "improve": "bench.improve",
}
"""The module of each section; its `rows` gives the table."""


def main(arguments: list[str]) -> int:
    """Measure the named sections, all by default."""
    options = _parser().parse_args(arguments)
    if options.rows:
        for row in import_module(SECTIONS[options.rows]).rows():
            print(row.text(), flush=True)
        return 0
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        print(f"unknown section {unknown[0]}; there are {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    if options.corpus:
        os.environ["PROSA_BENCH_CORPUS"] = options.corpus
    if options.large:
        os.environ["PROSA_BENCH_LARGE"] = "1"
    if options.install_peers:
        from bench.peers.find import install

        install()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compiled = "byte code compiled first" if compile_first() else "byte code not compiled: a start compiles it"
    machine = f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    print(f"Python {platform.python_version()}, {machine}; medians; {compiled}\n")
    print(HEAD, flush=True)
    return max(_in_a_process(name) for name in options.sections or SECTIONS)


def compile_first() -> bool:
    """Write the byte code of the package, as an installation has it, and say whether it could: otherwise every start
    would measure the compiler."""
    import prosa

    return bool(compileall.compile_dir(Path(prosa.__file__).parent, quiet=2))


def _in_a_process(section: str) -> int:
    return subprocess.run(python("-m", "bench", "--rows", section), check=False).returncode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures each figure beside its baseline.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"any of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--corpus", metavar="PATH", help="a folder, or a tar archive, that `check` and `read` measure")
    parser.add_argument("--large", action="store_true", help="let `index` measure 100,000 documents too")
    parser.add_argument("--install-peers", action="store_true", help="install the pinned programs to measure against")
    parser.add_argument("--rows", choices=SECTIONS, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
