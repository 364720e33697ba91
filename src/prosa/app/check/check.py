"""The check of documents for all doors: with the settings of their projects and their surroundings, optionally in
several processes, and with a cache on disk or in memory. It prints nothing."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, cache_dir
from prosa.adapters.files.stamps import FileStamps
from prosa.adapters.processes import Pool, worker_count
from prosa.app.check.gather import Group
from prosa.diagnostics import Diagnostic
from prosa.dialects import DialectName
from prosa.dialects.table import known_dialect
from prosa.rules.analyzer import Analyzer, Workers
from prosa.rules.cache import Stamped
from prosa.rules.engine import Checked, CorpusScope, check
from prosa.rules.files import Grounds, Overlay, RecordingFiles
from prosa.rules.policy import Profile, ordered, specification
from prosa.rules.registry import known_rules
from prosa.source import Files, TextFiles

if TYPE_CHECKING:
    from prosa.adapters.files.result_store import ResultStore
    from prosa.app.check.settled import Settled


_DAY = 24 * 60 * 60


class CheckOptions(Struct, frozen=True):
    """How documents are checked. None leaves the choice to the project and the documents.

    ``select`` and ``ignore`` are rule names and prefixes of codes. ``profile`` names a specification that alone
    decides. ``jobs`` is the number of processes, None one for each processor; ``cache`` stores analyses for the next
    check. Neither of the two changes the findings.
    """

    dialect: DialectName | None = None
    strict: bool | None = None
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    jobs: int | None = 1
    cache: bool = False
    profile: str | None = None


class Checker(Struct, frozen=True):
    """How groups of documents are checked. ``progress`` is called with the number of newly finished documents. Without
    ``hashes`` the sources of findings have no digest, if no store needs it."""

    profile: Profile
    store: ResultStore | MemoryStore | None = None
    workers: Workers | None = None
    progress: Callable[[int], None] | None = None
    hashes: bool = True

    @classmethod
    def of(
        cls,
        options: CheckOptions,
        environ: Mapping[str, str],
        progress: Callable[[int], None] | None = None,
        memory: MemoryStore | None = None,
    ) -> Checker:
        """Return the checker for these options; ``memory`` is used without the cache. Raises `UnknownName`."""
        profile = Profile(
            known_dialect(options.dialect) if options.dialect is not None else None,
            strict=options.strict,
            select=known_rules(options.select),
            ignore=known_rules(options.ignore),
            specification=specification(options.profile) if options.profile is not None else None,
        )
        count = worker_count() if options.jobs is None else options.jobs
        workers = Pool(count, here=True) if count > 1 else None
        return cls(profile, _store(environ) if options.cache else memory, workers, progress)

    def diagnostics(self, groups: Sequence[Group]) -> tuple[Diagnostic, ...]:
        """Return the findings of all groups, in reading order; problems of their settings first."""
        settings = [diagnostic for group in groups for diagnostic in group.project.diagnostics]
        with _uncollected():
            return (*settings, *ordered(diagnostic for group in groups for diagnostic in self._found(group)))

    def _found(self, group: Group) -> Sequence[Diagnostic]:
        """Return the findings of a group, without looking for them where there are none as before."""
        stamps, store = _stamps(group.files, ()), self.store
        if store is None or isinstance(store, MemoryStore) or stamps is None or not _may_settle(group):
            return self.check(group).diagnostics
        from prosa.app.check.settled import Settled  # only here: few commands check whole folders

        settled = Settled(group, self._profile(group), stamps, store)
        if settled.holds():
            store.close()
            if self.progress is not None:
                self.progress(len(group.paths))
            return ()
        grounds = Grounds(RecordingFiles(group.files))
        diagnostics = self.check(group, stamps=settled, grounds=grounds).diagnostics
        if not diagnostics:
            settled.keep(grounds)
        return diagnostics

    def _profile(self, group: Group) -> Profile:
        return replace(self.profile, settings=group.project.settings, root=group.root)

    def check(
        self,
        group: Group,
        *,
        keep: bool = False,
        texts: Mapping[Path, str] | None = None,
        only: Collection[Path] | None = None,
        stamps: Settled | None = None,
        grounds: Grounds | None = None,
    ) -> Checked:
        """Check the documents of a group, with ``texts`` in place of files, or ``only`` some of them. Only with
        ``keep`` the answer holds readings. ``stamps`` has those that are known, ``grounds`` takes down what the
        findings rest on."""
        profile = self._profile(group)
        files: Files = Overlay(texts, group.files) if texts else group.files
        if not (self.hashes or keep or self.store is not None) and isinstance(files, RootedFiles):
            files = replace(files, hashes=False)
        looked = _stamps(group.files, texts or ()) if self.store is not None else None
        analyzer = Analyzer(
            files,
            profile.hints,
            keep,
            datetime.now(UTC),
            store=self.store,
            workers=self.workers,
            progress=self.progress,
            stamps=stamps or looked,
            hinted=profile.hinted,
            read_all=files.read_all if isinstance(files, RootedFiles) else None,
        )
        beside = None if group.whole and only is None else group.beside
        metas = None if group.whole and only is None else group.metas
        sighted = partial(group.sighted, looked) if looked is not None else None
        names = group.file_names, group.listing, group.renames
        scope = CorpusScope(group.root, beside, group.rooted, metas, *names, sighted, grounds=grounds)
        paths = group.paths if only is None else [path for path in group.paths if group.files.real(path) in only]
        try:
            return check(paths, analyzer, profile, scope)
        finally:
            if self.store is not None:
                self.store.close()


_MANY = 100
"""Documents from which on it pays to keep that nothing was found in them."""


def _may_settle(group: Group) -> bool:
    return group.whole and len(group.paths) >= _MANY


@contextmanager
def _uncollected() -> Iterator[None]:
    """Facts of thousands of documents come without cycles: looking for some again and again takes an eighth of the
    time of a warm check."""
    wanted = gc.isenabled()
    if wanted:
        gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


def _stamps(files: Files, texts: Collection[Path]) -> FileStamps | None:
    """Return the stamps of files, but of those that have another text here."""
    if isinstance(files, TextFiles) and isinstance(files.under, RootedFiles):
        return FileStamps(files.under, {*texts, files.real(Path(files.source.path))})
    return FileStamps(files, texts) if isinstance(files, RootedFiles) else None


def _store(environ: Mapping[str, str]) -> ResultStore | None:
    """Return the cache; None where there is no private place for one."""
    from prosa.adapters.files.result_store import ResultStore
    from prosa.adapters.files.stamps import running_mark

    try:
        return ResultStore(cache_dir(environ), running_mark(), int(time.time()) // _DAY)
    except OSError:
        return None


MOST_CHARACTERS = 64_000_000
"""Beyond this size the cache is cleared: rows still needed are added again."""


class MemoryStore(Struct):
    """Meets `prosa.rules.cache.Store`. Several threads may use it at once: what one forgets another makes again."""

    rows: dict[str, str] = {}
    files: dict[str, tuple[Stamped, str]] = {}
    characters: int = 0

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the existing rows."""
        rows = self.rows
        return {key: row for key in keys if (row := rows.get(key)) is not None}

    def put(self, rows: Mapping[str, str]) -> None:
        """Keep rows."""
        self.characters += sum(len(text) - len(self.rows.get(key, "")) for key, text in rows.items())
        if self.characters > MOST_CHARACTERS:
            self.rows, self.files, self.characters = {}, {}, 0
        else:
            self.rows.update(rows)

    def digests(self, stamps: Mapping[str, Stamped]) -> Mapping[str, str]:
        """Return the digests of the files that look as they did when they were hashed, by path."""
        files = self.files
        stored = {path: known for path in stamps if (known := files.get(path)) is not None}
        return {path: digest for path, (stamp, digest) in stored.items() if stamp == stamps[path]}

    def remember(self, digests: Mapping[str, tuple[Stamped, str]]) -> None:
        """Keep the digests of files with their stamps."""
        self.files.update(digests)

    def close(self) -> None:
        """Keep everything: the next check is in the same process."""
