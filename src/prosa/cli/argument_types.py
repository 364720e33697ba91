"""What makes values of the texts of arguments, or raises `ArgumentTypeError` or `WrongUse` with what was expected."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal, InvalidOperation
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.parser import WrongUse
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects import DialectName
from prosa.dialects.table import known_dialect
from prosa.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prosa.records.run import StorePlace

_SIZE = regex(r"([0-9]{1,9})\s*(|k|kb|kib|m|mb|mib)", re.IGNORECASE | re.ASCII)
_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}
MOST_DOLLARS = 1_000_000
MOST_SECONDS = 3_600
"""Maximum time to wait for one answer."""


def count(text: str) -> int:
    """Return a whole number from 1."""
    return _whole(text, at_least=1)


def number(text: str) -> int:
    """Return a whole number from 0."""
    return _whole(text, at_least=0)


def _whole(text: str, *, at_least: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < at_least:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least {at_least}, found {text!r}")
    return int(text)


def dollars(text: str) -> Decimal:
    """Return an amount such as 2.50."""
    try:
        amount = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or not 0 < amount <= MOST_DOLLARS:
        raise argparse.ArgumentTypeError(f"expected US dollars such as 2.50, found {text[:20]!r}")
    return amount


def duration(text: str, *, most: float = inf) -> float:
    """Return a time such as 30, 30s or 5m in seconds."""
    from prosa.dialects.quantity import seconds

    amount = seconds(text)
    if amount is None or amount > most:
        limit = f" up to {most:,.0f} seconds" if most < inf else ""
        raise argparse.ArgumentTypeError(f"expected a time{limit} such as 30, 30s or 5m, found {text[:20]!r}")
    return amount


def seconds(text: str) -> float:
    """Return a `duration` to wait for one answer, in seconds."""
    return duration(text, most=MOST_SECONDS)


def size(text: str) -> int:
    """Return a size of text, where a plain number means bytes, as in the settings."""
    return _whole(text, at_least=1) if text.strip().isdigit() else memory(text)


def memory(text: str) -> int:
    """Return a size of memory, where a plain number means megabytes, as in front matter."""
    from prosa.dialects.quantity import size

    amount = size(text)
    if amount is None or amount <= 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 128MB or 256KiB, found {text!r}")
    return int(amount)


def output(text: str) -> str | None:
    """Return the file or folder of `--output`; None, which is standard output, for `-`."""
    return None if text == "-" else text


def output_file(text: str) -> Path | None:
    """Return the file of `--output`; None, which is standard output, for `-`."""
    return None if text == "-" else Path(text)


class OutputFile(argparse.Action):
    """Keeps the file of `--output`, and in ``has_output`` that the flag was given: `-` is None, as without the flag."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse gives it
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,  # noqa: ARG002 - argparse gives it
    ) -> None:
        """Keep both."""
        setattr(namespace, self.dest, values)
        namespace.has_output = True


def add_output(group: argparse._ActionsContainer, about: str) -> None:
    """Add `--output` for a result that otherwise goes to stdout."""
    group.set_defaults(has_output=False)
    group.add_argument("-o", "--output", type=output_file, action=OutputFile, metavar="FILE", help=about)


def output_on_disk(text: str) -> str:
    """Return the file or folder of an `--output` that cannot be standard output."""
    if text == "-":
        raise argparse.ArgumentTypeError("standard output cannot take this; name a place on disk")
    return text


def folder(text: str) -> Path:
    """Return a folder that exists."""
    if not Path(text).is_dir():
        from prosa.app.text_files import nearest_file

        near = nearest_file(Path(text))
        raise argparse.ArgumentTypeError(f"no such folder: {text}{f'; did you mean {near}?' if near else ''}")
    return Path(text)


def store_place(text: str) -> StorePlace:
    """Return a file, or the address of a server."""
    from prosa.app.journal.place import place_named
    from prosa.runtime.errors import StoreProblem

    try:
        return place_named(text)
    except StoreProblem as error:
        raise argparse.ArgumentTypeError("; ".join(filter(None, (error.message, error.hint)))) from None


def permission(text: str) -> str:
    """Return a text that names actions, unchanged."""
    from prosa.app.client.rights import permission as read

    try:
        read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def token(text: str) -> tuple[str, str]:
    """Return an origin and the name of a variable."""
    from prosa.source.url import origin_of

    where, _, name = text.rpartition("=")
    try:
        origin = origin_of(where)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"the origin in {text[:60]!r} {error}") from None
    if where.rstrip("/").count("/") > 2:
        raise argparse.ArgumentTypeError(f"expected an origin without a path, found {where[:60]!r}")
    if not (name.isascii() and name.isidentifier()):
        raise argparse.ArgumentTypeError("expected ORIGIN=NAME, where NAME is a variable and not the token")
    if not origin.keeps_secrets:
        raise argparse.ArgumentTypeError(f"a token is not sent over plain http to {origin.host}; use https")
    return str(origin), name


def chosen_dialect(name: str | None) -> DialectName | None:
    """Return `--as` as a dialect. Raises `WrongUse`."""
    try:
        return None if name is None else known_dialect(name)
    except UnknownName as error:
        raise WrongUse(f"--as {name}: no such dialect", hint=error.hint) from None


def size_in_bytes(text: str) -> int:
    """Return `--max-size` in bytes. Raises `WrongUse`."""
    match = _SIZE.fullmatch(text.strip())
    amount = 0 if match is None else int(match[1]) * _FACTORS[match[2][:1].lower()]
    if not amount:
        raise WrongUse(f"--max-size {text}: not a size", hint="write bytes or a unit: 500KB, 20MB")
    return amount


def port(text: str) -> int:
    """Return the number of a port; 0 is any free one."""
    if not text.isascii() or not text.isdecimal() or int(text[:6]) > 65_535:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a port from 0 to 65535")
    return int(text)
