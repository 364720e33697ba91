"""The flags that `check`, `fmt` and `show` share: dialect, strictness, root, size, folders, processes."""

from __future__ import annotations

import argparse
import re

from prosa.cli.parser import WrongUse
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects.dialect import DialectName
from prosa.dialects.table import DIALECTS, known_dialect

_SIZE = re.compile(r"([0-9]{1,9})\s*(|k|kb|kib|m|mb|mib)", re.IGNORECASE | re.ASCII)
_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}
DEFAULT_MAX_SIZE = "10MB"

MAX_JOBS = 256
"""Processes that `--jobs` may ask for."""


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """`--as`, `--strict`, `--permissive`, `--root`, `--max-size`."""
    names = ", ".join(row.name for row in DIALECTS)
    parser.add_argument("--as", dest="dialect", metavar="DIALECT", help=f"read the documents as: {names}")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--strict", action="store_true", default=None, help="tolerated forms are errors")
    mode.add_argument(
        "--permissive", dest="strict", action="store_false", help="tolerated forms are warnings (default)"
    )
    parser.add_argument("--root", metavar="DIR", help="open nothing outside this folder (default: the project)")
    parser.add_argument("--max-size", default=DEFAULT_MAX_SIZE, metavar="SIZE", help="largest document (default: 10MB)")


def add_folder_options(parser: argparse.ArgumentParser) -> None:
    """`--no-gitignore`."""
    parser.add_argument(
        "--no-gitignore", dest="gitignore", action="store_false", help="take files too that git ignores"
    )


def add_hidden_options(parser: argparse.ArgumentParser, *, shown: bool = True) -> None:
    """`--skip-hidden`, and `--show-skipped` where it is told what was passed over."""
    parser.add_argument(
        "--skip-hidden", action="store_true", help="leave out the hidden folders of agents too (.claude, .github …)"
    )
    if shown:
        parser.add_argument("--show-skipped", action="store_true", help="list the files and folders passed over")


def add_work_options(parser: argparse.ArgumentParser, *, cache: bool = True) -> None:
    """`--jobs`, `--no-cache`."""
    parser.add_argument("--jobs", type=_count, metavar="N", help="processes (default: one for each processor)")
    if not cache:
        return
    parser.add_argument(
        "--no-cache", dest="cache", action="store_false", help="look at everything anew, and keep nothing"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:6]) <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to {MAX_JOBS}")
    return int(text)


def chosen_dialect(name: str | None) -> DialectName | None:
    """`--as` as a dialect. Raises `WrongUse`."""
    try:
        return None if name is None else known_dialect(name)
    except UnknownName as error:
        raise WrongUse(f"--as {name}: no such dialect", hint=error.hint) from None


def size_in_bytes(text: str) -> int:
    """`--max-size` in bytes. Raises `WrongUse`."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise WrongUse(f"--max-size {text}: not a size", hint="write bytes or a unit: 500KB, 20MB")
    return int(match[1]) * _FACTORS[match[2][:1].lower()]
