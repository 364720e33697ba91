"""`prosa trust`: which documents may run on their own request, decided by the user and stored outside the tree (X7).

In: documents and folders. Out: the record in the user's configuration folder, by real path and content: an edit ends
the trust. Trusting runs nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.errors import OK, say
from prosa.cli.parser import WrongUse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `trust`."""
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="documents, or folders with everything in them"
    )
    parser.add_argument("--remove", action="store_true", help="revoke trust")
    parser.add_argument("--list", action="store_true", help="list what is trusted, and what has changed since")
    parser.add_argument(
        "--agreement", action="store_true", help="accept the agreement that gates markdownlang programs"
    )
    phrase = "with --agreement: accept by giving one of the phrases; works without a terminal"
    parser.add_argument("--phrase", metavar="TEXT", help=phrase)
    add_format(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Change or print the record. 1 when there was nothing to remove."""
    if args.agreement:
        if args.paths or args.list or args.remove:
            raise WrongUse("--agreement is about programs of markdownlang alone: give no document with it")
        from prosa.cli.agree import agree

        return agree(console, phrase=args.phrase, command="prosa trust --agreement", as_json=args.format == "json")
    if args.phrase is not None:
        raise WrongUse("--phrase needs --agreement")
    if args.list:
        if args.remove:
            raise WrongUse("--list and --remove do different things: give one of them")
        return _listed(args, console)
    if not args.paths:
        raise WrongUse("name a document or a folder", hint="to see what is trusted: prosa trust --list")
    return _removed(args, console) if args.remove else _added(args, console)


def _added(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.trust import trust

    paths = trust(args.paths, console.environ)
    if not paths:
        raise WrongUse(f"no documents in {', '.join(map(str, args.paths))}")
    _print("trusted", f"trusted, as {_it_is(paths)} now:", paths, args, console)
    return OK


def _removed(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.trust import distrust

    gone = distrust(args.paths, console.environ)
    if not gone:
        return say(console, "none of it was trusted", head="note: ")
    _print("removed", "trusted no more:", gone, args, console)
    return OK


def _listed(args: argparse.Namespace, console: Console) -> int:
    """Return each trusted document with how it stands; below ``paths`` only, where some are named."""
    from prosa.app.trust import trusted
    from prosa.render.json import dump

    documents = trusted(args.paths, console.environ)
    if args.format == "json":
        rows = [{"path": str(document.path), "change": document.change or None} for document in documents]
        console.out(dump({"trusted": rows}, indent=2))
        return OK
    for document in documents:
        console.out(f"{_shown(document.path)}{f' ({document.change})' if document.change else ''}")
    return OK


def _print(key: str, head: str, paths: Sequence[Path], args: argparse.Namespace, console: Console) -> None:
    """Print paths: as JSON under a ``key``, for people below a ``head``."""
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump({key: [str(path) for path in paths]}, indent=2))
        return
    console.out("\n".join((head, *(f"  {_shown(path)}" for path in paths))))


def _it_is(paths: Sequence[Path]) -> str:
    return "it is" if len(paths) == 1 else "they are"


def _shown(path: Path) -> str:
    from prosa.render.plain import safe

    return safe(str(path))
