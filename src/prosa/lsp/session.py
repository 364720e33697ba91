"""A session: the documents of the editor on one side, the workspaces that check them on the other, in one worker
thread.

A query precedes all waiting changes, and a change replaces an earlier waiting one of the same document, so the thread
that reads the wire never blocks and fast typing is checked less often. A document is checked at once by itself, and
again when its corpus has been read, in a separate thread. Results are published in the order of its versions.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcServerNotInitialized
from pygls.lsp.server import LanguageServer

from prosa.app.check.workspace import Workspace, document_stamps
from prosa.app.editor.projects import Projects
from prosa.app.settings import documentation_address
from prosa.diagnostics import Diagnostic
from prosa.lsp.configuration import Configuration
from prosa.lsp.documents import Documents, OpenDocument, View, uri_of
from prosa.lsp.positions import Encoding, protocol_diagnostics
from prosa.rules.resident import ResidentCorpus
from prosa.runtime.errors import RunError
from prosa.settings.model import PROJECT_FILES
from prosa.source import FileProblem, LineIndex

_T = TypeVar("_T")

USUAL = (10_000, 10, 10)
"""Thresholds of the garbage collector: when it looks, most of what an edit or a rename made is used no more. With
those of Python it takes a tenth of a rename."""

_YOUNG = (*USUAL[:2], 1_000_000)
"""While a corpus is read: what an edit leaves is collected soon, and what was read is never looked through."""

NOT_INITIALIZED = JsonRpcServerNotInitialized("the client has not said `initialize`")

TOO_WIDE = (
    "{root} holds too much to be one project and nothing marks it as one, so each document is checked by itself. "
    "A file prosa.toml in the folder of your documents makes them a project."
)


class Client(Protocol):
    """The receiver of results; every method is called in the thread of the wire."""

    def publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Show the diagnostics of a document."""
        ...

    def refresh(self) -> None:
        """Let the client ask for diagnostics again."""
        ...

    def say(self, words: str) -> None:
        """Show a sentence to the user."""
        ...

    def log(self, words: str) -> None:
        """Write a sentence to the log for troubleshooting."""
        ...

    def watch(self, root: Path) -> None:
        """Register for changes of files below a folder."""
        ...


