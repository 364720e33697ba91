"""`prosa new`: a new document after a template, on stdout or in a file that does not exist yet."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import Struct

from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.parser import WrongUse
from prosa.data import Plain
from prosa.diagnostics.nearest import nearest

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options


class Maker(Struct, frozen=True):
    """What makes a new document of a kind, the end of its name, and the command that comes next. ``beside`` makes the
    files that belong to a document with a name, by their paths below its folder."""

    make: Callable[[argparse.Namespace], str]
    suffix: str
    about: str
    then: str
    beside: Callable[[argparse.Namespace], dict[str, str]] | None = None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `new`."""
    parser.add_argument("kind", nargs="?", metavar="KIND", help=f"what to write: {', '.join(MAKERS)}")
    parser.add_argument("name", nargs="?", metavar="NAME", help="write to NAME with the suffix of its kind")
    parser.add_argument("--list", action="store_true", help="list the kinds, as without KIND")
    parser.add_argument("--program", metavar="FILE", help="the program that a test is for (default: NAME.md beside it)")
    parser.add_argument("--profile", metavar="NAME", help="the kind of a ymj record; without it, all are listed")
    parser.add_argument("--subject", metavar="TEXT", help="what it is about")
    parser.add_argument("--owner", metavar="NAME", help="the person or team who maintains it")
    parser.add_argument("--summary", metavar="TEXT", help="one line that describes it")
    parser.add_argument(
        "-m", "--model", metavar="NAME", help="for `evals`: the model that writes the drafts (default: none)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this new file (default: stdout)")
    parser.add_argument("--dry-run", action="store_true", help="say which file would be written; write nothing")
    add_format(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `WrongUse` for an unknown kind or profile, and for a file that exists: nothing is overwritten."""
    if args.kind is None or args.list:
        return _list(args, console)
    maker = _maker(args.kind)
    if args.kind == "evals":
        return _evals(args, console)
    if args.name is not None and args.output is not None:
        raise WrongUse(f"{args.name} and --output {args.output} both name the new file: give one of them")
    args.output = None if args.output == "-" else args.output
    text = maker.make(args)
    output = args.output or (args.name and f"{args.name.removesuffix(maker.suffix)}{maker.suffix}")
    if not output:
        _put({"text": text}, text, args, console)
        return 0
    path = Path(output)
    files = {path: text}
    if maker.beside is not None and args.output is None:
        files |= {path.parent / name: content for name, content in maker.beside(args).items()}
    then = maker.then.format(path=shlex.quote(str(path)), folder=shlex.quote(str(path.parent)))
    return _write_all(files, then, args, console)


def _write_all(files: dict[Path, str], then: str, args: argparse.Namespace, console: Console) -> int:
    """Write new files and say what comes next."""
    _write(files, console, dry_run=args.dry_run, folders=len(files) > 1 or args.kind == "evals")
    would = "".join(f"would write: {file}\n" for file in files) if args.dry_run else ""
    data: dict[str, Plain] = {"files": [str(file) for file in files], "written": not args.dry_run, "next": then}
    _put(data, would, args, console)
    if not args.dry_run:
        console.note(f"next: {then}")
    return 0


def _put(data: Mapping[str, Plain], text: str, args: argparse.Namespace, console: Console) -> None:
    """Print the answer in the requested format."""
    from prosa.render.json import dump

    if args.format == "json":
        console.out(dump(data, indent=2))
    elif text:
        console.out(text, end="")


def _list(args: argparse.Namespace, console: Console) -> int:
    if args.format == "json":
        kinds = [{"kind": kind, "file": f"NAME{maker.suffix}", "about": maker.about} for kind, maker in MAKERS.items()]
        _put({"kinds": kinds}, "", args, console)
        return 0
    width, longest = max(map(len, MAKERS)), max(len(maker.suffix) for maker in MAKERS.values()) + len("NAME")
    for kind, maker in MAKERS.items():
        console.out(f"{kind:<{width}}  {f'NAME{maker.suffix}':<{longest}}  {maker.about}")
    return 0


def _maker(kind: str) -> Maker:
    """Return the maker of a kind; a dialect may be called by its own name too."""
    known = _DIALECTS.get(kind, kind)
    if known in MAKERS:
        return MAKERS[known]
    guess = nearest(kind, (*MAKERS, *_DIALECTS))
    listed = f"prosa new writes: {', '.join(MAKERS)}"
    raise WrongUse(f"{kind}: no such kind of document", hint=f"did you mean {guess}?\n{listed}" if guess else listed)


def _write(files: dict[Path, str], console: Console, *, dry_run: bool, folders: bool) -> None:
    """Write new files, all or none of them: each is looked for before the first is written. ``folders`` makes those
    that are absent."""
    for path in files:
        if os.path.lexists(path):
            raise _exists(path)
        if not (folders or path.parent.is_dir()):
            raise WrongUse(
                f"{path}: the folder {path.parent} does not exist", hint="make it first, or name another one"
            )
    from prosa.app.text_files import write_new

    for path, text in files.items():
        if dry_run:
            continue
        if folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        if not write_new(path, text):
            raise _exists(path)
        console.note(f"wrote {path}")


def _record(args: argparse.Namespace) -> str:
    """Return a YMJ record after one of the profiles (Y30)."""
    from prosa.dialects.ymj.profiles import PROFILES, profile
    from prosa.dialects.ymj.write import Unwritable, new_record

    names = [entry.name for entry in PROFILES]
    if args.profile is None:
        width = max(map(len, names))
        listed = "\n".join(f"{entry.name:<{width}}  {entry.title}" for entry in PROFILES)
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
    """Return a test document with one case; its input is a sketch of the program's input, if that can be read."""
    from prosa.app.evals.sketch import sketch

    name = Path(args.name).name.removesuffix(".test.md") if args.name else None
    program = args.program or (f"{name}.md" if name else "program.md")
    folder = Path(args.output or args.name or "x").parent
    if args.name and not args.program and not (folder / program).is_file():
        hint = f"prosa new program {args.name.removesuffix('.test.md')}, or --program FILE"
        raise WrongUse(f"there is no {folder / program} to test", hint=hint)
    return sketch(Path(program), folder, subject=args.subject, named=args.program is not None)


def _program(args: argparse.Namespace) -> str:
    from prosa.app.new import first_program

    return first_program(_stem(args, "answer"), about=args.summary or args.subject)


def _chat(args: argparse.Namespace) -> str:
    from prosa.app.new import first_chat

    return first_chat(about=args.subject or args.summary)


def _magi(args: argparse.Namespace) -> str:
    from prosa.app.new import first_magi

    return first_magi(_stem(args, "notes"), doc_id=str(uuid4()), about=args.subject or args.summary, owner=args.owner)


def _node(args: argparse.Namespace) -> str:
    from prosa.app.new import first_node

    return first_node(_stem(args, "page"), about=args.subject, summary=args.summary)


def _stem(args: argparse.Namespace, otherwise: str) -> str:
    """Return the name of the new file without its folder and its suffix."""
    return Path(args.output or args.name or otherwise).stem


def _skill(args: argparse.Namespace) -> str:
    """Return a skill; its name is the last part of NAME, as that of its folder is."""
    return _skill_files(args)["SKILL.md"]


def _beside_skill(args: argparse.Namespace) -> dict[str, str]:
    return {name: text for name, text in _skill_files(args).items() if name != "SKILL.md"}


def _skill_files(args: argparse.Namespace) -> dict[str, str]:
    from prosa.app.evals.first_eval import first_skill
    from prosa.dialects.skill_md.model import as_name, is_name

    name = Path(args.name.removesuffix("/SKILL.md")).name if args.name else "my-skill"
    if not is_name(name):
        better = as_name(name)
        hint = (
            f"did you mean {better}?"
            if better
            else "at most 64 lower-case letters and digits, with single hyphens between them"
        )
        raise WrongUse(f"{name} is not a valid skill name", hint=hint)
    try:
        return first_skill(name, summary=args.summary or args.subject, owner=args.owner)
    except ValueError as error:
        raise WrongUse(f"--summary: {error}") from None


def _no_skill(_args: argparse.Namespace) -> str:
    raise WrongUse("which skill are the cases for?", hint="prosa new evals SKILL, its folder or its SKILL.md")


def _evals(args: argparse.Namespace, console: Console) -> int:
    """Write drafts of cases and requests beside a skill, by the model that the user names, or a skeleton."""
    from prosa.app.evals.draft import draft_evals
    from prosa.cli.environment import environment_of
    from prosa.cli.options import options_from
    from prosa.cli.run.interaction import run_stoppable

    if args.name is None or args.output is not None:
        _no_skill(args)
    skill = Path(args.name)
    environment, options = environment_of(console, skill), options_from(args, console.environ)
    files = run_stoppable(draft_evals(skill, options, environment, asks=args.model is not None))
    status = _write_all(files, f"prosa test {shlex.quote(str(skill))}", args, console)
    if not args.dry_run:
        console.note('each case and request is marked `"draft": true`: keep, change or drop it')
        _audit(skill, options, environment, console, asks=args.model is not None)
    return status


def _audit(skill: Path, options: Options, environment: Environment, console: Console, *, asks: bool) -> None:
    """Say on stderr what an audit finds in drafts, with the model that wrote them unless that would take much."""
    from prosa.app.evals.audit import audit_tests, plan_audit
    from prosa.app.evals.load import find_tests, load_suites
    from prosa.app.evals.variants import TestOptions
    from prosa.cli.run.interaction import run_stoppable
    from prosa.render.audit import audit_text

    suites, chosen = load_suites(find_tests([str(skill)]), options, environment), TestOptions()
    asks = asks and not plan_audit(suites, chosen, options, environment).asks
    console.note(audit_text(run_stoppable(audit_tests(suites, chosen, options, environment, asks=asks))))


def _exists(path: Path) -> WrongUse:
    return WrongUse(f"{path} exists; nothing was written", hint="give another name, or another --output")


MAKERS: dict[str, Maker] = {
    "program": Maker(_program, ".md", "a program: typed input, a prompt, typed output", "prosa run {path} --help"),
    "skill": Maker(_skill, "/SKILL.md", "an Agent Skill with a first case", "prosa test {folder}", _beside_skill),
    "test": Maker(_test, ".test.md", "a test of the program NAME.md", "prosa test {path}"),
    "chat": Maker(_chat, ".md", "a conversation with a model", "prosa chat {path}"),
    "mda": Maker(_magi, ".mda", "a MAGI document with an ai-script", "prosa plan {path} --all"),
    "mdh": Maker(_node, ".md", "a page of a site that agents read", "prosa serve {folder}"),
    "ymj": Maker(_record, ".ymj", "a record after a --profile: header, body, footer", "prosa check {path}"),
    "evals": Maker(_no_skill, "/evals", "drafts of cases and requests for the skill NAME", "prosa test {path}"),
}
"""Kind of document → what makes a new one."""

_DIALECTS = {"markdownlang": "program", "skill_md": "skill", "prapti": "chat", "magi": "mda"}
