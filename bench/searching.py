"""Search over the Model Context Protocol: two servers over standard input and output, asked in turn by one client.

Both find an index that is up to date. A search asks for ten hits of a word that stands in one of a hundred sections.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Timer

from bench.index_answers import MEDIUM
from bench.measure import Failed, Row, end_group, process, python
from bench.mixed_corpus import SEED, write_corpus
from bench.peers import corpora
from bench.peers import find as peers

COUNT, SEARCHES, ROUNDS = 1_000, 50, 3
PATIENCE = 120.0
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Silent(SystemExit):
    """A server that ended, hung, or did not answer as it should."""


class Server:
    """A server as a client meets it: a message a line."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child
        self.number = 0

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Return the result of a request; what the server says meanwhile is passed over. Raises `Silent`."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.child.stdout is not None
        while line := self.child.stdout.readline():
            try:
                said = json.loads(line)
            except ValueError:
                raise Silent("said something that is no message") from None
            if isinstance(said, dict) and said.get("id") == self.number:
                if not isinstance(said.get("result"), dict) or said["result"].get("isError"):
                    raise Silent("refused a request")
                return said["result"]
        raise Silent("ended or said nothing")

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message. Raises `Silent`."""
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.child.stdin.flush()
        except OSError:
            raise Silent("ended or said nothing") from None

    def search(self, words: str) -> None:
        """Ask for ten hits. Raises `Silent`."""
        self.ask("tools/call", {"name": "search", "arguments": {"query": words, "limit": 10}})


def rows(count: int = COUNT, searches: int = SEARCHES, rounds: int = ROUNDS) -> Iterator[Row]:
    """Yield the table."""
    vault = corpora.find_vault()
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        place = Path(name).resolve()
        write_corpus(place / "documents", count, SEED, rare=True)
        (place / "documents" / "prosa.toml").touch()
        environ = dict(os.environ) | {"PROSA_CACHE_DIR": str(place / "cache"), "HOME": name}
        (place / "cache").mkdir(mode=0o700)
        process(python("-m", "prosa", "index", "."), environ, folder=place / "documents")
        own = python("-m", "prosa", "mcp", ".", "--quiet")
        ours = [_asked(own, environ, place / "documents", searches)]
        theirs = _theirs(vault, place, environ, searches, rounds, ours, own)
    began, found = (median(each) for each in zip(*ours, strict=True))
    base = [median(each) for each in zip(*theirs, strict=True)] if theirs else [None, None]
    yield Row(f"{count:,} documents, start to the first search", began, "ms", vault.title, base[0])
    yield Row(f"{count:,} documents, a search for a medium word", found, "ms", vault.title, base[1])


def _theirs(
    vault: peers.Peer,
    place: Path,
    environ: Mapping[str, str],
    searches: int,
    rounds: int,
    ours: list[tuple[float, float]],
    own: Sequence[str],
) -> list[tuple[float, float]]:
    """Return what the other server takes, and extend what ours takes, in turn; nothing where the other one fails."""
    file, documents = place / "vault.sqlite", place / "documents"
    around = {**environ, "MARKDOWN_VAULT_MCP_SOURCE_DIR": str(documents), "MARKDOWN_VAULT_MCP_INDEX_PATH": str(file)}
    found: list[tuple[float, float]] = []
    for _ in range(rounds):
        if vault.start:
            try:
                if not file.exists():
                    process(corpora.vault_index(vault, documents, file), around, folder=documents)
                found.append(_asked([*vault.start, "serve"], around, documents, searches))
            except (Silent, Failed) as problem:
                peers.leave_out(vault.name, getattr(problem, "reason", str(problem)))
                vault, found = peers.Peer(vault.name), []
        ours.append(_asked(own, environ, documents, searches))
    return found


def _asked(command: Sequence[str], environ: Mapping[str, str], folder: Path, searches: int) -> tuple[float, float]:
    """Return milliseconds from the start of a server to its first answer, and of a later one. Raises `Silent`."""
    started = time.perf_counter()
    with _serving(command, environ, folder) as server:
        server.ask("initialize", HELLO)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.search(MEDIUM)
        began = time.perf_counter() - started
        times: list[float] = []
        for _ in range(searches):
            asked = time.perf_counter()
            server.search(MEDIUM)
            times.append(time.perf_counter() - asked)
    return began * 1000, median(times) * 1000


@contextmanager
def _serving(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Iterator[Server]:
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        env=dict(environ),
        cwd=folder,
        start_new_session=True,
    )
    timer = Timer(PATIENCE, end_group, [child])
    timer.daemon = True
    timer.start()
    try:
        yield Server(child)
    finally:
        timer.cancel()
        end_group(child)
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()
