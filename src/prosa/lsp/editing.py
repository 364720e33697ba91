"""Code actions and formatting: edits of the document that is open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from prosa.app.editor.actions import Action, actions_in, fix_all
from prosa.app.editor.formatting import FormatEdits, format_document, format_range
from prosa.lsp.diagnostics import protocol_diagnostics
from prosa.lsp.view import View

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.prosa"


def register(server: SessionServer) -> None:
    """Register the handlers."""
    if server.session.configuration.features.actions:
        _register_actions(server)
    if server.session.configuration.features.formatting:
        _register_formatting(server)


def _register_actions(server: SessionServer) -> None:
    session = server.session
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def actions(params: types.CodeActionParams) -> Sequence[types.CodeAction] | None:
        context = params.context

        def found(view: View) -> list[types.CodeAction]:
            made: list[types.CodeAction] = []
            if _is_wanted(types.CodeActionKind.QuickFix.value, context.only):
                start, end = view.offset(params.range.start), view.offset(params.range.end)
                made += [_action(each, view) for each in actions_in(view.workspace, view.path, start, end)]
            if _is_wanted(FIX_ALL, context.only) and context.trigger_kind != types.CodeActionTriggerKind.Automatic:
                edits = fix_all(view.workspace, view.path)
                title = "fix all that can be fixed safely"
                made += [types.CodeAction(title, FIX_ALL, edit=view.workspace_edit(edits))] if edits else []
            return made

        return await session.ask(params.text_document.uri, found, checked=True)


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Return whether a client that wants only some kinds wants this one; a kind stands for all below it."""
    if only is None:
        return True
    wanted = [each.value if isinstance(each, types.CodeActionKind) else each for each in only]
    return any(not each or kind == each or kind.startswith(f"{each}.") for each in wanted)


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

    def told(found: FormatEdits | None, edits: Iterable[types.TextEdit]) -> list[types.TextEdit] | None:
        """Return the edits; if a document is left unchanged, report the reason."""
        if found is not None and found.problem:
            server.say(found.problem)
            return None
        return [*edits]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def whole(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        def form(view: View) -> tuple[FormatEdits, list[types.TextEdit]]:
            found = format_document(view.workspace, view.path)
            return found, [view.text_edit(each) for each in found.edits]

        made = await session.ask(params.text_document.uri, form)
        return told(*made) if made is not None else None

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def some(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        def form(view: View) -> tuple[FormatEdits, list[types.TextEdit]]:
            start, end = view.offset(params.range.start), view.offset(params.range.end)
            found = format_range(view.workspace, view.path, start, end)
            return found, [view.text_edit(each) for each in found.edits]

        made = await session.ask(params.text_document.uri, form)
        return told(*made) if made is not None else None
