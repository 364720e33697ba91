"""Recordings as files (X27): which one is played, where one is written, what may be recorded.

In: what the user chose, the name of a program, the digest of its input. Out: a `Player`; a `Recorder` with the `Target`
that it fills. A recording is written whole or not at all, and never over something else or over one that was changed
meanwhile. Whatever can be refused is refused before a model is asked.
"""

from __future__ import annotations

import glob
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

import prosa
from prosa.adapters.files import RootedFiles, replace_file
from prosa.adapters.files.near import nearest_file
from prosa.app.options import DEFAULT_MODEL, Environment, Options, Record, RecordingOptions, Replay
from prosa.data import Value
from prosa.dialects.ymj.trace import Unreadable
from prosa.records.recording import (
    Recording,
    Stamp,
    given_digest,
    is_untouched,
    read_recording,
    recording_index,
    recording_name,
    recording_text,
)
from prosa.records.replay import Mark, Player, Recorder, marked, redacted
from prosa.regex import regex
from prosa.runtime.digest import closure_digests, digest_of
from prosa.runtime.errors import CassetteProblem
from prosa.runtime.program import Program, reachable
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.records.summary import Tally

SUFFIX = ".ymj"
MAX_CASSETTE = 256 * 1024 * 1024
"""Bytes of a recording, and of one value beside it."""

MAX_FILES = 10_000
"""Recordings of a folder that are looked through where none has the expected name."""

MAX_NAMED = 5
"""Recordings that a message names."""


def open_recordings(
    chosen: RecordingOptions,
    program: Program,
    input_value: Value,
    options: Options,
    environment: Environment,
    take: int,
) -> tuple[Player | None, Recorder | None, Target | None]:
    """Return what plays and what records a run of ``program``, and where to. Raises `CassetteProblem` and
    `FileProblem`."""
    record, replay = chosen.record, chosen.replay
    digest = given_digest(program, input_value)
    default = options.default_model or environment.settings.model_name or DEFAULT_MODEL
    if record is not None and record.once and replay is not None:
        known = _known(replay, program.name, digest, replay.take + take - 1)
        record, replay = (record, None) if known is None else (None, replay)
    player = recorder = target = None
    if replay is not None:
        path = _find(replay, program, digest, replay.take + take - 1)
        played = Recording(program.name, digest) if path is None else _of(path, program.name)
        live = replay.new == "live", replay.tools == "live"
        player = Player(played, str(path or replay.path), replay.match, *live, default, environment.notice)
    if record is not None:
        _require_recordable(program, record)
        target = Target.of(record, program.name, digest, take)
        earlier = None if player is None else player.recording
        model = options.model_name or (None if earlier is None else earlier.chosen_model)
        about = Recording(program.name, digest, chosen_model=model, default_model=default)
        recorder = Recorder(about, earlier)
    return player, recorder, target


# Playing: which file is meant.


def _of(path: Path, program: str) -> Recording:
    recording = load_recording(path)
    if recording.program != program:
        message = f"{path} is a recording of `{recording.program}`, not of `{program}`"
        raise CassetteProblem(message, hint="name the recording of this program, or the folder that it is in")
    return recording


def load_recording(path: Path) -> Recording:
    """Return the recording of a file. Raises `CassetteProblem`, and `FileProblem` for a file that cannot be read."""
    return read_recording(_read(path), _Beside(path).text)


def _find(replay: Replay, program: Program, digest: str, take: int) -> Path | None:
    """Return the file to play; None where there is none, and what is not recorded is asked for. Raises
    `CassetteProblem`."""
    source, name = replay.path, program.name
    if (path := _known(replay, name, digest, take)) is not None or replay.new == "live":
        return path
    if not source.exists():
        near = nearest_file(source)
        hint = f"did you mean {near}?" if near else "record the run first: --record DIR"
        raise CassetteProblem(f"{source} does not exist", hint=hint)
    known = _recordings(source, name) if take == 1 else []
    if len(known) == 1 and program.input_schema is True:
        return known[0][0]  # of a chat or a script, whose text is its input: the run tells where it differs
    which = f"with this input (number {take})" if take > 1 else "with this input"
    others = f"; with other inputs: {_named(known)}" if known else ""
    hint = f"record it: --record {source}" + ("; or compare with one of them: --replay FILE" if known else "")
    raise CassetteProblem(f"{source} has no recording of `{name}` {which}{others}", hint=hint)


