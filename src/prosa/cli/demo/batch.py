"""The part of the tour with a batch: many rows, a process that is killed half-way, and another that continues.

Without a real model a small server of the tour answers, which says so. The first process is killed from outside, as by
a laptop that is closed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.cli.console import Console
from prosa.cli.demo.corpus import FOLDER
from prosa.cli.demo.stage import folded, show_page
from prosa.data import Plain, Value

if TYPE_CHECKING:
    from prosa.app.evals.reports import Subject

BATCH = """\
6. A program that works is run over many rows. Here are a hundred; the model of
   this tour answers, a SCRIPTED one, and it KILLS the first process at the
   fiftieth call. The same command resumes: answered calls are not repeated.
"""

LETTERS = """\
6. A program that works is run over many rows. Here are twelve letters for the
   real model; the first process is KILLED when half of them are done. The same
   command resumes: answered calls are not repeated.
"""

PROGRAM, LETTER = "classify-change.md", "letter.md"
ROWS, KILLED_AT, AT_ONCE = 100, 50, 8
LONGEST = 120
STORE = "store.sqlite"
ANSWER = {"kind": "fix", "sentence": "Something that did not work does now."}
PAID = "Ada 12, Bo 7, Carmen 250, David 31, Eva 18, Farid 64, Greta 9, Hugo 140, Ines 22, Jonas 85, Kim 47, Lena 300"
"""Who paid what, in the letters of the tour."""


def tour_batch(console: Console) -> int:
    """Walk through it with a scripted model. The exit status of the last step."""
    console = folded(console)
    console.err(BATCH)
    rows = [{"commit": f"fix: ferry {number} left twice"} for number in range(ROWS)]
    with TemporaryDirectory() as name, _model() as model:
        folder, words = Path(name), (PROGRAM, model.url, str(AT_ONCE))
        command = f"$ prosa batch {PROGRAM} --rows rows.jsonl --concurrency {AT_ONCE} --output found.jsonl"
        _write(folder, rows)
        console.err(command)
        model.ready.clear()
        child = _started(folder, *words)
        model.victim = child
        model.ready.set()
        _end(child)
        console.err(f"killed at call {KILLED_AT}\n\n{command}")
        model.victim = None
        ending = _end(_started(folder, *words))
        results = _found(folder)
        asked = f"the model was asked {model.asked} times, so {model.asked - ROWS} calls were under way"
        console.err(f"{ending}{len(results)} results; {asked}\n")
        show_page(console, _batch_in(folder), "batch.html")
    return 0 if len(results) == ROWS else 1


def tour_letters(console: Console) -> int:
    """Walk through it with the real model. The exit status of the last step."""
    console = folded(console)
    console.err(LETTERS)
    paid = [{"name": name, "euros": int(euros)} for name, euros in map(str.split, PAID.split(", "))]
    rows = [{"letter": "I am {name} and I paid {euros} euros.".format_map(payment)} for payment in paid]
    command = f"$ prosa batch {LETTER} --rows rows.jsonl --model embedded --concurrency 2 --output found.jsonl"
    with TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, rows)
        console.err(command)
        child = _started(folder, LETTER, "", "2")
        assert child.stdout is not None
        for _ in zip(range(len(rows) // 2), child.stdout, strict=False):
            pass
        child.kill()
        _end(child)
        console.err(f"killed after {len(rows) // 2} rows\n\n{command}")
        ending = _end(_started(folder, LETTER, "", "2"))
        results = _found(folder)
        batch = _batch_in(folder)
    right = sum(result["output"] == wanted for result, wanted in zip(results, paid, strict=False))
    console.err(f"{ending}{len(results)} results, {right} of them right\n")
    show_page(console, batch, "batch.html")
    return 0 if len(results) == len(rows) else 1


def _write(folder: Path, rows: Sequence[Plain]) -> None:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _batch_in(folder: Path) -> Subject:
    """Return the batch that was run, from its store."""
    from prosa.app.batch.control import batch_list
    from prosa.app.evals.reports import stored_subject

    store = folder / STORE
    (status,) = batch_list(store)
    return stored_subject(store, status.batch.id)


def _found(folder: Path) -> list[Mapping[str, Value]]:
    return [json.loads(line) for line in (folder / "found.jsonl").read_text(encoding="utf-8").splitlines()]


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
                return  # the client was killed

        def log_message(self, *_: object) -> None:
            """Discard the message."""

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


def _started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Return one process at the batch."""
    command = [sys.executable, "-m", "prosa.cli.demo.batch", str(folder), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def _end(child: subprocess.Popen[str]) -> str:
    """Return what a process said, once it has ended."""
    try:
        return child.communicate(timeout=LONGEST)[1]
    finally:
        child.kill()


def main(folder: Path, name: str, url: str, at_once: str) -> int:
    """Run a batch of a shipped program, without the agreement that others need; without ``url`` with the real model. A
    line on stdout for each row that is done."""
    import os

    from prosa.app.batch.control import write_results
    from prosa.app.batch.inputs import RowMapping, rows_of
    from prosa.app.batch.prepare import BatchOptions, prepare
    from prosa.app.batch.shared import begin_batch
    from prosa.app.options import Environment, JournalOptions, Options
    from prosa.app.run.load import ready_program
    from prosa.render.batch import counts_words
    from prosa.settings import Settings

    store = folder / STORE
    asked = Options(base_url=url, api_key="none") if url else Options(model="embedded")
    options = replace(asked, root=FOLDER, journal=JournalOptions("batch", store), shipped=True)
    environment = Environment(os.environ, Settings())
    program = ready_program(FOLDER / name, options, environment)
    rows = rows_of(str(folder / "rows.jsonl"), "", store=store, read=sys.stdin.buffer.read)
    prepared = prepare(program, rows, RowMapping(), BatchOptions(at_once=int(at_once)), options, environment)
    end = asyncio.run(begin_batch(prepared, on_row=lambda row: print(row.row, flush=True)))
    write_results(end.store, end.batch, folder / "found.jsonl", expected="")
    print(counts_words(end.counts), file=sys.stderr)
    return 0 if end.ok else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
