"""The ai-scripts that `run`, `plan` and `render` are about: whether a file is run by its scripts, the choice that
arguments make, and the document with what became of it (MA9-MA12). Runs nothing.

In: arguments. Out: a `Choice`, a `Selection`, or why it cannot be.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.options import options_from
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.app.scripts.choose import Selection
    from prosa.app.scripts.load import Preparing
    from prosa.dialects.magi import Script
    from prosa.dialects.magi.choosing import Choice

CHOOSING = ("ids", "auto", "every", "stale", "beside")


def runs_scripts(args: argparse.Namespace, console: Console) -> bool:
    """Return whether the file is run by its scripts: `--as magi`, `--scripts`, `.mda`, or a glob of the project says so
    (X3).

    Raises `WrongUse` for flags about scripts with a file that has none.
    """
    from prosa.app.check.project import dialect_here
    from prosa.cli.argument_types import chosen_dialect
    from prosa.settings.environment import given_here

    dialect, overrides = chosen_dialect(args.dialect), given_here(console.environ)
    if dialect == "skill_md" and dialect_here(args.file, overrides) == dialect:
        dialect = None
    if dialect not in (None, "magi", "markdownlang"):
        raise WrongUse(f"--as {dialect}: nothing in it can be run here", hint="--as magi, --as markdownlang")
    if dialect is None and args.beside is not None:
        dialect = "magi"
    if (dialect or dialect_here(args.file, overrides) or "markdownlang") == "magi":
        return True
    about = (*CHOOSING, "provider", "tools", "write", *(() if getattr(args, "record", None) else ("force",)))
    about_scripts = [name for name in about if getattr(args, name, None)]
    if about_scripts:
        flags = {"ids": "--script", "every": "--all", "beside": "--scripts"}
        flag = flags.get(about_scripts[0], f"--{about_scripts[0]}")
        raise WrongUse(f"{flag} is about ai-scripts, and {args.file} is read as a program", hint="add --as magi")
    return False


def choice_from(args: argparse.Namespace, scripts: Sequence[Script], console: Console) -> Choice:
    """Return the user's choice. Raises `WrongUse` for unknown ids, and for texts without an input field."""
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
    """Return the tools that are granted. Raises `WrongUse`."""
    from prosa.app.scripts.load import TOOLS

    names = tuple(dict.fromkeys(args.tools or ()))
    for name in names:
        if name not in TOOLS:
            raise WrongUse(f"--tool: there is no tool {name!r}", hint=f"known: {', '.join(TOOLS)}")
    return names


def _require_one(selected: Mapping[str, bool]) -> None:
    flags = [flag for flag, wanted in selected.items() if wanted]
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
    """Return the texts for the chosen scripts that have an input field: for all, and by address (M37)."""
    from prosa.cli.run.input import content_of, pair
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


def loaded(args: argparse.Namespace, options: Options, environment: Environment, console: Console) -> Selection:
    """Read the document and weigh the choice. Raises `WrongUse` and `RunError`."""
    from prosa.app.scripts.choose import selection
    from prosa.app.scripts.load import load_scripts

    file = load_scripts(args.file, options, environment.settings, args.beside)
    choice = choice_from(args, file.scripts, console)
    chosen = selection(file, choice, options, environment, context=args.context, tools=tools_from(args))
    _require_provider(chosen.preparing)
    return chosen


def planning(args: argparse.Namespace, console: Console) -> Selection:
    """Return the same for `plan` and `render`: without a choice all scripts are shown."""
    selection = loaded(args, options_from(args, console.environ), environment_of(console, args.file), console)
    return selection if selection.choice.is_made else selection.narrowed(replace(selection.choice, every=True))


def _require_provider(preparing: Preparing) -> None:
    """Refuse an unknown provider of the command line once, not once for every script."""
    from prosa.runtime.errors import RunError

    try:
        preparing.row_of(preparing.options.provider)
    except RunError as error:
        raise WrongUse(f"--provider: {error.message}", hint=error.hint) from None
