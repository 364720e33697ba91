"""`prosa search`: ranked sections of a corpus, by words, by filters, by meaning or by likeness. Thin: open, ask, print.

With `enrich` the only command that sends text of documents anywhere, and only with `--semantic` (X6).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from prosa.cli.console import Console
from prosa.cli.corpus import add_corpus_options, add_watch_option, answered, place_of, shown_from_here
from prosa.cli.documents import add_embedding, embedding_choice
from prosa.cli.parser import WrongUse
from prosa.corpus.search import DEFAULT_LIMIT, MAX_LIMIT, Search
from prosa.dialects.table import DIALECTS

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.search import Hit


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    add_search_options(parser)
    add_corpus_options(parser)
    add_watch_option(parser)
    add_embedding(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when something is found, 1 when nothing is. Raises `WrongUse`."""
    what = named(args.words, similar=args.similar is not None)
    if what.place is None and args.similar is not None:
        what = Named("", place_of(args.similar))
    search_of(args, what.query, "")  # invalid combinations are reported before anything is opened
    return answered(args, console, what.place, lambda corpus: _searched(corpus, what, args, console))


def _searched(corpus: OpenCorpus, what: Named, args: argparse.Namespace, console: Console) -> int:
    below = "" if args.similar is not None else _below(corpus, what.place)
    asked = search_of(args, what.query, below)
    _check_where(args.where, corpus)
    hits = _answer(corpus, asked, args, console)
    _print(hits, what.query, corpus.root, args, console)
    _say_unknown(corpus, asked, console)
    return int(not hits)


def _answer(corpus: OpenCorpus, asked: Search, args: argparse.Namespace, console: Console) -> list[Hit]:
    """Return the hits, by the requested method."""
    from prosa.app.corpus.search import search_corpus
    from prosa.app.corpus.similar import search_similar

    if args.similar is not None:
        from prosa.app.corpus.ask import find_document

        return search_similar(corpus, find_document(corpus, args.similar).path, asked)
    if args.semantic:
        return semantic_hits(corpus, asked, args, console)
    return search_corpus(corpus, asked)


def semantic_hits(corpus: OpenCorpus, asked: Search, args: argparse.Namespace, console: Console) -> list[Hit]:
    """Return what full text finds, fused with what lies near the query as a vector. Sends the query, and sections that
    have no vector yet, to the service that the user configured (X6). Raises `EmbeddingError`, `ProviderError`."""
    from prosa.app.corpus.search import search_by_meaning
    from prosa.app.corpus.semantic import choose_embedder
    from prosa.cli.environment import environment_of
    from prosa.cli.progress import progress
    from prosa.cli.run.interaction import run_stoppable

    embedder = choose_embedder(embedding_choice(args), environment_of(console, corpus.root / "prosa"))

    def left_out(count: int) -> None:
        console.note(f"note: {count:,} sections have no vector yet; each search makes some more")

    with progress(console) as status:

        def show(done: int, total: int) -> None:
            status.show(f"{done:,} of {total:,} vectors")

        return run_stoppable(search_by_meaning(corpus, asked, embedder, progress=show, left_out=left_out))


def _below(corpus: OpenCorpus, place: Path | None) -> str:
    """Return the part of the corpus that was named, empty for all of it."""
    if place is None or corpus.files.real(place) == corpus.root:
        return ""
    return corpus.path_of(place)


def _check_where(wheres: Sequence[str], corpus: OpenCorpus) -> None:
    """Raise `WrongUse` for a condition that cannot be read, with the nearest field of the corpus."""
    from prosa.app.corpus.search import nearest_field_of
    from prosa.corpus.where import WhereError, parse_where

    for where in wheres:
        try:
            parse_where(where)
        except WhereError as error:
            near = nearest_field_of(corpus, error.field) if error.field else None
            hint = f"{error.excerpt}\ndid you mean the field {near}?" if near else error.excerpt
            raise WrongUse(f"--where: {error}", hint=hint) from None


def _say_unknown(corpus: OpenCorpus, asked: Search, console: Console) -> None:
    """Name that no document has: they explain why nothing is found, or too much."""
    from prosa.app.corpus.search import unknown_in
    from prosa.render.plain import safe

    for unknown in unknown_in(corpus, asked):
        near = f"; did you mean {unknown.nearest}?" if unknown.nearest else ""
        console.note(safe(f"note: no document has the {unknown.what} {unknown.name}{near}"))


def _print(hits: Sequence[Hit], query: str, root: Path, args: argparse.Namespace, console: Console) -> None:
    from prosa.render.corpus import hit_object, render_hits
    from prosa.render.json import dump

    shown = shown_from_here(root)
    if args.format == "json":
        console.out(dump({"query": query, "hits": [hit_object(hit, shown(hit.path)) for hit in hits]}, indent=2))
    elif not hits:
        if console.stderr.isatty():
            console.err("nothing found")
    elif args.format == "jsonl":
        console.out("\n".join(dump(hit_object(hit, shown(hit.path))) for hit in hits))
    elif args.files:
        console.out("\n".join(dict.fromkeys(shown(hit.path) for hit in hits)))
    else:
        console.out(render_hits(hits, shown, color=console.color, verbose=args.verbose), styled=True)