def _known(replay: Replay, program: str, digest: str, take: int) -> Path | None:
    """Return the file of this program and input. Raises `CassetteProblem` where it could be one of several."""
    source = replay.path
    if not source.is_dir():
        return source if source.exists() else None
    expected = source / f"{recording_name(program, digest, take)}{SUFFIX}"
    if expected.exists():
        return expected
    same = [recording for recording in _recordings(source, program) if recording[1] == digest] if take == 1 else []
    if len(same) > 1:
        message = f"{source} has several recordings of `{program}` with this input: {_named(same)}"
        raise CassetteProblem(message, hint="name the file: --replay FILE")
    return same[0][0] if same else None


def _named(known: list[tuple[Path, str]]) -> str:
    names = ", ".join(path.name for path, _ in known[:MAX_NAMED])
    return f"{names} and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else names


def _recordings(folder: Path, program: str) -> list[tuple[Path, str]]:
    """Return the recordings of a program in a folder, with the digests of their inputs."""
    indexes = ((path, _index(path)) for path in sorted(folder.glob(f"*{SUFFIX}"))[:MAX_FILES])
    return [(path, str(index.get("input"))) for path, index in indexes if str(index.get("program")) == program]


def _index(path: Path) -> dict[str, Value]:
    try:
        return recording_index(_read(path).text) or {}
    except FileProblem:
        return {}


def _read(path: Path) -> SourceText:
    return RootedFiles(max_size=MAX_CASSETTE).read(path)


_BESIDE = regex(r"[^/\\]+\.(?P<digest>[0-9a-f]{12})\.(?:txt|json)")


