"""An editor, as far as the protocol can tell: it starts a server in this process or in one of its own, keeps texts as
the protocol says, and waits for what it is told. Nothing waits longer than `SECONDS`."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from prosa.lsp.server import serve_stdio
from tests import warm

SECONDS = float(os.environ.get("PROSA_TEST_SECONDS", "60"))
PUBLISHED = "textDocument/publishDiagnostics"

FULL: dict[str, Any] = {
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "configuration": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceFolders": True,
    }
}
PULLING: dict[str, Any] = {
    "textDocument": {"diagnostic": {}},
    "workspace": {**FULL["workspace"], "diagnostics": {"refreshSupport": True}},
}


class Gone(Exception):
    """The server ended."""


class Editor:
    """``answers`` gives what the editor says when it is asked, by method; everything else gets null."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._outgoing = outgoing
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self.answers: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self._number = 0
        self._versions: dict[str, int] = {}
        self.reader = threading.Thread(target=self._read, args=(incoming,), daemon=True)
        self.reader.start()

    def _read(self, stream: BinaryIO) -> None:
        with suppress(OSError, ValueError):
            while line := stream.readline():
                length = 0
                while line.strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                    line = stream.readline()
                self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def write(self, data: bytes) -> None:
        """Writes bytes, whatever they are."""
        self._outgoing.write(data)
        self._outgoing.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        """Writes a message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any = None) -> None:
        """Tells the server something."""
        self.send({"method": method, "params": params})

    def begin(self, method: str, params: Any = None) -> int:
        """Asks something, and does not wait."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request, be it an error."""
        return self.wait(lambda each: each.get("id") == number and "method" not in each)

    def ask(self, method: str, params: Any = None) -> Any:
        """The result of a request."""
        found = self.answer(self.begin(method, params))
        assert "error" not in found, found
        return found.get("result")

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of a kind that was not waited for before. Raises `Gone`."""
        for at, each in enumerate(self.seen):
            if wanted(each):
                return self.seen.pop(at)
        while True:
            message = self._messages.get(timeout=SECONDS)
            if message is None:
                self._messages.put(None)
                raise Gone
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": self.answers.get(message["method"])})
            if wanted(message):
                return message
            self.seen.append(message)

    def told(self, method: str) -> dict[str, Any]:
        """What the server tells by a method."""
        return self.wait(lambda each: each.get("method") == method).get("params") or {}

    def initialize(
        self,
        *folders: Path,
        capabilities: Mapping[str, Any] = FULL,
        options: Mapping[str, Any] | None = None,
        encodings: list[str] | None = None,
    ) -> dict[str, Any]:
        """Says hello."""
        told = dict(capabilities)
        if encodings:
            told["general"] = {"positionEncodings": encodings}
        params: dict[str, Any] = {"processId": os.getpid(), "rootUri": None, "capabilities": told}
        params["workspaceFolders"] = [{"uri": each.as_uri(), "name": each.name} for each in folders]
        if options is not None:
            params["initializationOptions"] = options
        found = self.ask("initialize", params)
        self.capabilities = found["capabilities"]
        self.notify("initialized", {})
        return found

    def open(self, path: Path, text: str | None = None, language: str = "markdown") -> str:
        """Opens a document, and gives its URI."""
        uri = path.as_uri()
        self._versions[uri] = 1
        if text is None:
            text = path.read_bytes().decode()
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, *changes: Mapping[str, Any] | str) -> int:
        """Tells of changes; a text is all of it. Gives the version."""
        self._versions[uri] = version = self._versions[uri] + 1
        told = [{"text": each} if isinstance(each, str) else each for each in changes]
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": told})
        return version

    def close(self, uri: str) -> None:
        """Closes a document."""
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """The next diagnostics of a document, of a version where one is named."""

        def wanted(each: dict[str, Any]) -> bool:
            params = each.get("params") or {}
            is_of = each.get("method") == PUBLISHED and params["uri"] == uri
            return is_of and (version is None or params.get("version") == version)

        return self.wait(wanted)["params"]["diagnostics"]

    def until(self, uri: str, rules: list[str] | None, version: int | None = None) -> list[dict[str, Any]]:
        """The diagnostics of a document as soon as they are of these rules."""
        while True:
            found = self.diagnostics(uri, version)
            if rules is None or sorted(each["code"] for each in found) == sorted(rules):
                return found

    def is_read(self) -> None:
        """Waits until the server has read all that was written so far."""
        assert self.answer(self.begin("nothing/thatExists"))["error"]["code"] == -32601

    def shut_down(self) -> None:
        """Says goodbye."""
        self.ask("shutdown")
        self.notify("exit")


@contextmanager
def inside(environ: Mapping[str, str], goodbye: bool = True) -> Iterator[Editor]:
    """A server in a thread of this process, over pipes."""
    to_server, from_editor = os.pipe()
    to_editor, from_server = os.pipe()
    incoming, outgoing = os.fdopen(to_server, "rb"), os.fdopen(from_server, "wb")
    thread = threading.Thread(target=_serve, args=(incoming, outgoing, environ), daemon=True)
    thread.start()
    with os.fdopen(to_editor, "rb") as hears:
        with os.fdopen(from_editor, "wb") as tells:
            editor = Editor(hears, tells)
            yield editor
            if goodbye:
                editor.shut_down()
        thread.join(SECONDS)
        editor.reader.join(SECONDS)
        assert not thread.is_alive()


def _serve(incoming: BinaryIO, outgoing: BinaryIO, environ: Mapping[str, str]) -> None:
    try:
        serve_stdio(incoming, outgoing, environ)
    finally:
        outgoing.close()


@contextmanager
def process(
    folder: Path, environ: Mapping[str, str], *flags: str, command: list[str] | None = None
) -> Iterator[tuple[Editor, subprocess.Popen[bytes]]]:
    """A server in a process of its own, started as editors do."""
    command = command or [sys.executable, "-m", "prosa", "lsp", "--stdio", *flags]
    with warm.popen(command, cwd=folder, env={**os.environ, **environ}, stdin=-1, stdout=-1, stderr=-1) as started:
        assert started.stdin is not None and started.stdout is not None
        try:
            yield Editor(started.stdout, started.stdin), started
        finally:
            started.kill()
