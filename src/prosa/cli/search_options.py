"""The arguments of `prosa search` → a `Search`. What makes no sense is wrong use, with what would."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from prosa.cli.parser import WrongUse
from prosa.corpus.search import DEFAULT_LIMIT, MAX_LIMIT, Search
from prosa.dialects.table import DIALECTS


class Named(NamedTuple):
    """What the words of the command line are: a query, and the folder or file it is about, or None."""

    query: str
    place: Path | None


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """The query, the filters, and how to print."""
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
    filters.add_argument("--rel", action="append", default=[], metavar="REL", help="that point at something with it")
    filters.add_argument("--path", metavar="GLOB", help="whose path matches: 'docs/**/*.md'")
    filters.add_argument("--since", metavar="DATE", help="updated on that day or later (else published)")
    filters.add_argument("--until", metavar="DATE", help="updated on that day or earlier (else published)")
    filters.add_argument("--current", action="store_true", help="that have not expired")
    filters.add_argument(
        "--where", action="append", default=[], metavar="EXPRESSION", help="audience=ops and has owner"
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--similar", metavar="FILE|ID", help="documents like this one, instead of a query")
    way.add_argument("--semantic", action="store_true", help="by meaning too: needs a model that makes vectors")
    parser.add_argument(
        "--sections", action="store_true", help="every section that matches, not the best of each document"
    )
    parser.add_argument("--limit", type=_limit, default=DEFAULT_LIMIT, metavar="N", help="most hits (default: 20)")
    parser.add_argument("--files", action="store_true", help="print paths only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print scores too")
    parser.add_argument(
        "--format", choices=("text", "json", "jsonl"), default="text", help="how to print (default: text)"
    )


def named(words: Sequence[str], *, similar: bool) -> Named:
    """The query and the place. Raises `WrongUse` when there are too many words: a query of several is quoted."""
    query, rest = ("", words) if similar else (words[0] if words else "", words[1:])
    if not rest:
        return Named(query, None)
    place = Path(rest[0])
    if len(rest) == 1 and place.exists():
        return Named(query, place)
    if similar:
        raise WrongUse(f"{rest[0]}: no such file or folder", hint="--similar FILE takes no query")
    whole = " ".join(words).replace('"', "")
    raise WrongUse(
        f"{rest[-1]}: no such file or folder", hint=f'quote a query of several words: prosa search "{whole}"'
    )


def search_of(args: argparse.Namespace, query: str, below: str) -> Search:
    """What is asked for. Raises `WrongUse` for a filter that cannot be read, but does not read ``--where``."""
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
