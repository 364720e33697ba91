"""The skills that may be given away: those of a site that X23 publishes as a whole, or those of a folder that the user
names (X40, SEP-2640).

In: a site, or a folder. Out: skills with the digests of their files, and these as bytes. A skill is one state of its
files: it is read again where they change meanwhile. One with a file that is not published is not published; files that
git ignores, hidden ones and evaluations belong to no skill. Nothing runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct, field

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.read import decode
from prosa.adapters.files.skill_files import SKILL_FILE, skill_file, skill_files
from prosa.app.options import say_nothing
from prosa.app.site.files import is_document, stamp_at
from prosa.corpus.found import Stamp
from prosa.data import Value
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import DialectReading, open_document
from prosa.dialects.skill_md.model import MAX_DESCRIPTION, MAX_NAME
from prosa.site.archive import MOST_BYTES, MOST_FILES, ArchiveProblem, Files, pack, require_files
from prosa.site.skills_index import NAME
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite

TRIES = 3
"""How often a skill is read that changes meanwhile."""

LOOK_SECONDS = 1.0
LOOK_TIMES = 20
"""How long the files of skills are taken as seen: a second, or so many times as long as looking took."""


class SkillProblem(Exception):
    """A skill that is not given away; the message says why."""


class SkillFile(NamedTuple):
    """A file of a skill: its path below the folder, the SHA-256 of its bytes, their number."""

    path: str
    digest: str
    size: int


class PublishedSkill(Struct, frozen=True):
    """A skill in one state. ``folder`` is its path below the root, empty for the root itself; ``front`` its front
    matter as data. ``artifact`` is the digest of the one file that it is fetched as."""

    name: str
    description: str
    folder: str
    front: Mapping[str, Value]
    files: tuple[SkillFile, ...]
    artifact: str

    @property
    def is_archive(self) -> bool:
        """Whether it has more files than its `SKILL.md`."""
        return len(self.files) > 1


class SkillSource(Protocol):
    """Where skills come from."""

    def folders(self) -> Iterator[str]:
        """Yield the folders that may hold a skill, by path below the root."""
        ...

    def stamps(self, folder: str) -> Mapping[str, Stamp | None]:
        """Return the files of a skill by their paths below its folder, `SKILL.md` among them. Raises `SkillProblem`."""
        ...

    def data(self, folder: str, path: str) -> bytes:
        """Return the bytes of a file. Raises `SkillProblem`, `FileProblem`."""
        ...

    def reading(self, folder: str, data: bytes) -> DialectReading[object]:
        """Return the `SKILL.md` that the bytes are."""
        ...


class SiteSkills(Struct, frozen=True):
    """The skills of a site."""

    site: LiveSite

    def folders(self) -> Iterator[str]:
        """Yield the folders of published `SKILL.md` files."""
        yield from self.site.index.catalogue.skills

    def stamps(self, folder: str) -> Mapping[str, Stamp | None]:
        """Return the files that git does not ignore and nobody hides. Raises `SkillProblem` for a document among them
        that is not published."""
        stamps: dict[str, Stamp | None] = {}
        for path in (SKILL_FILE, *skill_files(self.site.root / folder)):
            below = _below(folder, path)
            place = self.site.files.place(below)
            if place is not None:
                known = self.site.index.catalogue.by_path
                if is_document(below) and below not in known and not self.site.has(below):
                    raise SkillProblem(f"{path} is not published")
                stamps[path] = place.stamp
        return stamps

    def data(self, folder: str, path: str) -> bytes:
        """Return the bytes of a file, a document only as it is published."""
        below = _below(folder, path)
        data = self.site.files.read(below, MOST_BYTES)[1]
        if is_document(below):
            source = self.site.source(below)
            if source is None:
                raise SkillProblem(f"{path} is not published")
            if source.digest != sha256(data).hexdigest():
                raise _Changed
        return data

    def reading(self, folder: str, data: bytes) -> DialectReading[object]:
        """Return the reading."""
        return _read(self.site.root / folder, data)


class FolderSkills(Struct, frozen=True):
    """The skills of a folder that the user names: itself, or the folders in it."""

    root: Path

    def folders(self) -> Iterator[str]:
        """Yield the folders with a `SKILL.md`."""
        if (self.root / SKILL_FILE).is_file():
            yield ""
            return
        yield from sorted(path.name for path in self.root.iterdir() if (path / SKILL_FILE).is_file())

    def stamps(self, folder: str) -> Mapping[str, Stamp | None]:
        """Return the files below the folder."""
        place = self.root / folder
        return {path: stamp_at(str(place / path)) for path in (SKILL_FILE, *skill_files(place))}

    def data(self, folder: str, path: str) -> bytes:
        """Return the bytes of a file; a link out of the skill is refused."""
        place = self.root / folder
        return RootedFiles(place.resolve(), MOST_BYTES).data(place.resolve() / path)

    def reading(self, folder: str, data: bytes) -> DialectReading[object]:
        """Return the reading."""
        return _read(self.root / folder, data)


class _Changed(Exception):
    """The files are not those that were seen before."""


class _Seen(NamedTuple):
    """A skill as it was last read, or None with the reason why it is not given away."""

    stamps: Mapping[str, Stamp | None]
    skill: PublishedSkill | None
    reason: str


class Skills(Struct):
    """The skills of a source; each is read again when its files change. Safe to use from several threads."""

    source: SkillSource
    notice: Callable[[str], None] = say_nothing
    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _all: tuple[PublishedSkill, ...] = ()
    _until: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)
    _told: set[tuple[str, str]] = field(default_factory=set)

    def all(self) -> tuple[PublishedSkill, ...]:
        """Return every skill by name, each name once: of several the first by path."""
        with self._lock:
            began = self.clock()
            if began >= self._until:
                self._all = self._look()
                ended = self.clock()
                self._until = ended + max(LOOK_SECONDS, LOOK_TIMES * (ended - began))
            return self._all

    def named(self, name: str) -> PublishedSkill | None:
        """Return the skill of a name."""
        return next((skill for skill in self.all() if skill.name == name), None)

    def current(self, name: str) -> PublishedSkill | None:
        """Return the skill of a name in its present state; None where there is none (any more)."""
        known = self.named(name)
        if known is None:
            return None
        with self._lock:
            seen = self._seen[known.folder] = self._skill(known.folder)
            if seen.skill is not known:
                self._until = float("-inf")
            return seen.skill if seen.skill is not None and seen.skill.name == name else None

    def each(self) -> Iterator[tuple[PublishedSkill, bytes]]:
        """Yield every skill with its artifact, both of one state of its files."""
        for known in self.all():
            try:
                skill, files = read_skill(self.source, known.folder)
                yield skill, artifact(skill, files)
            except (SkillProblem, FileProblem, ArchiveProblem) as problem:
                self._tell(known.folder, str(problem))

    def artifact(self, name: str) -> bytes | None:
        """Return what a skill is fetched as, in its present state; None where it is not given away (any more)."""
        known = self.current(name)
        if known is None:
            return None
        try:
            skill, files = read_skill(self.source, known.folder)
        except (SkillProblem, FileProblem, ArchiveProblem):
            return None
        return artifact(skill, files) if skill.name == name else None

    def file(self, skill: PublishedSkill, path: str) -> bytes | None:
        """Return the present bytes of a file of a skill; None where there is none."""
        if all(file.path != path for file in skill.files):
            return None
        try:
            if path not in self.source.stamps(skill.folder):
                return None
            return self.source.data(skill.folder, path)
        except (SkillProblem, FileProblem, _Changed):
            return None

    def _look(self) -> tuple[PublishedSkill, ...]:
        folders = list(self.source.folders())
        seen = {folder: self._skill(folder) for folder in folders}
        self._seen = seen
        skills: dict[str, PublishedSkill] = {}
        for folder, entry in seen.items():
            if entry.skill is None:
                self._tell(folder, entry.reason)
            elif entry.skill.name in skills:
                self._tell(folder, f"{skills[entry.skill.name].folder or '.'!r} has its name, {entry.skill.name!r}")
            else:
                skills[entry.skill.name] = entry.skill
        return tuple(sorted(skills.values(), key=lambda skill: skill.name))

    def _skill(self, folder: str) -> _Seen:
        known = self._seen.get(folder)
        stamps: Mapping[str, Stamp | None] = {}
        try:
            stamps = self.source.stamps(folder)
            if known is not None and known.stamps == stamps:
                return known
            return _Seen(stamps, read_skill(self.source, folder, stamps)[0], "")
        except (SkillProblem, FileProblem, ArchiveProblem) as problem:
            reason = problem.reason if isinstance(problem, FileProblem) else str(problem)
            return _Seen(stamps, None, reason)

    def _tell(self, folder: str, reason: str) -> None:
        if (folder, reason) not in self._told:
            self._told.add((folder, reason))
            self.notice(f"warning: the skill in {folder or '.'!r} is not among the published ones: {reason}")


def read_skill(
    source: SkillSource, folder: str, seen: Mapping[str, Stamp | None] | None = None
) -> tuple[PublishedSkill, Files]:
    """Return a skill and its files in one state; ``seen`` are the files as they were a moment ago. Raises
    `SkillProblem`, `FileProblem`, `ArchiveProblem`."""
    stamps = source.stamps(folder) if seen is None else seen
    for _ in range(TRIES):
        _require_size(stamps)
        try:
            files = [(path, source.data(folder, path)) for path in sorted(stamps)]
        except _Changed:
            files = []
        before, stamps = stamps, source.stamps(folder)
        if files and before == stamps:
            return _skill_of(source, folder, files), files
    raise SkillProblem("it changes while it is read")


def _require_size(stamps: Mapping[str, Stamp | None]) -> None:
    require_files(stamps)
    total = sum(stamp.size for stamp in stamps.values() if stamp is not None)
    if len(stamps) > MOST_FILES or total > MOST_BYTES:
        raise SkillProblem(f"it has more than {MOST_FILES} files, or more than {MOST_BYTES // 2**20} MiB")


def _skill_of(source: SkillSource, folder: str, files: Files) -> PublishedSkill:
    reading = source.reading(folder, dict(files)[SKILL_FILE])
    front = reading.front.value or {}
    name, description = (front.get(key) for key in ("name", "description"))
    if not isinstance(name, str) or len(name) > MAX_NAME or not NAME.fullmatch(name):
        raise SkillProblem("its name must be 1 to 64 small letters a to z, digits and single hyphens")
    if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION:
        raise SkillProblem(f"its description must have 1 to {MAX_DESCRIPTION:,} characters")
    listed = tuple(SkillFile(path, sha256(data).hexdigest(), len(data)) for path, data in files)
    whole = listed[0].digest if len(files) == 1 else sha256(pack(files)).hexdigest()
    return PublishedSkill(name, description, folder, front, listed, whole)


def artifact(skill: PublishedSkill, files: Files) -> bytes:
    """Return the one file that a skill is fetched as: its `SKILL.md`, or an archive where it has more."""
    return pack(files) if skill.is_archive else files[0][1]


def _read(folder: Path, data: bytes) -> DialectReading[object]:
    place = skill_file(folder)
    source = SourceText(decode(place, data), str(place), sha256(data).hexdigest())
    return open_document(source, Hints(explicit="skill_md"))


def _below(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path
