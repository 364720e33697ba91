"""The part of the tour with a batch: a hundred rows, a process that is killed half-way, and another that goes on.

The model is a small server of the tour itself, which says so; it kills the first process from outside, as a laptop that
is closed would.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread

from prosa.cli.console import Console
from prosa.cli.demo.corpus import FOLDER
from prosa.cli.demo.stage import folded

BATCH = """\
6. A program that works is run over many rows. Here are a hundred; a model of
   this tour answers, and it KILLS the first process at the fiftieth call. The
   same command again goes on: what was answered is not asked again.
"""

PROGRAM = "classify-change.md"
ROWS, KILLED_AT, AT_ONCE = 100, 50, 8
LONGEST = 120
ANSWER = {"kind": "fix", "sentence": "Something that did not work does now."}


def tour_batch(console: Console) -> int:
    """Walk through it. The exit status of the last step."""
    console = folded(console)
    console.err(BATCH)
    with TemporaryDirectory() as name, _model() as model:
        folder = Path(name)
        lines = (json.dumps({"commit": f"fix: ferry {number} left twice"}) for number in range(ROWS))
        (folder / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = f"$ prosa batch {PROGRAM} --rows rows.jsonl --concurrency {AT_ONCE} --output fixes.jsonl"
        console.err(command)
        _run(model, folder, kill=True)
        console.err(f"killed at call {KILLED_AT}\n\n{command}")
        said = _run(model, folder, kill=False)
        done = len((folder / "fixes.jsonl").read_text(encoding="utf-8").splitlines())
    again = model.asked - ROWS
    console.err(f"{said}{done} results; the model was asked {model.asked} times, so {again} calls were under way\n")
    return 0 if done == ROWS else 1


class _Model:
    """Answers every request alike; kills ``victim`` when it was asked so often."""

    def __init__(self) -> None:
        self.asked, self.url = 0, ""
        self.victim: subprocess.Popen[str] | None = None
        self.ready, self.lock = Event(), Lock()

    def answer(self) -> bytes:
        """Return the reply to one request."""
        self.ready.wait(LONGEST)
        with self.lock:
            self.asked += 1
            if self.asked == KILLED_AT and self.victim is not None:
                self.victim.kill()
        message = {"role": "assistant", "content": json.dumps(ANSWER)}
        usage = {"prompt_tokens": 60, "completion_tokens": 15, "total_tokens": 75}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


@contextmanager
def _model() -> Iterator[_Model]:
    """Return the server of the tour's model on this machine, as long as the block."""
    model = _Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            data = model.answer()
            try:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                return  # whoever asked was killed

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(LONGEST)


def _run(model: _Model, folder: Path, *, kill: bool) -> str:
    """Return one process at the batch; what it said."""
    model.ready.clear()
    words = [sys.executable, "-m", "prosa.cli.demo.batch", str(folder), model.url]
    child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    model.victim = child if kill else None
    model.ready.set()
    try:
        return child.communicate(timeout=LONGEST)[1]
    finally:
        child.kill()


def main(folder: Path, url: str) -> int:
    """Return the command of the tour for its shipped program, without the agreement that others need."""
    import os

    from prosa.app.batch.inputs import RowMapping
    from prosa.app.batch.prepare import BatchOptions, prepare
    from prosa.app.batch.results import write_results
    from prosa.app.batch.rows import rows_of
    from prosa.app.batch.shared import begin_batch
    from prosa.app.options import Environment, JournalOptions, Options
    from prosa.app.run.load import ready_program
    from prosa.render.batch import counts_words
    from prosa.settings import Settings

    store = folder / "store.sqlite"
    options = Options(base_url=url, api_key="none", root=FOLDER, journal=JournalOptions("batch", store), shipped=True)
    environment = Environment(os.environ, Settings())
    program = ready_program(FOLDER / PROGRAM, options, environment)
    rows = rows_of(str(folder / "rows.jsonl"), "", store=store, read=sys.stdin.buffer.read)
    prepared = prepare(program, rows, RowMapping(), BatchOptions(at_once=AT_ONCE), options, environment)
    end = asyncio.run(begin_batch(prepared))
    write_results(end.store, end.batch, folder / "fixes.jsonl", expected="")
    print(counts_words(end.counts), file=sys.stderr)
    return 0 if end.ok else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
