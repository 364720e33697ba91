"""Enriching records: vectors and hashes written into the footers of YMJ files (X6, X22, YW7).

In: documents and an embedder. Out: the result of each. Records are processed in batches, each written as soon as it
has its vectors, so that an interrupted run can continue. A file is only replaced if it is unchanged since it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import replace_file
from prosa.adapters.sqlite.similar import classified_paths
from prosa.app.corpus.open import open_corpus
from prosa.app.corpus.semantic import vectors_of
from prosa.app.run.world import system_clock
from prosa.corpus.embedding import BATCH, Embedder, embedded_text, looks_classified, may_be_sent
from prosa.dialects.reading import dialect_of, open_as
from prosa.dialects.table import YMJ
from prosa.dialects.ymj.embedding import embedding_of, with_embedding, with_hash
from prosa.rules.policy import Profile
from prosa.source import FileProblem, Files, SourceText

if TYPE_CHECKING:
    from prosa.app.check.gather import Group
    from prosa.dialects.dialect import Hints
    from prosa.dialects.ymj import YmjModel

Became: TypeAlias = Literal["enriched", "hashed", "unchanged", "left"]

CONFIDENTIAL = "is classified, and is never sent to a service"


class Enriched(Struct, frozen=True):
    """The result for a document: ``left`` unchanged for the ``reason``, in words that finish "PATH …".

    A record that may not be sent has a reason too, and is no failure. In a dry run ``before`` and ``after`` are the
    present and the new text; both are empty if a vector would have to be computed.
    """

    path: Path
    became: Became
    reason: str = ""
    before: str = ""
    after: str = ""


class EnrichOptions(Struct, frozen=True):
    """The user's options: ``embedder`` None writes hashes only, ``force`` replaces fresh vectors. ``classified`` are
    the real paths of records that a meta file classifies (MA18)."""

    embedder: Embedder | None
    force: bool = False
    dry_run: bool = False
    classified: frozenset[Path] = frozenset()


class _Record(Struct, frozen=True):
    path: Path
    source: SourceText
    text: str
    wants_vector: bool
    reason: str = ""


def classified_in(groups: Sequence[Group], environ: Mapping[str, str]) -> frozenset[Path]:
    """Return the documents that may not be sent anywhere, those that a meta file classifies too (X6, MA18): the index
    knows which. Raises `IndexProblem`."""
    classified = set[Path]()
    for group in groups:
        root, settings = group.root if group.given else None, group.project.settings
        with open_corpus(group.root, environ=environ, settings=settings, root=root, jobs=None) as corpus:
            paths = classified_paths(corpus.index.connection())
            classified.update(corpus.files.real(corpus.root / path) for path in paths)
    return frozenset(classified)


async def enrich(groups: Sequence[Group], options: EnrichOptions, done: Callable[[Enriched], None]) -> None:
    """Enrich the records among the documents of the groups; others are skipped. The embedder is closed at the end.

    ``done`` is called with every record, in order. Raises what the embedder raises: what was written before stays
    written.
    """
    try:
        for group in groups:
            profile = Profile(settings=group.project.settings, root=group.root)
            await _enriched(group.paths, group.files, profile.hints, options, done)
    finally:
        if options.embedder is not None:
            await options.embedder.aclose()


async def _enriched(
    paths: Sequence[Path],
    files: Files,
    hints: Callable[[Path], Hints],
    options: EnrichOptions,
    done: Callable[[Enriched], None],
) -> None:
    for batch in _batches(_records(paths, files, hints, options, done)):
        wanting = [record for record in batch if record.wants_vector]
        vectors: list[list[float]] = []
        if wanting and not options.dry_run:
            vectors = await _vectors([record.text for record in wanting], options)
        by_path = dict(zip((record.path for record in wanting), vectors, strict=False))
        for record in batch:
            done(_written(record, by_path.get(record.path), options))


async def _vectors(texts: Sequence[str], options: EnrichOptions) -> list[list[float]]:
    """Return one vector for each text."""
    assert options.embedder is not None
    return await vectors_of(texts, options.embedder, system_clock())


def _batches(records: Iterable[_Record]) -> Iterator[list[_Record]]:
    batch: list[_Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _records(
    paths: Sequence[Path],
    files: Files,
    hints: Callable[[Path], Hints],
    options: EnrichOptions,
    done: Callable[[Enriched], None],
) -> Iterator[_Record]:
    for path in paths:
        try:
            source = files.read(path)
        except FileProblem as problem:
            done(Enriched(path, "left", problem.reason))
            continue
        model = _read(source, hints(files.real(path)))
        if model is None:
            continue
        if model.footer is None or not model.footer.sound or not model.footer.claimed:
            done(Enriched(path, "left", "has no readable footer; prosa check explains why"))
            continue
        secret = files.real(path) in options.classified or looks_classified(source.text)
        yield _record(path, source, model, options, secret=secret)


def _read(source: SourceText, hints: Hints) -> YmjModel | None:
    """Return the document as a record; None for any other."""
    return open_as(source, YMJ).model if dialect_of(source, hints) == YMJ.name else None


def _record(path: Path, source: SourceText, model: YmjModel, options: EnrichOptions, *, secret: bool) -> _Record:
    plain = _Record(path, source, "", wants_vector=False)
    if options.embedder is None:
        return plain
    if options.embedder.is_remote and (secret or not may_be_sent(model.header_value)):
        return replace(plain, reason=CONFIDENTIAL)
    kept = embedding_of(model)
    if kept is not None and kept.fresh and kept.model_name == options.embedder.model_name and not options.force:
        return plain
    text = embedded_text(model.text("subject") or "", model.text("doc_summary") or "", model.body_text)
    return replace(plain, text=text, wants_vector=True)


def _written(record: _Record, vector: list[float] | None, options: EnrichOptions) -> Enriched:
    """Write one record, unless nothing changes."""
    if options.dry_run and record.wants_vector:
        return Enriched(record.path, "enriched")
    name = options.embedder.model_name if options.embedder is not None else ""
    after = with_hash(record.source) if vector is None else with_embedding(record.source, vector, name)
    if after == record.source.text:
        return Enriched(record.path, "unchanged", record.reason)
    if options.dry_run:
        return Enriched(record.path, "hashed", record.reason, record.source.text, after)
    try:
        replace_file(record.path, after, expect_digest=record.source.digest)
    except FileProblem as problem:
        return Enriched(record.path, "left", problem.reason)
    except OSError as error:
        return Enriched(record.path, "left", f"cannot be written: {error.strerror or error}")
    return Enriched(record.path, "hashed" if vector is None else "enriched", record.reason)
