"""Diagnostics on request, changes of files, folders and settings of the editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lsprotocol import types

from prosa.data import Value
from prosa.dialects.table import DOCUMENT_SUFFIXES, EVALS
from prosa.lsp.configuration import SECTION, read_configuration
from prosa.lsp.documents import View, path_of
from prosa.lsp.positions import protocol_diagnostics
from prosa.source.files import sha256

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer

SETTINGS_FILES = frozenset({"prosa.toml", "pyproject.toml", ".gitignore"})
"""Files that decide which documents exist, and how they are checked."""


def register(server: SessionServer) -> None:
    """Register the handlers."""
    session = server.session
    session.watched = _watching(server.client_capabilities) is not None

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None and path.name in _deciding(server):
            session.reopen()
        else:
            session.saved()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
        if any(path.name in _deciding(server) for path in paths):
            session.reopen()
        else:
            session.touched(paths)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(folder.uri) for folder in params.event.removed}
        new = [path for folder in params.event.added if (path := path_of(folder.uri)) is not None]
        session.set_folders([*(folder for folder in session.folders if folder not in gone), *new])

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        await ask_settings(server, cast("Value", params.settings))

    if session.pull and session.configuration.features.diagnostics:

        @server.feature(
            types.TEXT_DOCUMENT_DIAGNOSTIC,
            types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="prosa"),
        )
        async def diagnostics(
            params: types.DocumentDiagnosticParams,
        ) -> types.DocumentDiagnosticReport:
            def answer(view: View) -> list[types.Diagnostic]:
                return protocol_diagnostics(
                    view.workspace.found_in(view.path), view.encoding, view.uris, view.documentation
                )

            items = await session.ask(params.text_document.uri, answer, checked=True)
            mark = _mark(items or ())
            if mark == params.previous_result_id:
                return types.RelatedUnchangedDocumentDiagnosticReport(mark)
            return types.RelatedFullDocumentDiagnosticReport(items or (), result_id=mark)


async def ask_settings(server: SessionServer, value: Value = None) -> None:
    """Update the user's settings: the client's answer if it supports the request, else ``value``."""
    session = server.session
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        value = cast("Value", next(iter(await server.workspace_configuration_async(asked) or ()), None))
    elif isinstance(value, Mapping):  # all settings of the editor, most of which are irrelevant here
        value = value.get(SECTION)
    if value is None:
        return
    configuration, wrong = read_configuration(value, session.initial, session.configuration)
    if wrong:
        server.say(wrong)
    elif configuration != session.configuration:
        session.set_configuration(configuration)


def register_settings(server: SessionServer) -> None:
    """Register for changes of the user's settings, if the client supports it."""
    workspace = server.client_capabilities.workspace
    capability = workspace.did_change_configuration if workspace is not None else None
    if capability is not None and capability.dynamic_registration:
        options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        made = types.Registration("prosa:settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
        server.client_register_capability(types.RegistrationParams([made]))


def watch(server: SessionServer, root: Path) -> None:
    """Register for changes of files below a root: of documents and settings whenever they change, of all others when
    they are created or deleted, since links may lead to them."""
    files = _watching(server.client_capabilities)
    if files is None:
        return
    suffixes = ",".join(suffix[1:] for suffix in DOCUMENT_SUFFIXES)
    names = ",".join(sorted({*_deciding(server), *EVALS.file_names}))
    comes_and_goes = types.WatchKind.Create | types.WatchKind.Delete
    wanted = [(f"**/*.{{{suffixes}}}", None), (f"**/{{{names}}}", None), ("**/*", comes_and_goes)]
    options = types.DidChangeWatchedFilesRegistrationOptions(
        [types.FileSystemWatcher(_below(root, glob, files), kind) for glob, kind in wanted]
    )
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    made = types.Registration(f"prosa:{root}", method, options)
    server.client_register_capability(types.RegistrationParams([made]))


def _deciding(server: SessionServer) -> frozenset[str]:
    """Return the names of the files that decide what is shown of which documents."""
    baseline = Path(server.session.configuration.baseline).name
    return SETTINGS_FILES | {baseline} if baseline else SETTINGS_FILES


def _watching(capabilities: types.ClientCapabilities) -> types.DidChangeWatchedFilesClientCapabilities | None:
    """Return how a client watches files; None if it cannot."""
    workspace = capabilities.workspace
    files = workspace.did_change_watched_files if workspace is not None else None
    return files if files is not None and files.dynamic_registration else None


def _below(root: Path, glob: str, files: types.DidChangeWatchedFilesClientCapabilities) -> types.GlobPattern:
    return types.RelativePattern(root.as_uri(), glob) if files.relative_pattern_support else glob


def _mark(items: Sequence[types.Diagnostic]) -> str:
    """Return a text that stays the same as long as the diagnostics do."""
    return sha256(repr(items).encode("utf-8", "replace")).hexdigest()[:16]
