"""The corpus that a command line means, and the one way of all commands that ask it: open, answer, print, and with
`--watch` again after each change.

In: arguments. Out: an open corpus with an index that is up to date, or `WrongUse` with what may have been meant."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.argument_types import size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import DEFAULT_MAX_SIZE, add_hidden_options
from prosa.cli.parser import WrongUse
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.data import Plain

MOST_WARNINGS = 5
"""Files that cannot be read of which each is named; `prosa index` names all of them."""

MANY = 200
"""Documents to be read from which on a status line is worth showing."""


def add_corpus_options(parser: argparse.ArgumentParser, *, refresh: bool = True) -> None:
    """`--root`, `--max-size`, and `--no-refresh` where an old answer does no harm."""
    parser.add_argument("--root", metavar="DIR", help="the folder of the corpus (default: the project)")
    parser.add_argument("--max-size", default=DEFAULT_MAX_SIZE, metavar="SIZE", help="largest document (default: 10MB)")
    add_hidden_options(parser, shown=False)
    if not refresh:
        parser.set_defaults(refresh=True, builds=True)
        return
    parser.add_argument(
        "--no-refresh",
        dest="refresh",
        action="store_false",
        help="use the index as it is, without looking at the files",
    )


@contextmanager
def opened(
    place: Path | None,
    args: argparse.Namespace,
    console: Console,
    explain: Callable[[Path, FileProblem], str] | None = None,
) -> Iterator[OpenCorpus]:
    """Return the corpus that ``place`` belongs to: a folder, a document, or None for the current folder. Documents that
    cannot be read are named on stderr, in words of ``explain`` where they mean more. Raises `WrongUse`, and
    `IndexProblem` for an index that cannot be used."""
    from prosa.app.corpus.open import corpus_root, open_corpus
    from prosa.app.settings import settings_for
    from prosa.cli.progress import progress
    from prosa.render.plain import safe

    root = _folder(args.root)
    base = corpus_root(place, root)
    settings = settings_for(base, console.environ, console.err)
    with progress(console) as status:
        corpus = open_corpus(
            place,
            environ=console.environ,
            settings=settings,
            root=root,
            refresh=args.refresh,
            max_size=size_in_bytes(args.max_size),
            agents=not args.skip_hidden,
            jobs=getattr(args, "jobs", None),
            progress=lambda done, total: status.show(f"read {done:,} of {total:,} documents") if total > MANY else None,
        )
        with corpus as opened_corpus:
            status.clear()
            if not args.refresh and not getattr(args, "builds", False) and opened_corpus.index.is_new:
                raise WrongUse(
                    f"there is no index of {opened_corpus.root} yet", hint="leave out --no-refresh: it is made"
                )
            unreadable = opened_corpus.report.unreadable
            for problem in unreadable[:MOST_WARNINGS]:
                console.err(f"warning: {safe(explain(opened_corpus.root, problem) if explain else str(problem))}")
            if len(unreadable) > MOST_WARNINGS:
                console.err(f"warning: {len(unreadable) - MOST_WARNINGS:,} more cannot be read; see: prosa index")
            yield opened_corpus


def place_of(name: str) -> Path | None:
    """Return the file that a word names, or None where it is a name of another kind, or a folder."""
    path = Path(name)
    return path if os.path.lexists(path) and not path.is_dir() else None


def _folder(root: str | None) -> Path | None:
    if root is None:
        return None
    if not Path(root).is_dir():
        raise FileProblem(Path(root), "missing", "no such folder, so it cannot be the root")
    return Path(root)


def shown_from_here(root: Path) -> Callable[[str], str]:
    """Return how a path of the corpus is named from the current folder, so that an editor opens it."""
    base = os.path.relpath(root)
    below = "" if base == "." else f"{root}/" if base.startswith("..") else f"{base}/"
    return lambda path: f"{below}{path}"


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes that asks a corpus: which one, `--format`, and `--watch`."""
    add_corpus_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    add_watch_option(parser)


def add_watch_option(parser: argparse.ArgumentParser) -> None:
    """`--watch`."""
    parser.add_argument("-w", "--watch", action="store_true", help="answer again whenever a document changes")


def corpus_place(name: str | None) -> Path | None:
    """Return the folder or document that a command line names. Raises `FileProblem` for one that does not exist."""
    if name is None:
        return None
    if not Path(name).exists():
        raise FileProblem(Path(name), "missing", "no such file or folder")
    return Path(name)


def answered(
    args: argparse.Namespace, console: Console, place: Path | None, answer: Callable[[OpenCorpus], int]
) -> int:
    """Open the corpus that ``place`` belongs to and answers; with `--watch` again after every change of a document
    below its root, until Ctrl-C. Return the last exit status. Nothing is kept between two answers but the index."""

    def once() -> int:
        with opened(place, args, console) as corpus:
            return answer(corpus)

    return watched(args, console, place, once)


def watched(args: argparse.Namespace, console: Console, place: Path | None, once: Callable[[], int]) -> int:
    """Run ``once``; with `--watch` again after every change. Raises `WrongUse` where the library for that is not
    installed."""
    if not args.watch:
        return once()
    from prosa.app.corpus.open import corpus_root
    from prosa.cli.watch_documents import watch_folders

    return watch_folders({corpus_root(place, Path(args.root) if args.root else None)}, console, once)


def put(args: argparse.Namespace, console: Console, data: Callable[[], Plain], text: Callable[[], str]) -> None:
    """Print the answer in the requested format: ``data`` as JSON, or ``text``."""
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump(data(), indent=2))
    else:
        console.out(text())
