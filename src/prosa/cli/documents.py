"""The options of commands that read documents: how, which of a folder, how many at once; and the addresses and the
vectors that some of them ask for.

In: a parser, and later the arguments. Out: the values that the arguments mean, or `WrongUse`. It opens nothing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from prosa.cli.argument_types import dollars, seconds, size_in_bytes
from prosa.cli.parser import WrongUse
from prosa.dialects.table import DIALECTS
from prosa.source.files import Skipped

if TYPE_CHECKING:
    from prosa.app.client.requests import Bounds
    from prosa.app.corpus.semantic import EmbeddingChoice
    from prosa.cli.console import Console

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


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, for commands that print text or one JSON document."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")


def add_folder_options(parser: argparse.ArgumentParser) -> None:
    """`--no-gitignore`."""
    parser.add_argument("--no-gitignore", dest="gitignore", action="store_false", help="include files that git ignores")


def add_hidden_options(parser: argparse.ArgumentParser, *, shown: bool = True) -> None:
    """Add `--skip-hidden`, and `--show-skipped` for commands that report skipped files."""
    parser.add_argument(
        "--skip-hidden", action="store_true", help="leave out the hidden folders of agents (.claude, .github …)"
    )
    if shown:
        parser.add_argument("--show-skipped", action="store_true", help="list the skipped files and folders")


def add_work_options(parser: argparse.ArgumentParser, *, cache: bool = True) -> None:
    """`--jobs`, `--no-cache`."""
    parser.add_argument("--jobs", type=_count, metavar="N", help="processes (default: one for each processor)")
    if not cache:
        return
    parser.add_argument("--no-cache", dest="cache", action="store_false", help="neither read nor write the cache")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:6]) <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to {MAX_JOBS}")
    return int(text)


def add_embedding(parser: argparse.ArgumentParser) -> None:
    """Which model makes vectors, and where."""
    group = parser.add_argument_group("vectors")
    group.add_argument("--embedding-model", metavar="NAME", help="the model at the service, or: local")
    group.add_argument("--base-url", metavar="URL", help="the service that makes vectors")
    group.add_argument("--api-key-env", metavar="NAME", help="the environment variable with the key for --base-url")
    group.add_argument("--max-cost", type=dollars, metavar="USD", help="the most that the service may cost")


def embedding_choice(args: argparse.Namespace) -> EmbeddingChoice:
    """Return the choices in the flags of `add_embedding`."""
    from prosa.app.corpus.semantic import EmbeddingChoice

    return EmbeddingChoice(args.embedding_model, args.base_url, args.api_key_env, args.max_cost)


def add_bounds(group: argparse._ArgumentGroup) -> None:
    """Which addresses may be asked, how long an answer may take and how large it may be."""
    group.add_argument("--allow-private", action="store_true", help="allow private and loopback addresses")
    group.add_argument("--timeout", type=seconds, metavar="SECONDS", help="for each answer (30)")
    group.add_argument("--max-size", metavar="SIZE", help="largest answer (10MiB)")


def bounds(args: argparse.Namespace, url: str) -> Bounds:
    """Return the bounds that the arguments ask for; ``url`` is the one that the user typed. Raises `WrongUse`."""
    from prosa.app.client.requests import Bounds, on_this_machine

    default = Bounds()
    return Bounds(
        seconds=args.timeout or default.seconds,
        size=size_in_bytes(args.max_size) if args.max_size else default.size,
        allow_private=args.allow_private,
        named=on_this_machine(url),
    )


def given_token(args: argparse.Namespace, console: Console) -> str | None:
    """Return the token of `--token-env`; None without the flag. Raises `WrongUse` for a variable that is not set."""
    if args.token_env is None:
        return None
    token = console.environ.get(args.token_env)
    if not token:
        raise WrongUse(f"--token-env {args.token_env}: there is no such variable, or it is empty")
    return token


MOST_NAMED = 6
"""Kinds of files and names of folders in the one line."""


def say_skipped(skipped: Skipped, args: argparse.Namespace, console: Console) -> None:
    """Report skipped files on stderr; beside JSON as lines of JSON."""
    if not (skipped.files or skipped.folders):
        return
    from prosa.render.json import dump
    from prosa.render.plain import safe

    if args.show_skipped:
        for path in sorted(_paths(skipped)):
            console.err(dump({"skipped": path}) if args.format in ("json", "jsonl") else f"skipped: {safe(path)}")
    elif args.format == "text" and (parts := list(_parts(skipped))):
        more = f", {len(parts) - MOST_NAMED:,} more (--show-skipped)" if len(parts) > MOST_NAMED else ""
        console.note(f"skipped: {safe(', '.join(parts[:MOST_NAMED]))}{more}")


def _paths(skipped: Skipped) -> Iterator[str]:
    yield from (str(PurePath(path)) for path in skipped.files)
    yield from (f"{PurePath(path)}/" for path in skipped.folders)


def _parts(skipped: Skipped) -> Iterator[str]:
    """Yield `2,570 .rst` for files of one kind, `node_modules` or `3 node_modules` for folders of one name; most
    first."""
    kinds = Counter(PurePath(path).suffix.lower() for path in skipped.files)
    names = Counter(PurePath(path).name for path in skipped.folders)
    yield from (f"{count:,} {kind}" for kind, count in kinds.most_common())
    yield from (name if count == 1 else f"{count:,} {name}" for name, count in names.most_common())
