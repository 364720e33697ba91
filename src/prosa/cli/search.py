"""`prosa search`: ranked sections of a corpus, by words, by filters, by meaning or by likeness. Thin: open, ask, print.

With `enrich` the only command that sends text of documents anywhere, and only with `--semantic` (X6).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus_options import add_corpus_options, document, opened, place_of, shown_from_here
from prosa.cli.embedding_options import add_embedding, embedding_choice
from prosa.cli.parser import WrongUse
from prosa.cli.search_options import Named, add_search_options, named, search_of
from prosa.cli.watch_corpus import add_watch_option, watched

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.embedding import Embedder
    from prosa.corpus.search import Hit, Search


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `search`."""
    add_search_options(parser)
    add_corpus_options(parser)
    add_watch_option(parser)
    add_embedding(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when something is found, 1 when nothing is. Raises `WrongUse`."""
    what = named(args.words, similar=args.similar is not None)
    if what.place is None and args.similar is not None:
        what = Named("", place_of(args.similar))
    search_of(args, what.query, "")  # what makes no sense is told before anything is opened
    return watched(args, console, what.place, lambda: _once(what, args, console))


def _once(what: Named, args: argparse.Namespace, console: Console) -> int:
    with opened(what.place, args, console) as corpus:
        below = "" if args.similar is not None else _below(corpus, what.place)
        asked = search_of(args, what.query, below)
        _check_where(args.where, corpus)
        hits = _answer(corpus, asked, args, console)
        _print(hits, what.query, corpus.root, args, console)
        _say_unknown(corpus, asked, console)
    return int(not hits)


def _answer(corpus: OpenCorpus, asked: Search, args: argparse.Namespace, console: Console) -> list[Hit]:
    """The hits, by whichever way was asked for."""
    from prosa.adapters.sqlite.search import search

    if args.similar is not None:
        return similar_hits(corpus, document(corpus, args.similar).path, asked)
    if args.semantic:
        return semantic_hits(corpus, asked, args, console)
    return search(corpus.index, asked)


def similar_hits(corpus: OpenCorpus, path: str, asked: Search) -> list[Hit]:
    """Documents like the one at ``path``: by the rare words and the links that they share, and by vectors where the
    index has some. Nothing is sent anywhere."""
    from prosa.adapters.sqlite.similar import similar
    from prosa.app.corpus.semantic import similar_by_vectors

    statement = "SELECT id FROM document WHERE path = ?"
    (number,) = corpus.index.connection().execute(statement, (path,)).fetchone()
    return similar(corpus.index, path, asked, near=similar_by_vectors(corpus, number, asked))


def semantic_hits(corpus: OpenCorpus, asked: Search, args: argparse.Namespace, console: Console) -> list[Hit]:
    """What full text finds, fused with what lies near the query as a vector. Sends the query, and sections that have
    no vector yet, to the service that the user configured (X6). Raises `EmbeddingError`, `ProviderError`."""
    from prosa.app.corpus.embedding import choose_embedder
    from prosa.cli.stopping import run_stoppable
    from prosa.cli.surroundings import surroundings

    embedder = choose_embedder(embedding_choice(args), surroundings(console, corpus.root / "prosa"))
    return run_stoppable(_by_meaning(corpus, asked, embedder, console))


async def _by_meaning(corpus: OpenCorpus, asked: Search, embedder: Embedder, console: Console) -> list[Hit]:
    from prosa.app.corpus.semantic import make_vectors, semantic_search
    from prosa.app.run.world import system_clock
    from prosa.cli.progress import progress

    def show(done: int, total: int) -> None:
        status.show(f"{done:,} of {total:,} vectors")

    try:
        with progress(console) as status:
            made = await make_vectors(corpus, embedder, system_clock(), progress=show)
        if made.left:
            console.note(f"note: {made.left:,} sections have no vector yet; each search makes some more")
        return await semantic_search(corpus, asked, embedder, system_clock())
    finally:
        await embedder.aclose()


def _below(corpus: OpenCorpus, place: Path | None) -> str:
    """The part of the corpus that was named, empty for all of it."""
    if place is None or corpus.files.real(place) == corpus.root:
        return ""
    return corpus.path_of(place)


def _check_where(wheres: Sequence[str], corpus: OpenCorpus) -> None:
    """Raises `WrongUse` for a condition that cannot be read, with the nearest field of the corpus."""
    from prosa.adapters.sqlite.search_names import nearest_field
    from prosa.corpus.where import WhereError, parse_where

    for where in wheres:
        try:
            parse_where(where)
        except WhereError as error:
            near = nearest_field(corpus.index.connection(), error.field) if error.field else None
            hint = f"{error.excerpt}\ndid you mean the field {near}?" if near else error.excerpt
            raise WrongUse(f"--where: {error}", hint=hint) from None


def _say_unknown(corpus: OpenCorpus, asked: Search, console: Console) -> None:
    """Names that no document has: they explain why nothing is found, or too much."""
    from prosa.adapters.sqlite.search_names import unknown_names
    from prosa.render.plain import safe

    for each in unknown_names(corpus.index.connection(), asked):
        near = f"; did you mean {each.nearest}?" if each.nearest else ""
        console.note(safe(f"note: no document has the {each.what} {each.name}{near}"))


def _print(hits: Sequence[Hit], query: str, root: Path, args: argparse.Namespace, console: Console) -> None:
    from prosa.render.hits import hit_object, render_hits
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
