"""The journal of searches for better texts (X25, X41): started, resumed after a kill, and asked how often the same
held-out cases were looked at.

In: records. Out: records with their split, seed and look. A recording takes the place of the store where one is played:
it has seed, split and look of the search that it is of.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import urandom
from pathlib import Path
from secrets import randbelow
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode, encode
from msgspec.json import format as indented
from msgspec.structs import replace

from prosa.adapters.clock import SystemClock
from prosa.adapters.files import write_output
from prosa.adapters.store.improvements import begin, earlier_looks, put, sides_of, take_look, unfinished
from prosa.adapters.store.writer import LATER, host_name, is_alive, writer_of
from prosa.app.journal.place import store_path
from prosa.records.improvement import Improvement, PartName
from prosa.runtime.digest import stamp
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.writer import Writer
    from prosa.app.options import Environment, JournalOptions, RecordingOptions

RECORDING = "improvement.json"
"""The file of a recording that says which search it is of."""

_ID_BYTES = 6
_MOST_SEEDS = 2**31


class Recorded(Struct, frozen=True):
    """What a recording knows of its search: a part, its seed, its split, and the number of its look."""

    part: PartName
    seed: int
    search: tuple[str, ...]
    held_out: tuple[str, ...]
    look: int | None = None


class ImprovementJournal(Struct):
    """Where searches are kept: in the store, or where a recording is played nowhere. ``recorded`` are those of the
    recording, by part; ``folder`` is where one is made."""

    environment: Environment
    writer: Writer | None
    recorded: dict[str, Recorded]
    folder: Path | None = None

    async def sides(self, part: PartName, file: str, cases: Mapping[str, str]) -> Mapping[str, bool]:
        """Return which cases of a file, given with their digests, were held out before, by name."""
        if self.writer is None:
            known = self._known(part)
            return dict.fromkeys(known.search, False) | dict.fromkeys(known.held_out, True)
        return await self.writer.do(lambda connection: sides_of(connection, file, cases))

    async def earlier(self, record: Improvement) -> int:
        """Return how many other searches looked at these held-out cases."""
        if self.writer is None:
            return (self._known(record.part).look or 1) - 1
        return await self.writer.do(lambda connection: earlier_looks(connection, record))

    async def unfinished(self, record: Improvement) -> dict[PartName, Improvement]:
        """Return the searches of the call that broke off and that this one continues, by part. Raises `RunError`
        while another process is at it."""
        if self.writer is None:
            return {}
        improvements = await self.writer.do(lambda connection: unfinished(connection, record))
        for improvement in improvements:
            if improvement.state == "open" and is_alive(self.writer.place, improvement.holder):
                raise RunError(f"search {improvement.id} of {record.subject} is still active in another process")
        if improvements:
            self.environment.notice(
                f"note: this continues search {improvements[0].call}, started {improvements[0].started[:16]}"
            )
        return {improvement.part: improvement for improvement in improvements}

    def seed(self, part: PartName, chosen: int | None) -> int:
        """Return the seed of a search: the chosen one, that of the recording, or a new one."""
        if self.writer is None:
            return self._known(part).seed
        return randbelow(_MOST_SEEDS) if chosen is None else chosen

    async def begin(self, record: Improvement) -> Improvement:
        """Begin a search, or go on with one."""
        record = replace(record, state="open", host=host_name())
        if self.writer is not None:
            writer = self.writer
            await writer.do(begin(record, lambda: writer.holder))
            self._record(record)
        return record

    async def look(self, record: Improvement, begun: str | None) -> Improvement:
        """Return a record with the number of the look that begins now, written down before any held-out case is tried.
        A continued search that chooses another text than the one whose look had ``begun`` has looked twice."""
        if self.writer is None:
            return replace(record, look=self._known(record.part).look or 1)
        if record.look is not None and (record.proposal is None or record.proposal.text != begun):
            await self.put(replace(record, state="done", ending="it continued with other answers"))
            record = await self.begin(replace(record, id=f"{new_call()}.{record.part}", look=None))
        record = replace(record, look=await self.writer.do(take_look(record)))
        self._record(record)
        return record

    async def put(self, record: Improvement) -> None:
        """Write how far a search has come."""
        if self.writer is not None:
            await self.writer.do(put(record))

    def note(self, record: Improvement) -> None:
        """Write the same without waiting for it."""
        if self.writer is not None:
            self.writer.do(put(record), within=LATER)

    def release(self) -> None:
        """Wait until everything is written."""
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.release()

    def _known(self, part: PartName) -> Recorded:
        if part not in self.recorded:
            raise RunError(f"the recording has no search for a better {part}")
        return self.recorded[part]

    def _record(self, record: Improvement) -> None:
        """Write what a replay needs besides the calls."""
        if self.folder is None:
            return
        self.recorded[record.part] = Recorded(record.part, record.seed, record.search, record.held_out, record.look)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_output(self.folder / RECORDING, indented(encode([*self.recorded.values()])).decode() + "\n")


def open_journal(
    options: JournalOptions, recording: RecordingOptions | None, environment: Environment
) -> ImprovementJournal:
    """Open the journal. Raises `RunError` where searches cannot be kept: a look that is not counted proves nothing."""
    folder = recording.record.path if recording is not None and recording.record is not None else None
    if recording is not None and recording.replay is not None:
        return ImprovementJournal(environment, None, _recorded(recording.replay.path / RECORDING), folder)
    if (options.history or environment.settings.history) == "off":
        message = 'looks at held-out cases are counted in the history, and `history = "off"` keeps none'
        raise RunError(message, hint='`history = "summary"` keeps what this needs')
    try:
        writer = writer_of(store_path(options, environment.environ))
    except StoreProblem as problem:
        raise RunError(f"looks at held-out cases could not be counted: {problem.message}", hint=problem.hint) from None
    return ImprovementJournal(environment, writer, {}, folder)


def new_call() -> str:
    """Return the id of a new call."""
    return urandom(_ID_BYTES).hex()


def now() -> str:
    """Return this moment as records have it."""
    return stamp(SystemClock().now())


def _recorded(path: Path) -> dict[str, Recorded]:
    try:
        recordeds = decode(path.read_bytes(), type=list[Recorded])
    except OSError:
        raise RunError(f"{path}: no such file", hint="--record makes a recording of a search") from None
    except (DecodeError, ValidationError) as error:
        raise RunError(f"{path}: this is not a recording of a search: {error}") from None
    return {recorded.part: recorded for recorded in recordeds}
