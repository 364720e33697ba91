"""Code actions, formatting and renames: edits that the client applies; nothing is written here.

A refusal is an error with a sentence, which editors show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from prosa.app.check.workspace import Workspace
from prosa.app.editor.actions import Action, FormatEdits, actions_in, fix_all, format_document, format_range
from prosa.app.editor.rename import Renaming, renamable, rename, renamed_files
from prosa.corpus.moves import MoveRefused
from prosa.lsp.documents import View, path_of
from prosa.lsp.positions import protocol_diagnostics
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer


FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.prosa"


def register(server: SessionServer) -> None:
    """Register the handlers."""
    if server.session.configuration.features.actions:
        _register_actions(server)
    if server.session.configuration.features.formatting:
        _register_formatting(server)
    if server.session.configuration.features.rename:
        _register_renaming(server)


def _register_actions(server: SessionServer) -> None:
    session = server.session
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def actions(params: types.CodeActionParams) -> Sequence[types.CodeAction] | None:
        context = params.context

        def answer(view: View) -> list[types.CodeAction]:
            made: list[types.CodeAction] = []
            if _is_wanted(types.CodeActionKind.QuickFix.value, context.only):
                start, end = view.offset(params.range.start), view.offset(params.range.end)
                made += [_action(action, view) for action in actions_in(view.workspace, view.path, start, end)]
            if _is_wanted(FIX_ALL, context.only) and context.trigger_kind != types.CodeActionTriggerKind.Automatic:
                edits = fix_all(view.workspace, view.path)
                title = "fix all that can be fixed safely"
                made += [types.CodeAction(title, FIX_ALL, edit=view.workspace_edit(edits))] if edits else []
            return made

        return await session.ask(params.text_document.uri, answer, checked=True)


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Return whether a client that wants only some kinds wants this one; a kind stands for all below it."""
    if only is None:
        return True
    wanted = [allowed.value if isinstance(allowed, types.CodeActionKind) else allowed for allowed in only]
    return any(not allowed or kind == allowed or kind.startswith(f"{allowed}.") for allowed in wanted)


def _action(action: Action, view: View) -> types.CodeAction:
    return types.CodeAction(
        action.title,
        types.CodeActionKind.QuickFix,
        protocol_diagnostics([action.diagnostic], view.encoding, view.uris, view.documentation),
        action.preferred or None,
        edit=view.workspace_edit(action.edits),
    )


def _register_formatting(server: SessionServer) -> None:
    session = server.session

    def sent(result: FormatEdits | None, edits: Iterable[types.TextEdit]) -> list[types.TextEdit] | None:
        """Return the edits; if a document is left unchanged, report the reason."""
        if result is not None and result.problem:
            server.say(result.problem)
            return None
        return [*edits]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def whole(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        def form(view: View) -> tuple[FormatEdits, list[types.TextEdit]]:
            edits = format_document(view.workspace, view.path)
            return edits, [view.text_edit(edit) for edit in edits.edits]

        made = await session.ask(params.text_document.uri, form)
        return sent(*made) if made is not None else None

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def some(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        def form(view: View) -> tuple[FormatEdits, list[types.TextEdit]]:
            start, end = view.offset(params.range.start), view.offset(params.range.end)
            edits = format_range(view.workspace, view.path, start, end)
            return edits, [view.text_edit(edit) for edit in edits.edits]

        made = await session.ask(params.text_document.uri, form)
        return sent(*made) if made is not None else None


def _register_renaming(server: SessionServer) -> None:
    """Register renaming, and that of files where the client reports it."""
    _register_rename(server)
    workspace = server.client_capabilities.workspace
    files = workspace.file_operations if workspace is not None else None
    if files is not None and files.will_rename:
        _register_files(server)


def _register_rename(server: SessionServer) -> None:
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        def answer(view: View) -> types.PrepareRenamePlaceholder | None:
            made = renamable(view.workspace, view.path, view.offset(params.position))
            if made is None:
                return None
            return types.PrepareRenamePlaceholder(view.range(made.place.start, made.place.end), made.name)

        return await session.ask(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renaming(params: types.RenameParams) -> types.WorkspaceEdit | None:
        def answer(view: View) -> types.WorkspaceEdit:
            try:
                made = rename(view.workspace, view.path, view.offset(params.position), params.new_name)
            except (MoveRefused, FileProblem) as problem:
                _refuse(problem)
            if made.moves and not _moves_files(server):
                _refuse(MoveRefused("this editor does not let the server rename files", "use `prosa rename`"))
            return _edit(view, made)

        return await session.ask(params.text_document.uri, answer)


def _register_files(server: SessionServer) -> None:
    session = server.session
    every = types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, types.FileOperationRegistrationOptions([every]))
    async def moving(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        pairs = [(path_of(file.old_uri), path_of(file.new_uri)) for file in params.files]
        files = [(old, new) for old, new in pairs if old is not None and new is not None]

        def answer(workspaces: list[Workspace]) -> types.WorkspaceEdit | None:
            changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
            plain: dict[str, Sequence[types.TextEdit]] = {}
            for workspace in workspaces:
                try:
                    made = renamed_files(workspace, files)
                except (MoveRefused, FileProblem) as problem:
                    _refuse(problem)
                edit = _edit(session.view(workspace.root / "_"), made)
                changes += edit.document_changes or ()
                plain |= edit.changes or {}
            if plain:
                return types.WorkspaceEdit(plain)
            return types.WorkspaceEdit(document_changes=changes) if changes else None

        return await session.ask_all(answer)


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
    view.know(made.sources)
    edit = view.workspace_edit(made.edits)
    if not made.moves:
        return edit
    moves = (types.RenameFile(view.uris(old), new.as_uri()) for old, new in made.moves)
    return types.WorkspaceEdit(document_changes=[*(edit.document_changes or ()), *moves])
