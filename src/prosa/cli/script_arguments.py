"""Arguments about ai-scripts that `run`, `plan` and `render` share, and the choice they make (MA9–MA12).

In: arguments. Out: whether the file is run by its scripts, and a `Choice`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.dialects.magi import Script
    from prosa.dialects.magi.choosing import Choice

CONTEXTS = ("document", "section", "none")
CHOOSING = ("ids", "auto", "every", "stale", "beside")


def add_scripts(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Which scripts, and what they are sent."""
    group = parser.add_argument_group("ai-scripts of a .mda document (or of any document, with --as magi)")
    group.add_argument("--as", dest="dialect", metavar="DIALECT", help="read the document as magi or markdownlang")
    group.add_argument(
        "--script", dest="ids", action="append", nargs="+", metavar="ID", help="these; ID@LINE for a second one"
    )
    group.add_argument("--auto", action="store_true", help="those with auto-run, in a document that you trust")
    group.add_argument("--all", dest="every", action="store_true", help="all of them")
    group.add_argument("--stale", action="store_true", help="of these, or of all, those whose result is stale")
    group.add_argument("--scripts", dest="beside", type=Path, metavar="FILE", help="scripts from a JSON file instead")
    group.add_argument("--env", default="server", metavar="NAME", help="those for this runtime-env (server)")
    group.add_argument("--context", choices=CONTEXTS, help="what is sent with each (document; a stale one: as before)")
    group.add_argument("--provider", metavar="NAME", help="the provider for all of them")
    group.add_argument("--tool", action="append", dest="tools", metavar="NAME", help="a tool they may call: python")
    return group


def add_writing(group: argparse._ArgumentGroup) -> None:
    """What is done with results, and how many scripts run at once."""
    from prosa.cli.options import count

    group.add_argument("--write", action="store_true", help="write results into the document, below each block")
    group.add_argument("--force", action="store_true", help="replace results that were edited by hand, too")
    group.add_argument("--jobs", type=count, default=4, metavar="N", help="scripts at the same time (4)")


def runs_scripts(args: argparse.Namespace) -> bool:
    """Whether the file is run by its scripts: `--as magi`, `--scripts`, `.mda`, or a glob of the project says so (X3).

    Raises `WrongUse` for flags about scripts with a file that has none.
    """
    from prosa.app.check.project import dialect_here
    from prosa.cli.options import chosen_dialect

    dialect = chosen_dialect(args.dialect)
    if dialect not in (None, "magi", "markdownlang"):
        raise WrongUse(f"--as {dialect}: nothing in it can be run here", hint="--as magi, --as markdownlang")
    if dialect is None and args.beside is not None:
        dialect = "magi"
    if (dialect or dialect_here(args.file) or "markdownlang") == "magi":
        return True
    given = [name for name in (*CHOOSING, "provider", "tools", "write", "force") if getattr(args, name, None)]
    if given:
        flags = {"ids": "--script", "every": "--all", "beside": "--scripts"}
        flag = flags.get(given[0], f"--{given[0]}")
        raise WrongUse(f"{flag} is about ai-scripts, and {args.file} is read as a program", hint="add --as magi")
    return False


def choice_from(args: argparse.Namespace, scripts: Sequence[Script], console: Console) -> Choice:
    """What the user chose. Raises `WrongUse` for an id that no script has, and for texts that nobody takes."""
    from prosa.dialects.magi.choosing import Choice

    words = [word for group in args.ids or () for word in group]
    known = [script.address for script in scripts]
    ids = tuple(word for word in words if word in known or "=" not in word)
    pairs = (*args.pairs, *(word for word in words if word not in ids))
    for name in ids:
        _require_known(name, known, args.file)
    _require_one({"--script": bool(ids), "--auto": args.auto, "--all": args.every})
    chosen = [script for script in scripts if script.address in ids] if ids else scripts
    text, texts = _texts(args, pairs, chosen, console)
    stale, force = args.stale, getattr(args, "force", False)
    return Choice(
        ids=ids,
        auto=args.auto,
        every=args.every,
        stale=stale,
        env=args.env,
        force=force,
        writes=stale or getattr(args, "write", False),
        text=text,
        texts=texts,
    )


def tools_from(args: argparse.Namespace) -> tuple[str, ...]:
    """The tools that are granted. Raises `WrongUse`."""
    from prosa.app.scripts.load import TOOLS

    names = tuple(dict.fromkeys(args.tools or ()))
    for name in names:
        if name not in TOOLS:
            raise WrongUse(f"--tool: there is no tool {name!r}", hint=f"known: {', '.join(TOOLS)}")
    return names


def _require_one(given: Mapping[str, bool]) -> None:
    flags = [flag for flag, wanted in given.items() if wanted]
    if len(flags) > 1:
        raise WrongUse(f"{flags[0]} and {flags[1]} choose differently: give one of them")


def _require_known(name: str, known: Iterable[str], path: Path) -> None:
    from prosa.diagnostics.nearest import nearest

    names = list(known)
    if name in names:
        return
    near = nearest(name, names)
    listed = f"its scripts are {', '.join(names[:10])}{' …' if len(names) > 10 else ''}"
    hint = f"did you mean {near}?" if near else listed if names else "it has no ai-script block"
    raise WrongUse(f"{path} has no script {name!r}", hint=hint)


def _texts(
    args: argparse.Namespace, pairs: Iterable[str], scripts: Sequence[Script], console: Console
) -> tuple[str | None, dict[str, str]]:
    """What was entered for those of the chosen scripts that have an input field: for all, and by address (M37)."""
    from prosa.cli.run_input import content_of, pair
    from prosa.dialects.magi.choosing import ANYWHERE, takes_text

    text = content_of(args.input, console, args.max_size) if args.input is not None else None
    texts: dict[str, str] = {}
    taking = [script.address for script in scripts if takes_text(script)]
    for key, value in map(pair, pairs):
        if key in taking:
            texts[key] = value
        elif key in ANYWHERE:
            text = value
        else:
            hint = f"these take a text: {', '.join(taking)}" if taking else "none that is chosen has an input field"
            raise WrongUse(f"no script {key!r} takes a text", hint=hint)
    if text is not None and not taking:
        raise WrongUse(
            "--input: no script that is chosen takes a text", hint="only one with `interactive-type: inputbox` does"
        )
    return text, texts
