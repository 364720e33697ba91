"""The language server as an editor meets it: a process, its wire, one document of 50 KB beside five thousand.

The corpus is that of `check`. Times are from the moment a message is written until its answer has been read; those of
changes and questions are the 95th percentile. The baseline of a change is the analysis of the text alone; that of an
answer is a request without a handler, the cost of the wire and the library; that of memory is the library.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from bench.measure import Row, calls, python
from bench.mixed_corpus import write_corpus
from prosa.dialects.reading import NO_HINTS
from prosa.rules.analyse import analyse
from prosa.source import SourceText

COUNT = 5_000
RUNS = 100
RENAMES = 5
SIZE = 50_000
"""Characters of the document that is edited."""

WORDS = "\n".join(["Plain words, a few of them *stressed*, as people write them in the middle of a chapter."] * 4)

LIBRARY = "import pygls.lsp.server, resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


class Client:
    """An editor that waits for each answer."""

    def __init__(self, command: list[str], environ: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environ))
        self.number = 0

    def send(self, message: Mapping[str, Any]) -> None:
        """Write a message."""
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Notify the server."""
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a request."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.wait(lambda each: each.get("id") == self.number and "method" not in each)

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the next message of a kind; what the server asks meanwhile is answered with nothing."""
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
                line = stream.readline()
            message: dict[str, Any] = json.loads(stream.read(length))
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": None})
            if wanted(message):
                return message
        raise SystemExit("the language server ended")

    def told(self, uri: str, version: int) -> dict[str, Any]:
        """Return the diagnostics of a version of a document."""

        def wanted(each: dict[str, Any]) -> bool:
            params = each.get("params") or {}
            return params.get("uri") == uri and params.get("version") == version and "diagnostics" in params

        return self.wait(wanted)


def rows(documents: int = COUNT, runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        folder = Path(name, "mixed").resolve()
        write_corpus(folder, documents)
        (folder / ".git").mkdir()
        cache = Path(name, "cache")
        cache.mkdir(mode=0o700)
        yield from _session(folder, {**os.environ, "PROSA_CACHE_DIR": str(cache)}, documents, runs)


def _session(folder: Path, environ: Mapping[str, str], documents: int, runs: int) -> Iterator[Row]:
    text = _text(folder)
    path = folder / "pages" / "edited.md"
    path.write_text(text, "utf-8")
    beside = f"beside {documents:,}"
    command = python("-m", "prosa", "lsp", "--stdio")
    bare = _bare(environ)
    for state in ("cold", "warm"):
        client = Client(command, environ)
        started = time.perf_counter()
        slowest, first, whole = _opened(client, folder, path.as_uri(), text, started)
        yield Row(f"first diagnostics {beside}, {state}", first, "ms", "the library imported", bare[0], "≤ 700 ms")
        yield Row(f"diagnostics of the whole corpus, {state}", whole, "ms", "the library imported", bare[0])
        yield Row(f"slowest answer while the corpus is read, {state}", slowest, "ms", "", None, "≤ 100 ms")
        if state == "warm":
            break
        _end(client)
    uri = path.as_uri()
    alone = calls(lambda: analyse(SourceText(text, str(path), "0" * 64), NO_HINTS)) / 1000
    change = _changing(client, uri)
    yield from _asked("change to diagnostics", change, client, runs, ("its analysis alone", alone), "≤ 10 ms")
    nothing = _p95(lambda: client.ask("nothing/thatExists"), runs)
    at = {"textDocument": {"uri": uri}, "position": _link(text)}
    for what, method, aim in (
        ("completion of a link", "textDocument/completion", "≤ 20 ms"),
        ("definition", "textDocument/definition", "≤ 10 ms"),
        ("references", "textDocument/references", "≤ 10 ms"),
        ("hover", "textDocument/hover", "≤ 10 ms"),
        ("symbols of the document", "textDocument/documentSymbol", "≤ 10 ms"),
    ):
        params = {**at, "context": {"includeDeclaration": True}} if method.endswith("references") else at
        yield from _asked(what, partial(client.ask, method, params), client, runs, ("no answer", nothing), aim)
    part = folder / "pages" / "part-01"
    renamed = {"files": [{"oldUri": part.as_uri(), "newUri": part.with_name("part-moved").as_uri()}]}
    rename = partial(client.ask, "workspace/willRenameFiles", renamed)
    inside = f"rename of a folder of {len([*part.iterdir()])} documents"
    yield from _asked(inside, rename, client, RENAMES, ("no answer", nothing), "≤ 1,000 ms")
    yield Row(f"resident {beside}", _resident(client), "MiB", "the library alone", bare[1], "≤ 110 MiB")
    _end(client)


def _text(folder: Path) -> str:
    """Return a document of many links and headings, about as long as a chapter."""
    names = sorted(each.relative_to(folder / "pages").as_posix() for each in (folder / "pages").rglob("*.md"))
    parts = (
        f"## Part {at}\n\nMore of this in [the page]({names[at % len(names)]}) than here.\n\n{WORDS}\n\n"
        for at in range(SIZE)
    )
    text = "# A chapter\n\n"
    while len(text) < SIZE:
        text += next(parts)
    return text


def _opened(client: Client, folder: Path, uri: str, text: str, started: float) -> tuple[float, float, float]:
    """Return the slowest answer, and the milliseconds until the first diagnostics and until those of all were told."""
    root = {"uri": folder.as_uri(), "name": "mixed"}
    told = {"workspace": {"fileOperations": {"willRename": True}}}
    client.ask(
        "initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": told, "workspaceFolders": [root]}
    )
    client.tell("initialized", {})
    broken = f"{text}\n[nowhere](nowhere.md)\n"
    client.tell(
        "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "markdown", "version": 1, "text": broken}}
    )
    client.told(uri, 1)
    first = (time.perf_counter() - started) * 1000
    slowest, found, version = 0.0, False, 1
    at = {"textDocument": {"uri": uri}, "position": _link(text)}
    while not found:
        version += 1
        begun = time.perf_counter()
        change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": broken}]}
        client.tell("textDocument/didChange", change)
        client.ask("textDocument/hover", at)
        slowest = max(slowest, (time.perf_counter() - begun) * 1000)
        found = bool(client.told(uri, version)["params"]["diagnostics"])
        time.sleep(0.02)
    whole = (time.perf_counter() - started) * 1000
    return slowest, first, whole


def _link(text: str) -> dict[str, int]:
    """Return the position within the destination of a link in the middle."""
    before = text[: text.index("](", len(text) // 2) + 4]
    return {"line": before.count("\n"), "character": len(before) - before.rindex("\n") - 1}


def _asked(
    what: str, work: Callable[[], object], client: Client, runs: int, base: tuple[str, float], aim: str
) -> Iterator[Row]:
    """Yield the time of a question as the editor sees it, and the time of processors that it takes the server."""
    work()
    before = _spent(client)
    wall = _p95(work, runs)
    spent = (_spent(client) - before) / runs
    yield Row(f"{what}, p95", wall, "ms", *base, aim)
    yield Row(f"{what}, CPU", spent, "ms", *base)


def _spent(client: Client) -> float:
    """Return the milliseconds of processors that the server has used; nothing where the system does not tell."""
    status = Path("/proc", str(client.process.pid), "stat")
    if not status.exists():
        return 0.0
    user, system = status.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


def _changing(client: Client, uri: str) -> Callable[[], None]:
    """Type a character at the beginning of the body, each time another one."""
    versions = count(10_000)
    place = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 0}}

    def typed() -> None:
        version = next(versions)
        change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"range": place, "text": "x"}]}
        client.tell("textDocument/didChange", change)
        client.told(uri, version)

    return typed


def _p95(work: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000)
    return sorted(times)[int(len(times) * 0.95)]


def _bare(environ: Mapping[str, str]) -> tuple[float, float]:
    """Return the milliseconds and the MiB of a process that imports the library."""
    begun = time.perf_counter()
    done = subprocess.run(python("-c", LIBRARY), env=dict(environ), capture_output=True, text=True, check=True)
    return (time.perf_counter() - begun) * 1000, int(done.stdout) / 1024


def _resident(client: Client) -> float:
    """Return what the server takes now in MiB; nothing where the system does not tell."""
    status = Path("/proc", str(client.process.pid), "status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(each.split()[1]) / 1024 for each in lines if each.startswith("VmRSS")), 0.0)


def _end(client: Client) -> None:
    client.ask("shutdown")
    client.tell("exit", {})
    client.process.wait(30)
