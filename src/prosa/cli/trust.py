"""`prosa trust`: which documents may run by themselves, told by the user and kept outside the tree (X7).

In: documents and folders. Out: the record in the user's configuration folder, by real path and content: an edit ends
the trust. Trusting runs nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import FAILED, OK
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.adapters.files.trust_store import Trusted, TrustStore


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `trust`."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="documents, and folders with all of theirs")
    parser.add_argument("--remove", action="store_true", help="trust them no more")
    parser.add_argument("--list", action="store_true", help="print what is trusted, and what was changed since")


def run(args: argparse.Namespace, console: Console) -> int:
    """Changes or prints the record. 1 when there was nothing to remove."""
    from prosa.adapters.files import config_dir
    from prosa.adapters.files.trust_store import TrustStore

    store = TrustStore(config_dir(console.environ))
    if args.list:
        if args.remove:
            raise WrongUse("--list and --remove do different things: give one of them")
        return _listed(store, args.paths, console)
    if not args.paths:
        raise WrongUse("name a document or a folder", hint="to see what is trusted: prosa trust --list")
    return _removed(store, args.paths, console) if args.remove else _added(store, args.paths, console)


def _added(store: TrustStore, paths: Sequence[Path], console: Console) -> int:
    found = [each for path in paths for each in store.add(path)]
    if not found:
        raise WrongUse(f"no documents in {', '.join(map(str, paths))}")
    _print(f"trusted, as {_it_is(found)} now:", found, console)
    return OK


def _removed(store: TrustStore, paths: Sequence[Path], console: Console) -> int:
    gone = [each for path in paths for each in store.remove(path)]
    if not gone:
        console.err("note: none of it was trusted")
        return FAILED
    _print("trusted no more:", gone, console)
    return OK


def _listed(store: TrustStore, paths: Sequence[Path], console: Console) -> int:
    """Each trusted document with how it stands; below ``paths`` only, where some are named."""
    from prosa.adapters.files.read import real_path

    below = [real_path(path) for path in paths]
    for each in store.listed():
        if not below or any(each.path == path or each.path.is_relative_to(path) for path in below):
            console.out(f"{_shown(each.path)}{_change(each)}")
    return OK


def _change(each: Trusted) -> str:
    """What happened to a document since; nothing for one that still counts."""
    from prosa.adapters.files.read import digest_bytes
    from prosa.adapters.files.trust_store import MAX_TRUSTED_BYTES
    from prosa.source import FileProblem

    try:
        same = digest_bytes(each.path, each.path, MAX_TRUSTED_BYTES) == each.digest
    except FileProblem as problem:
        return f" ({problem.reason})"
    return "" if same else " (changed since: no longer trusted)"


def _print(head: str, found: Sequence[Trusted], console: Console) -> None:
    console.out("\n".join((head, *(f"  {_shown(each.path)}" for each in found))))


def _it_is(found: Sequence[Trusted]) -> str:
    return "it is" if len(found) == 1 else "they are"


def _shown(path: Path) -> str:
    from prosa.render.plain import safe

    return safe(str(path))