class _Beside:
    """The long values beside a recording, which may be a stranger's: they are regular files of its folder, and
    together no larger than one may be."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._left = MAX_CASSETTE

    def text(self, name: str) -> str:
        """Return the text of a long value, if it is what was recorded. Raises `Unreadable`."""
        match = _BESIDE.fullmatch(name)
        if match is None:
            raise Unreadable(f"`{name[:80]}` names no file beside it")
        try:
            data = RootedFiles(self._source.parent, self._left).data(self._source.with_name(name))
        except FileProblem as problem:
            raise Unreadable(f"{name}, which belongs to it, {_reason(problem)}") from None
        self._left -= len(data)
        if not hashlib.sha256(data).hexdigest().startswith(match["digest"]):
            raise Unreadable(f"{name}, which belongs to it, was changed after it was recorded")
        return data.decode("utf-8", "surrogatepass")


def _reason(problem: FileProblem) -> str:
    """Return why a long value cannot be read, for those who cannot choose another limit or root."""
    if problem.kind == "outside-root":
        return "is a link that leads out of its folder"
    if problem.kind == "too-large":
        return f"is too large: all such files may have {MAX_CASSETTE:,} bytes together"
    return f"cannot be read: {problem.reason}"


# Recording: where it goes, and what may not be recorded.


class Target(Struct, frozen=True):
    """The file of a recording, and the digest of what is there, empty for nothing; ``redact`` as in `Record`."""

    path: Path
    before: str
    redact: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Record, program: str, digest: str, take: int) -> Target:
        """Return the file in a folder that is there, made if need be. Raises `CassetteProblem`."""
        folder = record.path
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = "a file is already there" if folder.exists() else error.strerror or str(error)
            raise CassetteProblem(f"nothing can be recorded in {folder}: {reason}") from None
        if not os.access(folder, os.W_OK):
            raise CassetteProblem(f"nothing can be recorded in {folder}: it is write-protected")
        path = folder / f"{recording_name(program, digest, record.take + take - 1)}{SUFFIX}"
        if not path.exists():
            return cls(path, "", record.patterns)
        source = _read(path)
        _require_same(source, program, digest)
        return cls(path, source.digest, record.patterns)

    def write(
        self, recording: Recording, program: Program, tally: Tally, run: str, error: str | None
    ) -> CassetteProblem | None:
        """Write the recording and return why that could not be. A run in which nothing was asked leaves nothing."""
        if not recording.replies:
            return None
        stamp = self._stamp(program, tally, run, error)
        if self.redact:
            mark = mark_of(self.redact)
            recording = redacted(recording, mark)
            stamp = stamp if error is None else replace(stamp, error=mark(error))
        try:
            write_recording(self.path, recording, stamp, before=self.before)
        except (OSError, FileProblem) as problem:
            return CassetteProblem(f"the recording was not written: {problem}", hint="record into another folder")
        return None

    def _stamp(self, program: Program, tally: Tally, run: str, error: str | None) -> Stamp:
        cost = tally.summary(error).total_cost
        return Stamp(
            created=tally.clock.now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            run_id=run or uuid4().hex,
            source=program.file or program.name,
            tool=f"prosa {prosa.__version__}",
            revision=f"sha256:{digest_of(closure_digests(program))}",
            stem=self.path.stem,
            error=error,
            cost=None if cost is None else float(cost),
            classification="confidential" if any(reached.classified for reached in reachable(program)) else "internal",
        )


def write_recording(
    path: Path, recording: Recording, stamp: Stamp, *, before: str | None = None, private: bool = True
) -> None:
    """Write the long values, then the recording, then remove long values of an earlier one; ``before`` and ``private``
    are as in `replace_file`. Raises OSError and `FileProblem`."""
    written = recording_text(recording, stamp)
    for name, data in written.files.items():
        replace_file(path.with_name(name), data, private=private)
    replace_file(path, written.text, expect_digest=before, private=private)
    for file in path.parent.glob(f"{glob.escape(path.stem)}.*"):
        if file.name not in written.files and _BESIDE.fullmatch(file.name):
            file.unlink(missing_ok=True)


def _require_same(source: SourceText, program: str, digest: str) -> None:
    """Raise `CassetteProblem` where what stands in the place of a recording is something else, or was edited."""
    index = recording_index(source.text)
    hint = "move it away, or record into another folder"
    if index is None:
        raise CassetteProblem(f"{source.path} is not a recording, and is not written over", hint=hint)
    if (index.get("program"), index.get("input")) != (program, digest):
        raise CassetteProblem(f"{source.path} is the recording of another run, and is not written over", hint=hint)
    if not is_untouched(source.text):
        message = f"{source.path} was edited after it was recorded, and is not written over"
        raise CassetteProblem(message, hint="move it away; if the edit was meant: prosa fmt --rehash")


def _require_recordable(program: Program, record: Record) -> None:
    """X25: what is confidential is on no disk unless the user says so."""
    classified = next((reached for reached in reachable(program) if reached.classified), None)
    if classified is not None and not record.patterns and not record.force:
        message = f"`{classified.name}` is confidential or secret, and is not recorded as it is"
        raise CassetteProblem(message, hint="take secrets out with --redact PATTERN, or say --force")
    if record.patterns:
        mark_of(record.patterns)


def mark_of(patterns: tuple[str, ...]) -> Mark:
    """Return what marks the secrets that patterns (RE2) find. Raises `CassetteProblem` for a pattern that is none."""
    import re2  # only here: few runs are redacted

    quiet = re2.Options()
    quiet.log_errors = False

    for pattern in patterns:
        try:
            compiled = re2.compile(pattern, quiet)
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error
            raise CassetteProblem(f"--redact {pattern[:80]!r} is not a pattern (RE2): {reason}") from None
        if compiled.search("") is not None:
            raise CassetteProblem(
                f"--redact {pattern[:80]!r} finds nothing at all everywhere: it matches an empty text"
            )
    together = re2.compile("|".join(f"(?:{pattern})" for pattern in patterns), quiet)

    def mark(text: str) -> str:
        return str(together.sub(lambda match: marked(match.group(0)), text))

    return mark
