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
    """What makes a new document of a dialect, and the end of its name. ``beside`` makes the files that belong to a
    document with a name, by their paths below its folder."""

    make: Callable[[argparse.Namespace], str]
    suffix: str
    beside: Callable[[argparse.Namespace], dict[str, str]] | None = None


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
    files = {path: text}
    if make.beside is not None and args.output is None:
        files |= {path.parent / name: each for name, each in make.beside(args).items()}
    return _write(files, console, dry_run=args.dry_run)


def _write(files: dict[Path, str], console: Console, *, dry_run: bool) -> int:
    """Writes new files, all or none of them: each is looked for before the first is written."""
    for path in files:
        if os.path.lexists(path):
            raise _exists(path)
    from prosa.app.text_files import write_new

    for path, text in files.items():
        if dry_run:
            console.out(f"would write: {path}")
            continue
        if len(files) > 1:
            path.parent.mkdir(parents=True, exist_ok=True)
        if not write_new(path, text):
            raise _exists(path)
        console.note(f"wrote {path}")
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


def _skill(args: argparse.Namespace) -> str:
    """A skill; its name is the last part of NAME, as that of its folder is."""
    return _skill_files(args)["SKILL.md"]


def _beside_skill(args: argparse.Namespace) -> dict[str, str]:
    return {name: text for name, text in _skill_files(args).items() if name != "SKILL.md"}


def _skill_files(args: argparse.Namespace) -> dict[str, str]:
    from prosa.app.test.first_eval import first_skill
    from prosa.dialects.skill_md.fields import as_name, is_name

    name = Path(args.name.removesuffix("/SKILL.md")).name if args.name else "my-skill"
    if not is_name(name):
        better = as_name(name)
        hint = f"did you mean {better}?" if better else "at most 64 lower-case letters, digits and single hyphens"
        raise WrongUse(f"{name}: no name of a skill", hint=hint)
    try:
        return first_skill(name, summary=args.summary or args.subject, owner=args.owner)
    except ValueError as error:
        raise WrongUse(f"--summary: {error}") from None


def _exists(path: Path) -> WrongUse:
    return WrongUse(f"{path} exists; nothing was written", hint="give another name, or another --output")


_MAKERS: dict[str, Maker] = {
    "ymj": Maker(_record, ".ymj"),
    "test": Maker(_test, ".test.md"),
    "skill": Maker(_skill, "/SKILL.md", _beside_skill),
}
"""Dialect → what makes a new document of it."""
