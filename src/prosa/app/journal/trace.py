"""A run of the history as a recording, which can be read, checked and played like one that was made at once (X27).

In: a run with its calls, of which everything was kept. Out: a file in a folder, never over another one. How often an
attempt failed before an answer came is not in the history, and so not in the recording.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import prosa
from prosa.app.journal.stored import decoded
from prosa.app.run.recordings import SUFFIX, write_recording
from prosa.records.recording import (
    RecordedError,
    RecordedReply,
    RecordedResult,
    Recording,
    Stamp,
    given_digest,
    request_data,
)
from prosa.records.requests import requests_of
from prosa.records.run import CallRecord, RunRecord
from prosa.runtime.digest import digest_of
from prosa.runtime.errors import CassetteProblem
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import ToolResult
from prosa.runtime.program import Program
from prosa.template import Template

if TYPE_CHECKING:
    from prosa.app.journal.history import RunWithCalls


def write_trace(kept: RunWithCalls, folder: Path) -> Path:
    """Write a run as a recording into a folder, and give its path. Raises `CassetteProblem` where only a summary is
    left of it, and where a file stands there already."""
    run = kept.run
    requests = dict(requests_of(kept.calls))
    if run.input is None or not requests:
        hint = 'set `history = "full"` in your settings, and run it again; or use --record'
        raise CassetteProblem(f"of run {run.id} only a summary was kept", hint=hint)
    recording = _recording(run, kept.calls, requests)
    path = folder / f"{recording.name}{SUFFIX}"
    if path.exists():
        raise CassetteProblem(f"{path} is there already", hint="name another folder: --trace DIR")
    folder.mkdir(parents=True, exist_ok=True)
    write_recording(path, recording, _stamp(run, path), private=False)
    return path


def _recording(run: RunRecord, calls: Sequence[CallRecord], requests: Mapping[str, ModelRequest]) -> Recording:
    messages = requests["1"].messages if run.door == "chat" and "1" in requests else ()
    asked = Program(run.program, "", Template(""), True, True, run.model, conversation=messages)
    models = {request.model_name for request in requests.values()}
    return Recording(
        program=run.program,
        given=given_digest(asked, json.loads(run.input or "null")),
        replies={path: _reply(call, requests[path]) for call in calls if (path := call.path) in requests},
        results={call.path: _result(call) for call in calls if call.kind != "model" and call.state == "answered"},
        chosen_model=models.pop() if len(models) == 1 else None,
    )


def _reply(call: CallRecord, request: ModelRequest) -> RecordedReply:
    if call.reply is None:
        return RecordedReply(request_data(request), None, RecordedError("ProviderError", call.error or "no answer"))
    return RecordedReply(request_data(request), decoded(call.reply, ModelReply))


def _result(call: CallRecord) -> RecordedResult:
    result = None if call.reply is None else decoded(call.reply, ToolResult)
    return RecordedResult(call.name, call.kind, json.loads(call.request or "{}"), result)  # type: ignore[arg-type]


def _stamp(run: RunRecord, path: Path) -> Stamp:
    return Stamp(
        created=f"{run.started[:19]}Z",
        run_id=run.id,
        source=Path(run.file).name or run.program,
        tool=f"prosa {prosa.__version__}",
        revision=f"sha256:{digest_of([tuple(load) for load in json.loads(run.closure)])}",
        stem=path.stem,
        error=run.error,
        cost=run.cost,
    )
