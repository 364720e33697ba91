"""Renames: of what stands at a position, and of files and folders that the editor is about to move.

In: questions of the client. Out: edits that the client applies; nothing is written here. A refusal is an error with a
sentence, which editors show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from prosa.app.check.workspace import Workspace
from prosa.app.editor.rename import Renaming, renamable, rename, renamed_files
from prosa.corpus.moves import MoveRefused
from prosa.lsp.documents import path_of
from prosa.lsp.view import View
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer


def register(server: SessionServer) -> None:
    """Register the handlers that the user wants and the client can make use of."""
    if not server.session.configuration.features.rename:
        return
    _register_rename(server)
    workspace = server.client_capabilities.workspace
    files = workspace.file_operations if workspace is not None else None
    if files is not None and files.will_rename:
        _register_files(server)


def _register_rename(server: SessionServer) -> None:
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        def found(view: View) -> types.PrepareRenamePlaceholder | None:
            made = renamable(view.workspace, view.path, view.offset(params.position))
            if made is None:
                return None
            return types.PrepareRenamePlaceholder(view.range(made.place.start, made.place.end), made.name)

        return await session.ask(params.text_document.uri, found)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renaming(params: types.RenameParams) -> types.WorkspaceEdit | None:
        def found(view: View) -> types.WorkspaceEdit:
            try:
                made = rename(view.workspace, view.path, view.offset(params.position), params.new_name)
            except (MoveRefused, FileProblem) as problem:
                _refuse(problem)
            if made.moves and not _moves_files(server):
                _refuse(MoveRefused("this editor lets nobody else rename files", "use `prosa rename`"))
            return _edit(view, made)

        return await session.ask(params.text_document.uri, found)


def _register_files(server: SessionServer) -> None:
    session = server.session
    every = types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, types.FileOperationRegistrationOptions([every]))
    async def moving(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        pairs = [(path_of(each.old_uri), path_of(each.new_uri)) for each in params.files]
        files = [(old, new) for old, new in pairs if old is not None and new is not None]

        def found(workspaces: list[Workspace]) -> types.WorkspaceEdit | None:
            changes: list[types.TextDocumentEdit] = []
            for each in workspaces:
                try:
                    made = renamed_files(each, files)
                except (MoveRefused, FileProblem) as problem:
                    _refuse(problem)
                edit = _edit(session.view(each.root / "_"), made)
                changes += (one for one in edit.document_changes or () if isinstance(one, types.TextDocumentEdit))
            return types.WorkspaceEdit(document_changes=changes) if changes else None

        return await session.ask_all(found)


def _refuse(problem: MoveRefused | FileProblem) -> NoReturn:
    """Explain to the user why a rename is refused."""
    words = str(problem)
    if isinstance(problem, MoveRefused) and problem.hint:
        words = f"{problem.message}; {problem.hint}"
    raise JsonRpcException(words, types.LSPErrorCodes.RequestFailed)


def _moves_files(server: SessionServer) -> bool:
    """Return whether the client supports renaming files in an answer."""
    workspace = server.client_capabilities.workspace
    edit = workspace.workspace_edit if workspace is not None else None
    kinds = edit.resource_operations if edit is not None else None
    return edit is not None and bool(edit.document_changes) and types.ResourceOperationKind.Rename in (kinds or ())


def _edit(view: View, made: Renaming) -> types.WorkspaceEdit:
    """Return the changes of documents, and after them the files that move."""
    edit = view.workspace_edit(made.edits)
    changes = [*(edit.document_changes or ())]
    changes += (types.RenameFile(view.uris(old), new.as_uri()) for old, new in made.moves)
    return types.WorkspaceEdit(document_changes=changes)
