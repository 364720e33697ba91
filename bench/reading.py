"""The reader, in megabytes a second: Markdown with every element placed, and documents of all dialects with their front
matter, against markdown-it-py and against the parser below it alone; and what a ten times longer file costs.

Texts are in memory; one process, one thread. Of a rate, more is better.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from bench.checking import Corpus, book
from bench.measure import Row, calls
from bench.mixed_corpus import documents

ROUNDS = 7
MIXED = 700
SHORT = 100_000
"""Characters of the file that is then made ten times longer."""

Text: TypeAlias = tuple[str, str]
"""A path and what is in it."""
Reader: TypeAlias = Callable[[str, str], object]


def rows(mixed: int = MIXED, rounds: int = ROUNDS, short: int = SHORT, seconds: float = 1) -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        corpus = book(Path(name))
        texts = _texts(corpus)
    yield from _compared(f"read {corpus.title}", texts, rounds)
    some = [(path, text) for path, text, _ in documents(mixed)]
    yield from _compared(f"read {mixed:,} mixed documents", some, rounds)
    yield from _longer(short, seconds)


def _texts(corpus: Corpus) -> list[Text]:
    return [(str(path), (corpus.folder / path).read_text(encoding="utf-8")) for path in corpus.documents]


def _compared(what: str, texts: Sequence[Text], rounds: int) -> Iterator[Row]:
    """Megabytes a second of every reader, in turn."""
    size = sum(len(text.encode()) for _, text in texts)
    rates = {name: size / taken / 1e6 for name, taken in _times(texts, rounds).items()}
    for ours in ("Markdown", "front matter, dialect, references"):
        for theirs in ("markdown-it-py, tokens", "pyromark, events alone"):
            yield Row(f"{what}: {ours}", rates[ours], "MB/s", theirs, rates[theirs])


def _times(texts: Sequence[Text], rounds: int) -> dict[str, float]:
    """Return the median time that each reader takes for all texts, in seconds."""
    found: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        for name, read in _readers().items():
            started = time.perf_counter()
            for path, text in texts:
                read(path, text)
            if turn:
                found.setdefault(name, []).append(time.perf_counter() - started)
    return {name: statistics.median(times) for name, times in found.items()}


def _readers() -> Mapping[str, Reader]:
    import pyromark
    from markdown_it import MarkdownIt

    commonmark = MarkdownIt("commonmark").enable("table")
    options = (
        pyromark.Options.ENABLE_TABLES
        | pyromark.Options.ENABLE_FOOTNOTES
        | pyromark.Options.ENABLE_STRIKETHROUGH
        | pyromark.Options.ENABLE_WIKILINKS
    )
    return {
        "Markdown": _markdown,
        "front matter, dialect, references": _whole,
        "markdown-it-py, tokens": lambda _, text: commonmark.parse(text),
        "pyromark, events alone": lambda _, text: list(pyromark.events_with_range(text, options=options)),
    }


def _markdown(path: str, text: str) -> None:
    """Parse a document with the reader and visit every element."""
    from prosa.document import parse
    from prosa.source import SourceText

    _touched(parse(SourceText(text, path)))


def _whole(path: str, text: str) -> None:
    """Everything that is known of a document before rules look at it."""
    from prosa.dialects.reading import open_document
    from prosa.source import SourceText

    reading = open_document(SourceText(text, path))
    _touched(reading.document)
    reading.references()
    reading.definitions()


def _touched(document: object) -> None:
    for name in _elements(type(document)):
        getattr(document, name)


def _elements(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, cached_property) and name[0] != "_"]


def _longer(short: int, seconds: float) -> Iterator[Row]:
    """Yield a file and the same ten times over."""
    from prosa.rules.engine import check_text
    from prosa.source import SourceText

    pages = (text.partition("\n# ")[2] for path, text, _ in documents(200) if path.startswith("pages"))
    once = "# " + "\n# ".join(pages)[:short] + "\n"
    longer = f"ten times {len(once) / 1000:,.0f} kB in one file"

    def check(path: str, text: str) -> object:
        return check_text(SourceText(text, path))

    works: dict[str, Reader] = {"read": _markdown, "check": check}
    for name, work in works.items():
        short_time = calls(partial(work, "long.md", once), seconds=seconds) / 1000
        long_time = calls(partial(work, "long.md", once * 10), seconds=3 * seconds) / 1000
        yield Row(f"{name} {longer}", long_time, "ms", "ten times the short one", short_time * 10, "about 1x")
