"""Completion and hover.

In: requests of the client. Out: the answers of `app.editor`, in positions. The preview of a document is built when the
client resolves one item. A client without Markdown gets the same text in plain form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lsprotocol import types

from prosa.app.editor.candidates import NOTHING, Completion, Completions, Kind
from prosa.app.editor.complete import TRIGGERS, complete
from prosa.app.editor.hover import hover, preview
from prosa.lsp.documents import View

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer

_KINDS: Mapping[Kind, types.CompletionItemKind] = MappingProxyType(
    {
        "field": types.CompletionItemKind.Property,
        "value": types.CompletionItemKind.EnumMember,
        "keyword": types.CompletionItemKind.Keyword,
        "function": types.CompletionItemKind.Function,
        "variable": types.CompletionItemKind.Variable,
        "input": types.CompletionItemKind.Field,
        "document": types.CompletionItemKind.File,
        "heading": types.CompletionItemKind.Reference,
        "block": types.CompletionItemKind.Reference,
        "file": types.CompletionItemKind.File,
        "label": types.CompletionItemKind.Reference,
        "id": types.CompletionItemKind.Constant,
        "relation": types.CompletionItemKind.Interface,
        "program": types.CompletionItemKind.Module,
        "rule": types.CompletionItemKind.Constant,
        "role": types.CompletionItemKind.Class,
        "setting": types.CompletionItemKind.Property,
        "command": types.CompletionItemKind.Function,
        "dialect": types.CompletionItemKind.EnumMember,
        "url": types.CompletionItemKind.File,
        "tool": types.CompletionItemKind.Method,
        "language": types.CompletionItemKind.Keyword,
    }
)


def register(server: SessionServer) -> None:
    """Register the handlers that the user wants."""
    features = server.session.configuration.features
    if features.completion:
        _register_completion(server)
    if features.hover:
        _register_hover(server)


def _register_completion(server: SessionServer) -> None:
    session = server.session
    document = server.client_capabilities.text_document
    able = document.completion if document is not None else None
    shares = bool(able and able.completion_list and "editRange" in (able.completion_list.item_defaults or ()))
    kind = _kind(able.completion_item.documentation_format if able and able.completion_item else None)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True)
    )
    async def completing(params: types.CompletionParams) -> types.CompletionList | None:
        uri = params.text_document.uri

        def found(view: View) -> types.CompletionList:
            made = complete(view.workspace, view.path, view.offset(params.position))
            return _listed(view, made, uri, shares=shares)

        return await session.ask(uri, found)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolved(item: types.CompletionItem) -> types.CompletionItem:
        data = item.data if isinstance(item.data, Mapping) else {}
        uri, path, fragment = (str(data.get(name, "")) for name in ("uri", "path", "fragment"))
        if path and item.documentation is None:
            text = await session.ask(uri, lambda view: preview(view.workspace, Path(path), fragment))
            item.documentation = types.MarkupContent(kind, text) if text else None
        return item


def _listed(view: View, made: Completions, uri: str, *, shares: bool) -> types.CompletionList:
    """Return the items of an answer; their common range is sent once if the client supports that."""
    if not made.items:
        return types.CompletionList(is_incomplete=NOTHING.incomplete, items=[])
    edit = made.items[0].edit
    where = view.range(edit.start, edit.end)
    items = [_item(each, where, uri, shares=shares) for each in made.items]
    defaults = types.CompletionItemDefaults(edit_range=where) if shares else None
    return types.CompletionList(is_incomplete=made.incomplete, items=items, item_defaults=defaults)


def _item(each: Completion, where: types.Range, uri: str, *, shares: bool) -> types.CompletionItem:
    about = {"uri": uri, "path": str(each.about), "fragment": each.fragment} if each.about is not None else None
    return types.CompletionItem(
        each.label,
        kind=_KINDS[each.kind],
        detail=each.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.PlainText, each.documentation)
        if each.documentation
        else None,
        sort_text=each.sort,
        filter_text=each.filter if each.filter != each.label else None,
        text_edit=None if shares else types.TextEdit(where, each.edit.text),
        text_edit_text=each.edit.text if shares and each.edit.text != each.label else None,
        data=about,
    )


def _register_hover(server: SessionServer) -> None:
    session = server.session
    document = server.client_capabilities.text_document
    kind = _kind(document.hover.content_format if document is not None and document.hover is not None else None)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovering(params: types.HoverParams) -> types.Hover | None:
        def found(view: View) -> types.Hover | None:
            made = hover(view.workspace, view.path, view.offset(params.position))
            if made is None:
                return None
            where = view.range(made.place.start, made.place.end)
            return types.Hover(types.MarkupContent(kind, made.text), where)

        return await session.ask(params.text_document.uri, found)


def _kind(known: Collection[types.MarkupKind] | None) -> types.MarkupKind:
    """Return markdown where the client draws it, or does not say."""
    return types.MarkupKind.PlainText if known and types.MarkupKind.Markdown not in known else types.MarkupKind.Markdown