class Session:
    """The session of a client. ``initial`` are the settings at its start, ``configuration`` the present ones. With
    ``pull`` the client requests diagnostics, and is only notified of changes; with ``watched`` it reports changed
    files, and with ``versioned`` it accepts edits with versions."""

    def __init__(self, client: Client, configuration: Configuration, environ: Mapping[str, str]) -> None:
        self.client = client
        self.initial = self.configuration = configuration
        self.documents = Documents()
        self.documentation = _documentation(environ)
        self.encoding: Encoding = "utf-16"
        self.pull = False
        self.versioned = False
        self.watched = False
        self.folders: list[Path] = []
        self.loop = asyncio.get_running_loop()
        self.worker = WorkerThread(self._broken)
        self.projects = Projects(
            configuration.check, environ, self._read, self._say_once, baseline=configuration.baseline
        )
        self._pending: dict[Path, tuple[LineIndex | None, int | None]] = {}
        self._put: dict[Path, tuple[LineIndex | None, int | None]] = {}
        self._versions: dict[Path, int] = {}
        self._uris: dict[Path, str] = {}
        self._told: set[Path] = set()
        self._said: set[str] = set()
        self._stamps: dict[Path, dict[Path, tuple[int, int]]] = {}

    # In the thread of the wire

    def changed(self, document: OpenDocument) -> None:
        """Have an open document judged as it is now."""
        self._uris[document.path] = document.uri
        self._waiting(document.path, document.lines, document.version)

    def closed(self, document: OpenDocument) -> None:
        """Use the file of a document again instead of the editor's text."""
        self._waiting(document.path, None, None)

    def touched(self, paths: Iterable[Path]) -> None:
        """Take in that files were written, made or removed."""
        for path in paths:
            self.worker.change(("file", path), partial(self._touch, path))

    def saved(self) -> None:
        """Look for files changed by other programs, for a client that does not report them."""
        if not self.watched:
            threading.Thread(target=self._compare, name="prosa-files", daemon=True).start()

    def _compare(self) -> None:
        for root, before in [*self._stamps.items()]:
            now = self._stamps[root] = document_stamps(root)
            changed = [path for path in {*before, *now} if before.get(path) != now.get(path)]
            if any(path.name in PROJECT_FILES for path in changed):
                self.reopen()
            else:
                self.touched(changed)

    def set_folders(self, folders: Iterable[Path]) -> None:
        """Take in which folders the editor shows."""
        self.folders = paths = [*folders]
        self.worker.change("folders", lambda: self._reopen(folders=paths))

    def set_configuration(self, configuration: Configuration) -> None:
        """Take in other settings of the user."""
        self.configuration = configuration
        self.worker.change("settings", lambda: self._reopen(configuration=configuration))

    def reopen(self) -> None:
        """Read the projects again: their settings are others, or their roots."""
        self.worker.change("projects", self._reopen)

    async def ask(self, uri: str, question: Callable[[View], _T], *, checked: bool = False) -> _T | None:
        """Return the answer to a question about an open document, with its text as it stands; None where it is not
        open. With ``checked`` the document is judged first."""
        document = self.documents.at(uri)
        if document is None:
            return None
        path = document.path

        def answer() -> _T:
            if checked:
                self.worker.flush(("document", path))
            self._take_in()
            return question(self.view(path))

        return await asyncio.wrap_future(self.worker.ask(answer))

    async def ask_all(self, question: Callable[[list[Workspace]], _T]) -> _T:
        """Return the answer to a question about all projects, those of the editor's folders opened for it."""

        def answer() -> _T:
            self._take_in()
            for folder in self.projects.folders:
                self.projects.workspace_of(folder / "_")
            return question([*self.projects])

        return await asyncio.wrap_future(self.worker.ask(answer))

    def close(self) -> None:
        """End the work at the worker."""
        self.worker.close()

    # In the thread of the worker

    def view(self, path: Path) -> View:
        """Return what a handler sees of a document."""
        workspace, known = self.projects.workspace_of(path), self._versions
        return View(workspace, path, self.encoding, self.uri_of, known, self.versioned, self.documentation)

    def uri_of(self, path: Path) -> str:
        """Return the URI of a document as the client spells it."""
        return self._uris.get(path) or uri_of(path)

    def _waiting(self, path: Path, lines: LineIndex | None, version: int | None) -> None:
        self._pending[path] = (lines, version)
        self.worker.change(("document", path), lambda: self._judge(path))

    def _take_in(self) -> None:
        """Put the texts in place that wait to be judged, so that a question is about what the user sees."""
        for path, text in [*self._pending.items()]:
            if self._put.get(path) is not text:
                self._put[path] = text
                self.projects.workspace_of(path).put(path, text[0])
                self._note_version(path, text[1])

    def _note_version(self, path: Path, version: int | None) -> None:
        if version is None:
            self._versions.pop(path, None)
        else:
            self._versions[path] = version

    def _judge(self, path: Path) -> None:
        """Check a document in its present state, and publish all changed diagnostics."""
        waiting = self._pending.pop(path, None)
        if waiting is None:
            return
        self._put.pop(path, None)
        lines, version = waiting
        self._note_version(path, version)
        workspace = self.projects.workspace_of(path)
        news = workspace.update(path, lines)
        self._tell(news, asked=path)

    def _touch(self, path: Path) -> None:
        workspace = self.projects.known(path)
        if workspace is not None and path not in self._pending:
            self._tell(workspace.update(path, workspace.texts.get(path)))

    def _tell(self, news: Mapping[Path, tuple[Diagnostic, ...]], asked: Path | None = None) -> None:
        """Publish diagnostics; those of a document waiting for a check are published then."""
        others = {path: diagnostics for path, diagnostics in news.items() if path == asked or path not in self._pending}
        if self.pull:
            if others.keys() - {asked}:
                self._soon(self.client.refresh)
            others = {path: () if path in self._versions else diagnostics for path, diagnostics in others.items()}
            others = {
                path: diagnostics
                for path, diagnostics in others.items()
                if path not in self._versions or path in self._told
            }
        for path, diagnostics in others.items():
            self._publish(path, diagnostics)

    def _publish(self, path: Path, diagnostics: tuple[Diagnostic, ...]) -> None:
        if not self.configuration.features.diagnostics:
            diagnostics = ()
        is_open = path in self._versions
        if not is_open and self.configuration.diagnostics == "open":
            if path not in self._told:
                return
            diagnostics = ()
        (self._told.add if diagnostics else self._told.discard)(path)
        items = protocol_diagnostics(diagnostics, self.encoding, self.uri_of, self.documentation)
        uri, version = self.uri_of(path), self._versions.get(path)
        self._soon(lambda: self.client.publish(uri, version, items))

    def _read(self, workspace: Workspace, read: Callable[[], ResidentCorpus]) -> None:
        """Read a corpus in a thread, and hand it to the worker thread. The thread starts once the documents that wait
        have been judged by themselves and the client was told: it takes all processors."""

        def work() -> None:
            gc.set_threshold(*_YOUNG)  # repeated garbage collection of everything read would block all
            try:
                if not self.watched:
                    self._stamps[workspace.root] = document_stamps(workspace.root)
                resident = read()
            except (FileProblem, OSError) as error:
                words = f"{workspace.root} cannot be read: {error}"
                self._soon(lambda: self.client.log(words))
                return
            finally:
                gc.set_threshold(*USUAL)
            self.worker.ask(lambda: self._adopt(workspace, resident))

        thread = threading.Thread(target=work, name="prosa-corpus", daemon=True)
        self.worker.change(("corpus", workspace.root), lambda: self._soon(thread.start))

    def _adopt(self, workspace: Workspace, resident: ResidentCorpus) -> None:
        if not self.projects.is_current(workspace):
            return
        workspace.adopt(resident)
        gc.freeze()
        if workspace.is_whole:
            self._soon(lambda: self.client.watch(workspace.root))
        elif workspace.root.is_dir():
            self._say_once(TOO_WIDE.format(root=workspace.root))
        settings: dict[Path, tuple[Diagnostic, ...]] = {}
        for setting in workspace.settings:
            settings[Path(setting.path)] = (*settings.get(Path(setting.path), ()), setting)
        mine = [path for path in self._versions if self.projects.root_of(path) == workspace.root]
        wanted = dict.fromkeys([*mine, *(workspace.diagnostics if self.configuration.diagnostics != "open" else ())])
        self._tell({path: workspace.found_in(path) for path in wanted})
        for path, diagnostics in settings.items():
            self._publish_always(path, diagnostics)

    def _publish_always(self, path: Path, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Publish problems of settings, whether or not their file is open, unless the client pulls diagnostics."""
        if self.pull and path in self._versions:
            self._soon(self.client.refresh)
            return
        items = protocol_diagnostics(diagnostics, self.encoding, self.uri_of, self.documentation)
        self._told.add(path)
        self._soon(lambda: self.client.publish(self.uri_of(path), self._versions.get(path), items))

    def _reopen(self, folders: list[Path] | None = None, configuration: Configuration | None = None) -> None:
        """Forget all workspaces and have every open document judged again."""
        if folders is not None:
            self.projects.folders[:] = folders
        if configuration is not None:
            self.projects.options, self.projects.baseline = configuration.check, configuration.baseline
        gc.unfreeze()
        self.projects.close()
        for path in self._told - self._versions.keys():
            self._publish(path, ())
        for document in self.documents:
            if document.path not in self._pending:
                self._waiting(document.path, document.lines, document.version)

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            self._soon(lambda: self.client.say(words))

    def _broken(self, error: BaseException) -> None:
        words = f"{type(error).__name__}: {error}"
        self._soon(lambda: self.client.log(words))

    def _soon(self, tell: Callable[[], None]) -> None:
        """Run something in the thread of the wire, after all earlier messages."""
        try:
            self.loop.call_soon_threadsafe(tell)
        except RuntimeError:  # the session is over
            return


def _documentation(environ: Mapping[str, str]) -> str:
    """Return the address of the pages of rules; empty if the user's settings cannot be read, which is reported
    where they are used."""
    try:
        return documentation_address(environ)
    except (FileProblem, RunError):
        return ""


class SessionServer(LanguageServer):
    """A server with a session: what the handlers of each feature ask."""

    _session: Session | None = None

    @property
    def session(self) -> Session:
        """The session, which starts with `initialize`."""
        if self._session is None:
            raise NOT_INITIALIZED
        return self._session

    def say(self, words: str) -> None:
        """Show a sentence to the user."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, words))


class WorkerThread:
    """The worker thread. ``broken`` is called with an exception in a change, which has no future."""

    def __init__(self, broken: Callable[[BaseException], None]) -> None:
        self._broken = broken
        self._questions: deque[Callable[[], None]] = deque()
        self._changes: dict[Hashable, Callable[[], None]] = {}
        self._news = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="prosa-worker", daemon=True)
        self._thread.start()

    def ask(self, question: Callable[[], _T]) -> Future[_T]:
        """Return the answer to a query; one that is cancelled while waiting is never run."""
        future: Future[_T] = Future()

        def answer() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(question())
            except BaseException as error:
                future.set_exception(error)

        with self._news:
            self._questions.append(answer)
            self._news.notify()
        return future

    def change(self, key: Hashable, change: Callable[[], None]) -> None:
        """Do something when no question waits, unless another change with this key comes first."""
        with self._news:
            self._changes[key] = change
            self._news.notify()

    def flush(self, key: Hashable) -> None:
        """Do a change that waits at once. Only for the thread of the worker itself."""
        with self._news:
            change = self._changes.pop(key, None)
        if change is not None:
            self._do(change)

    def close(self) -> None:
        """Do nothing more of what waits."""
        with self._news:
            self._closed = True
            self._news.notify()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            self._do(job)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            self._broken(error)

    def _next(self) -> Callable[[], None] | None:
        with self._news:
            self._news.wait_for(lambda: self._closed or self._questions or self._changes)
            if self._closed:
                return None
            if self._questions:
                return self._questions.popleft()
            return self._changes.pop(next(iter(self._changes)))
