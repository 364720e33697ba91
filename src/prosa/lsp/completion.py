"""Completion and hover.

In: requests of the client. Out: the answers of `app.editor`, in positions. The preview of a document is built when the
client resolves one item. A client without Markdown gets the same text in plain form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types

from prosa.app.editor.candidates import NOTHING, Completion, Completions, Kind
from prosa.app.editor.complete import TRIGGERS, complete
from prosa.app.editor.hover import hover, preview
from prosa.data import Value
from prosa.lsp.documents import View

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer

JsonObject: TypeAlias = dict[str, Value]
"""An object of the protocol as it is sent."""

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
    async def completing(params: types.CompletionParams) -> JsonObject | None:
        uri = params.text_document.uri

        def answer(view: View) -> JsonObject:
            made = complete(view.workspace, view.path, view.offset(params.position))
            return _listed(view, made, uri, shares=shares)

        return await session.ask(uri, answer)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolved(item: types.CompletionItem) -> types.CompletionItem:
        data = item.data if isinstance(item.data, Mapping) else {}
        uri, path, fragment = (str(data.get(name, "")) for name in ("uri", "path", "fragment"))
        if path and item.documentation is None:
            text = await session.ask(uri, lambda view: preview(view.workspace, Path(path), fragment))
            item.documentation = types.MarkupContent(kind, text) if text else None
        return item


def _listed(view: View, made: Completions, uri: str, *, shares: bool) -> JsonObject:
    """Return the items of an answer; their common range is sent once if the client supports that. As JSON: there are
    hundreds at each key, and the types of the library take ten times as long to make and to send."""
    if not made.items:
        return {"isIncomplete": NOTHING.incomplete, "items": []}
    edit = made.items[0].edit
    where = _range(view.range(edit.start, edit.end))
    answer: JsonObject = {
        "isIncomplete": made.incomplete,
        "items": [_item(item, where, uri, shares=shares) for item in made.items],
    }
    return answer | {"itemDefaults": {"editRange": where}} if shares else answer


def _range(where: types.Range) -> JsonObject:
    ends = (("start", where.start), ("end", where.end))
    return {name: {"line": position.line, "character": position.character} for name, position in ends}


def _item(completion: Completion, where: JsonObject, uri: str, *, shares: bool) -> JsonObject:
    item: JsonObject = {"label": completion.label, "kind": _KINDS[completion.kind].value, "sortText": completion.sort}
    if completion.detail:
        item["detail"] = completion.detail
    if completion.documentation:
        item["documentation"] = {"kind": types.MarkupKind.PlainText.value, "value": completion.documentation}
    if completion.filter != completion.label:
        item["filterText"] = completion.filter
    if not shares:
        item["textEdit"] = {"range": where, "newText": completion.edit.text}
    elif completion.edit.text != completion.label:
        item["textEditText"] = completion.edit.text
    if completion.about is not None:
        item["data"] = {"uri": uri, "path": str(completion.about), "fragment": completion.fragment}
    return item


def _register_hover(server: SessionServer) -> None:
    session = server.session
    document = server.client_capabilities.text_document
    kind = _kind(document.hover.content_format if document is not None and document.hover is not None else None)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovering(params: types.HoverParams) -> types.Hover | None:
        def answer(view: View) -> types.Hover | None:
            made = hover(view.workspace, view.path, view.offset(params.position))
            if made is None:
                return None
            where = view.range(made.place.start, made.place.end)
            return types.Hover(types.MarkupContent(kind, made.text), where)

        return await session.ask(params.text_document.uri, answer)


def _kind(known: Collection[types.MarkupKind] | None) -> types.MarkupKind:
    """Return markdown where the client draws it, or does not say."""
    return types.MarkupKind.PlainText if known and types.MarkupKind.Markdown not in known else types.MarkupKind.Markdown