# The arguments of `prosa search` → a `Search`. What makes no sense is wrong use, with what would.


class Named(NamedTuple):
    """The words of the command line: a query, and the folder or file to search, or None."""

    query: str
    place: Path | None


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Add the query, the filters, and the flags for printing."""
    parser.add_argument("words", nargs="*", metavar="QUERY DIR", help='words, "phrases", prefix*, -not, OR, title:word')
    filters = parser.add_argument_group("only documents")
    filters.add_argument(
        "--dialect",
        action="append",
        default=[],
        choices=[row.name for row in DIALECTS],
        metavar="NAME",
        help="of one of these dialects",
    )
    filters.add_argument("--tag", action="append", default=[], metavar="TAG", help="with every one of these tags")
    filters.add_argument("--kind", action="append", default=[], metavar="KIND", help="of one of these kinds or types")
    filters.add_argument(
        "--rel", action="append", default=[], metavar="REL", help="that have a reference with this rel"
    )
    filters.add_argument("--path", metavar="GLOB", help="whose path matches: 'docs/**/*.md'")
    filters.add_argument("--since", metavar="DATE", help="updated (or else published) on that day or later")
    filters.add_argument("--until", metavar="DATE", help="updated (or else published) on that day or earlier")
    filters.add_argument("--current", action="store_true", help="that have not expired")
    filters.add_argument(
        "--where", action="append", default=[], metavar="EXPRESSION", help="audience=ops and has owner"
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--similar", metavar="FILE|ID", help="documents like this one, instead of a query")
    way.add_argument(
        "--semantic", action="store_true", help="search by meaning as well; needs a model that makes vectors"
    )
    parser.add_argument(
        "--sections", action="store_true", help="show every section that matches, not only the best of each document"
    )
    parser.add_argument(
        "--limit", type=_limit, default=DEFAULT_LIMIT, metavar="N", help="show at most N hits (default: 20)"
    )
    parser.add_argument("--files", action="store_true", help="print paths only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print scores too")
    parser.add_argument(
        "--format", choices=("text", "json", "jsonl"), default="text", help="how to print (default: text)"
    )


def named(words: Sequence[str], *, similar: bool) -> Named:
    """Return the query and the place. Raises `WrongUse` when there are too many words: a query of several is quoted."""
    query, rest = ("", words) if similar else (words[0] if words else "", words[1:])
    if not rest:
        return Named(query, None)
    place = Path(rest[0])
    if len(rest) == 1 and place.exists():
        return Named(query, place)
    if similar:
        raise WrongUse(f"{rest[0]}: no such file or folder", hint="--similar FILE takes no query")
    whole = " ".join(words).replace('"', "")
    from prosa.app.text_files import nearest_file

    near = nearest_file(place) if len(rest) == 1 else None
    guess = f"did you mean {near}?\n" if near else ""
    hint = f'{guess}quote a query of several words: prosa search "{whole}"'
    raise WrongUse(f"{rest[-1]}: no such file or folder", hint=hint)


def search_of(args: argparse.Namespace, query: str, below: str) -> Search:
    """Return the requested search. Raises `WrongUse` for an invalid filter, but does not parse ``--where``."""
    wheres = [where for where in args.where if where.strip()]
    asked = Search(
        text=query,
        limit=args.limit,
        dialects=tuple(args.dialect),
        tags=tuple(args.tag),
        kinds=tuple(args.kind),
        rels=tuple(args.rel),
        since=_date("--since", args.since),
        until=_date("--until", args.until),
        where=wheres[0] if len(wheres) == 1 else " and ".join(f"({where})" for where in wheres),
        current=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if args.current else "",
        path_glob=args.path or "",
        below="" if below == "." else below,
        sections=args.sections,
    )
    if args.semantic and not query.strip():
        raise WrongUse("--semantic needs a query", hint="a sentence will do: it is compared by meaning")
    if not query.strip() and not asked.has_filters and not asked.current and not args.similar:
        raise WrongUse(
            "say what to search for", hint='words, a filter such as --tag, or both: prosa search "rate limit"'
        )
    return asked


def _date(flag: str, text: str | None) -> str:
    if text is None:
        return ""
    from prosa.corpus.facets import iso_moment

    if iso_moment(text) is None:
        raise WrongUse(
            f"{flag} {text}: not a date", hint="write a year, a month, a day or a time: 2026, 2026-03, 2026-03-01"
        )
    return text


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_LIMIT:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to {MAX_LIMIT}")
    return int(text)
