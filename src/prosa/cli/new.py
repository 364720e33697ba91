"""`prosa new`: a new document after a template, on stdout or in a file that does not exist yet."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.diagnostics.nearest import nearest


class Maker(Struct, frozen=True):
    """What makes a new document of a dialect, and the end of its name."""

    make: Callable[[argparse.Namespace], str]
    suffix: str


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `new`."""
    parser.add_argument("dialect", metavar="DIALECT", help=f"what to write: {', '.join(_MAKERS)}")
    parser.add_argument("name", nargs="?", metavar="NAME", help="write to NAME with the suffix of its kind")
    parser.add_argument("--program", metavar="FILE", help="the program that a test is of (default: NAME.md beside it)")
    parser.add_argument("--profile", metavar="NAME", help="the kind of record; without it, all are listed")
    parser.add_argument("--subject", metavar="TEXT", help="what it is about")
    parser.add_argument("--owner", metavar="NAME", help="the person or team who maintains it")
    parser.add_argument("--summary", metavar="TEXT", help="one line of at most 120 characters")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this new file (default: stdout)")
    parser.add_argument("--dry-run", action="store_true", help="say which file would be written; write nothing")


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `WrongUse` for an unknown dialect or profile, and for a file that exists: nothing is overwritten."""
    make = _MAKERS.get(args.dialect)
    if make is None:
        guess = nearest(args.dialect, _MAKERS)
        known = f"prosa new writes: {', '.join(_MAKERS)}"
        raise WrongUse(f"{args.dialect}: no template", hint=f"did you mean {guess}?" if guess else known)
    if args.name is not None and args.output is not None:
        raise WrongUse(f"{args.name} and --output {args.output} both name the new file: give one of them")
    text = make.make(args)
    output = args.output or (args.name and f"{args.name.removesuffix(make.suffix)}{make.suffix}")
    if not output:
        console.out(text, end="")
        return 0
    path = Path(output)
    if args.dry_run:
        if os.path.lexists(path):
            raise _exists(path)
        console.out(f"would write: {path}")
        return 0
    from prosa.app.text_files import write_new

    if not write_new(path, text):
        raise _exists(path)
    console.note(f"wrote {output}")
    return 0


def _record(args: argparse.Namespace) -> str:
    """A YMJ record after one of the profiles (Y30)."""
    from prosa.dialects.ymj.profiles import PROFILES, profile
    from prosa.dialects.ymj.write import Unwritable, new_record

    names = [each.name for each in PROFILES]
    if args.profile is None:
        width = max(map(len, names))
        listed = "\n".join(f"{each.name:<{width}}  {each.title}" for each in PROFILES)
        raise WrongUse("which profile? give --profile NAME", hint=listed)
    chosen = profile(args.profile)
    if chosen is None:
        guess = nearest(args.profile, names)
        hint = f"did you mean {guess}?" if guess else f"profiles: {', '.join(names)}"
        raise WrongUse(f"--profile {args.profile}: no such profile", hint=hint)
    today = datetime.now(UTC).astimezone().date()
    try:
        return new_record(chosen, today, subject=args.subject, owner=args.owner, summary=args.summary)
    except Unwritable as error:
        raise WrongUse(f"--summary: {error}") from None


def _test(args: argparse.Namespace) -> str:
    """A test document with one case; its input is a sketch of what the program takes, where that can be read."""
    from prosa.app.test.sketch import sketch

    name = Path(args.name).name.removesuffix(".test.md") if args.name else None
    program = args.program or (f"{name}.md" if name else "program.md")
    folder = Path(args.output or args.name or "x").parent
    return sketch(Path(program), folder, subject=args.subject, named=args.program is not None)


def _exists(path: Path) -> WrongUse:
    return WrongUse(f"{path} exists; nothing was written", hint="give another name, or another --output")


_MAKERS: dict[str, Maker] = {"ymj": Maker(_record, ".ymj"), "test": Maker(_test, ".test.md")}
"""Dialect → what makes a new document of it."""
