"""The language server: its handlers, from the first message of a client to its last.

The library knows the protocol and its types; texts and positions are kept here, since its line ends differ from those
of the protocol. It executes nothing and only talks to the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
)
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from prosa import __version__
from prosa.data import Value
from prosa.lsp import checking, completion, editing, navigation
from prosa.lsp.configuration import Configuration, read_configuration
from prosa.lsp.documents import path_of
from prosa.lsp.positions import ENCODINGS, Encoding
from prosa.lsp.session import NOT_INITIALIZED, USUAL, Session, SessionServer
from prosa.lsp.wire import Message, fault_of, serve

_T = TypeVar("_T")


class ProsaProtocol(LanguageServerProtocol):
    """The protocol without the texts that the library would keep."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Start to track a document."""
        session = self.server.session
        document = session.documents.open(params.text_document)
        if document is not None:
            session.changed(document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take in changes of a document."""
        session = self.server.session
        document = session.documents.at(params.text_document.uri)
        if document is not None:
            document.change(params.text_document.version, params.content_changes, session.encoding)
            session.changed(document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        session = self.server.session
        document = session.documents.close(params.text_document.uri)
        if document is not None:
            session.closed(document)

    def _send_response(
        self, msg_id: int | str, result: _T | None = None, error: types.ResponseError | None = None
    ) -> None:
        """Send an answer; a dictionary is one in the words of the protocol, and needs no other form."""
        if isinstance(result, dict) and error is None:
            self._result_types.pop(msg_id, None)
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": result})
        else:
            super()._send_response(msg_id, result, error)

    def answered_with_nothing(self, number: Value) -> None:
        """Replace an answer of the client that has the wrong form by none, so that its awaiter continues."""
        if isinstance(number, str | int):
            self._handle_response(number)

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has sent `shutdown`."""
        return self._shutdown

    @property
    def server(self) -> ProsaServer:
        """The server that this protocol belongs to."""
        return cast("ProsaServer", self._server)


_converter = cache(default_converter)
"""Most of the work of a start: servers of one process, as in tests, share it."""


class ProsaServer(SessionServer):
    """The server of one client. Meets `session.Client` and `wire.Server`."""

    protocol: ProsaProtocol

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__("prosa", __version__, protocol_cls=ProsaProtocol, converter_factory=_converter)
        self.environ = environ
        self._wrong: list[str] = []
        self.feature(types.INITIALIZE)(partial(self._begin))
        self.feature(types.INITIALIZED)(self._make_ready())
        self.feature(types.SHUTDOWN)(lambda _: self._end())

    def _begin(self, params: types.InitializeParams) -> None:
        configuration, wrong = read_configuration(cast("Value", params.initialization_options))
        session = self._session = Session(self, configuration, self.environ)
        session.encoding = _encoding(params.capabilities)
        session.pull = _pulls(params.capabilities)
        session.versioned = _takes_versions(params.capabilities)
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        session.set_folders(path for uri in folders if (path := path_of(uri)) is not None)
        self._wrong = [words for words in (wrong, _other_version(configuration)) if words]
        for register in FEATURES:
            register(self)

    def _make_ready(self) -> Callable[[types.InitializedParams], Coroutine[None, None, None]]:
        async def ready(params: types.InitializedParams) -> None:
            del params
            for words in self._wrong:
                self.say(words)
            checking.register_settings(self)
            await checking.ask_settings(self)

        return ready

    def _end(self) -> None:
        if self._session is not None:
            self._session.close()

    # Meets `session.Client`

    def publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Show the diagnostics of a document."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def refresh(self) -> None:
        """Let the client ask for diagnostics again."""
        self.workspace_diagnostic_refresh(None)

    def log(self, words: str) -> None:
        """Write a sentence to the log for troubleshooting."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, words))

    def watch(self, root: Path) -> None:
        """Register for changes of files below a folder."""
        checking.watch(self, root)

    # Meets `wire.Server`

    def receive(self, message: Value) -> None:
        """Take a message that was read. One that is none of the protocol is answered with the error of JSON-RPC."""
        fault = fault_of(message)
        if fault is not None:
            self.complain(f"a message is not JSON-RPC 2.0 and was not read: {fault.words}")
            self._refuse(fault.id, JsonRpcInvalidRequest(f"Invalid Request: {fault.words}"))
            return
        assert isinstance(message, dict)
        sound = cast("Message", message)
        is_request = "id" in sound and "method" in sound
        if is_request and (early := self._out_of_turn(sound["method"])) is not None:
            self._refuse(sound["id"], early)
            return
        try:
            whole = {"params": None, **message} if "method" in sound else message  # the library requires both
            self.protocol.handle_message(self.protocol.structure_message(whole))
        except JsonRpcException:
            if is_request:
                wrong = f"{sound['method']}: `params` do not fit the method"
                self._refuse(sound["id"], JsonRpcInvalidParams(wrong))
            elif "id" in sound:
                self.protocol.answered_with_nothing(sound["id"])
            else:
                self.complain(f"a message could not be understood: {sound['method']}")

    def not_json(self) -> None:
        """Answer a message that is no JSON."""
        self.complain("a message is not JSON and was not read")
        self._refuse(None, JsonRpcParseError())

    def _out_of_turn(self, method: str) -> JsonRpcException | None:
        """Return why a request is not allowed now: before `initialize`, a second time, or after `shutdown`."""
        if self.protocol.is_shut_down:
            return JsonRpcInvalidRequest("Invalid Request: the client has sent `shutdown`")
        if method == types.INITIALIZE:
            again = JsonRpcInvalidRequest("Invalid Request: the client has sent `initialize` already")
            return again if self._session is not None else None
        return NOT_INITIALIZED if self._session is None else None

    def _refuse(self, number: int | str | None, error: JsonRpcException) -> None:
        """Send an error. The library has no way to send one for a message whose id is not known."""
        details = {"code": error.code, "message": error.message}
        self.protocol._send_data({"jsonrpc": "2.0", "id": number, "error": details})  # noqa: SLF001

    def complain(self, words: str) -> None:
        """Say that something came that is no message."""
        self.log(words)

    @property
    def client_process(self) -> int | None:
        """The process of the client, if it has sent its id."""
        return self.process_id

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Log an error; the answer to a request also reports it."""
        del source
        self.log(f"{type(error).__name__}: {error}")


def _encoding(capabilities: types.ClientCapabilities) -> Encoding:
    """Return the first encoding of the client that is known here, as the library chooses it too."""
    general = capabilities.general
    wanted = (general.position_encodings if general is not None else None) or ()
    return next((known for encoding in wanted for known in ENCODINGS if encoding == known), "utf-16")


def _pulls(capabilities: types.ClientCapabilities) -> bool:
    """Return whether a client pulls diagnostics and supports refreshing them; others get them pushed."""
    document = capabilities.text_document
    workspace = capabilities.workspace
    asks = document is not None and document.diagnostic is not None
    return asks and workspace is not None and bool(workspace.diagnostics and workspace.diagnostics.refresh_support)


def _takes_versions(capabilities: types.ClientCapabilities) -> bool:
    """Return whether a client takes edits together with the versions that they were made for."""
    edits = capabilities.workspace.workspace_edit if capabilities.workspace is not None else None
    return edits is not None and bool(edits.document_changes)


def _other_version(configuration: Configuration) -> str:
    """Return the message for an extension of the editor that was made for another version."""
    if not configuration.version or configuration.version == __version__:
        return ""
    return (
        f"the extension of this editor was made for Prosa {configuration.version}, and this is Prosa {__version__}; "
        "what one of them lacks does not work: update the older one"
    )


FEATURES: tuple[Callable[[ProsaServer], None], ...] = tuple(
    feature.register for feature in (checking, completion, editing, navigation)
)
"""Registers the handlers of each feature, once the client has sent its capabilities and settings."""

SWITCH_SECONDS = 0.001
"""How long the thread that reads a corpus keeps the others waiting, which answer in a few of these."""


def serve_stdio(incoming: BinaryIO, outgoing: BinaryIO, environ: Mapping[str, str], log: str | None = None) -> int:
    """Serve one stream on the other until the client sends `exit` or disconnects. Raises `BrokenWire`."""

    async def run() -> int:
        server = ProsaServer(environ)
        server.protocol.set_writer(_Writer(outgoing))
        await serve(incoming, server)
        return 0 if server.protocol.is_shut_down else 1

    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*USUAL)
    with _logging(log):
        try:
            return asyncio.run(run())
        except SystemExit as end:  # how the library answers `exit`
            return int(end.code or 0)


class _Writer:
    """Meets the writer of the library. A client that reads no more ends the session where its input ends."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write(self, data: bytes) -> None:
        """Write a message at once."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(data)
            self.stream.flush()

    def close(self) -> None:
        """Write the remaining data; the process closes the stream."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()


@contextlib.contextmanager
def _logging(path: str | None) -> Iterator[None]:
    """Send the library's log to a file, if one is named, and nowhere else."""
    library = logging.getLogger("pygls")
    library.propagate = False
    handler = logging.FileHandler(path, encoding="utf-8") if path else logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    library.addHandler(handler)
    library.setLevel(logging.DEBUG if path else logging.CRITICAL)
    try:
        yield
    finally:
        library.removeHandler(handler)
        handler.close()
