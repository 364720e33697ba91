"""Navigation: definitions, references, highlights, links, symbols, folds, selections, counts of backlinks.

In: requests of the client. Out: the answers of `app.editor`, in positions. A client without support for the richer
form of an answer gets the plain one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lsprotocol import types

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.definition import definitions, document_links
from prosa.app.editor.outline import (
    MAX_FOUND,
    FoldKind,
    FoundKind,
    OutlineSymbol,
    SymbolKind,
    WorkspaceSymbol,
    folds,
    outline,
    selections,
    workspace_symbols,
)
from prosa.app.editor.references import backlink_counts, highlights, references
from prosa.lsp.documents import View
from prosa.lsp.positions import Encoding, range_of
from prosa.source import LineIndex

if TYPE_CHECKING:
    from prosa.lsp.session import SessionServer

_KINDS: Mapping[SymbolKind | FoundKind, types.SymbolKind] = MappingProxyType(
    {
        "heading": types.SymbolKind.String,
        "front matter": types.SymbolKind.Namespace,
        "field": types.SymbolKind.Key,
        "script": types.SymbolKind.Function,
        "relationship": types.SymbolKind.Interface,
        "message": types.SymbolKind.Event,
        "action": types.SymbolKind.Method,
        "footer": types.SymbolKind.Namespace,
        "document": types.SymbolKind.File,
        "program": types.SymbolKind.Function,
        "id": types.SymbolKind.Constant,
    }
)
_FOLDS: Mapping[FoldKind, types.FoldingRangeKind] = MappingProxyType(
    {"comment": types.FoldingRangeKind.Comment, "front matter": types.FoldingRangeKind.Imports}
)


def register(server: SessionServer) -> None:
    """Register the handlers that the user wants."""
    features = server.session.configuration.features
    if features.navigation:
        _register_navigation(server)
    if features.symbols:
        _register_symbols(server)
    if features.folding:
        _register_folding(server)
    if features.lens:
        _register_lens(server)


def _register_navigation(server: SessionServer) -> None:
    session = server.session
    document = server.client_capabilities.text_document
    linked = bool(document and document.definition and document.definition.link_support)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.LocationLink] | list[types.Location] | None:
        def answer(view: View) -> list[types.LocationLink] | list[types.Location]:
            made = definitions(view.workspace, view.path, view.offset(params.position))
            if not linked:
                return [view.location(target.name) for target in made]
            return [
                types.LocationLink(
                    target_uri=view.uris(target.name.path),
                    target_range=_range(view, target.whole),
                    target_selection_range=_range(view, target.name),
                    origin_selection_range=_range(view, target.origin),
                )
                for target in made
            ]

        return await session.ask(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def named(params: types.ReferenceParams) -> list[types.Location] | None:
        def answer(view: View) -> list[types.Location]:
            offset, declared = view.offset(params.position), params.context.include_declaration
            return _locations(view, references(view.workspace, view.path, offset, definitions=declared))

        return await session.ask(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlighted(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        def answer(view: View) -> list[types.DocumentHighlight]:
            made = highlights(view.workspace, view.path, view.offset(params.position))
            return [types.DocumentHighlight(location.range) for location in _locations(view, made)]

        return await session.ask(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def linking(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        def answer(view: View) -> list[types.DocumentLink]:
            lines = view.lines()
            return [
                types.DocumentLink(
                    range_of(lines, link.place.start, link.place.end, view.encoding),
                    view.uris(link.path) if link.path is not None else link.url,
                )
                for link in document_links(view.workspace, view.path)
            ]

        return await session.ask(params.text_document.uri, answer)


def _register_symbols(server: SessionServer) -> None:
    session = server.session
    document = server.client_capabilities.text_document
    symbols = document.document_symbol if document is not None else None
    nested = bool(symbols and symbols.hierarchical_document_symbol_support)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def parts(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
        def answer(view: View) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
            made, lines = outline(view.workspace, view.path), view.lines()
            if nested:
                return [_symbol(symbol, lines, view.encoding) for symbol in made]
            return [*_flat(made, "", view, lines)]

        return await session.ask(params.text_document.uri, answer)

    @server.feature(types.WORKSPACE_SYMBOL)
    async def everywhere(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        def answer(workspaces: list[Workspace]) -> list[types.SymbolInformation]:
            made = [(symbol, one) for one in workspaces for symbol in workspace_symbols(one, params.query)]
            return [_found(symbol, one, server) for symbol, one in made[:MAX_FOUND]]

        return await session.ask_all(answer)


def _register_folding(server: SessionServer) -> None:
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        def answer(view: View) -> list[types.FoldingRange]:
            lines = view.lines()
            return [
                types.FoldingRange(
                    lines.line(fold.place.start) - 1, lines.line(fold.place.end) - 1, kind=_FOLDS.get(fold.kind)
                )
                for fold in folds(view.workspace, view.path)
            ]

        return await session.ask(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def selecting(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        def answer(view: View) -> list[types.SelectionRange]:
            return [
                _selection(view, selections(view.workspace, view.path, view.offset(position)), position)
                for position in params.positions
            ]

        return await session.ask(params.text_document.uri, answer)


def _register_lens(server: SessionServer) -> None:
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        def answer(view: View) -> list[types.CodeLens]:
            return [
                types.CodeLens(
                    _range(view, place), types.Command("1 backlink" if count == 1 else f"{count} backlinks", "")
                )
                for place, count in backlink_counts(view.workspace, view.path)
            ]

        return await session.ask(params.text_document.uri, answer)


def _range(view: View, place: DocumentSpan) -> types.Range:
    return view.range(place.start, place.end, place.path)


def _locations(view: View, places: Iterable[DocumentSpan]) -> list[types.Location]:
    """Place as the protocol names them; the lines of each document are counted once."""
    lines: dict[Path, LineIndex] = {}
    locations = []
    for place in places:
        index = lines.get(place.path)
        if index is None:
            index = lines[place.path] = view.lines(place.path)
        locations.append(types.Location(view.uris(place.path), range_of(index, place.start, place.end, view.encoding)))
    return locations


def _symbol(symbol: OutlineSymbol, lines: LineIndex, encoding: Encoding) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        kind=_KINDS[symbol.kind],
        range=range_of(lines, symbol.whole.start, symbol.whole.end, encoding),
        selection_range=range_of(lines, symbol.place.start, symbol.place.end, encoding),
        detail=symbol.detail or None,
        children=[_symbol(child, lines, encoding) for child in symbol.children],
    )


def _flat(
    symbols: Iterable[OutlineSymbol], container: str, view: View, lines: LineIndex
) -> Iterable[types.SymbolInformation]:
    for symbol in symbols:
        place = types.Location(
            view.uris(symbol.whole.path), range_of(lines, symbol.whole.start, symbol.whole.end, view.encoding)
        )
        yield types.SymbolInformation(place, symbol.name, _KINDS[symbol.kind], container_name=container or None)
        yield from _flat(symbol.children, symbol.name, view, lines)


def _found(symbol: WorkspaceSymbol, workspace: Workspace, server: SessionServer) -> types.SymbolInformation:
    session, place = server.session, symbol.place
    source = workspace.source(place.path) if place.end else None
    lines = source.lines if source is not None else LineIndex("")
    where = types.Location(session.uri_of(place.path), range_of(lines, place.start, place.end, session.encoding))
    return types.SymbolInformation(where, symbol.name, _KINDS[symbol.kind], container_name=symbol.container)


def _selection(view: View, places: Iterable[DocumentSpan], position: types.Position) -> types.SelectionRange:
    """Return the innermost of nested ranges, each with the one around it."""
    lines = view.lines()
    selection: types.SelectionRange | None = None
    for place in reversed([*places]):
        selection = types.SelectionRange(range_of(lines, place.start, place.end, view.encoding), selection)
    return selection or types.SelectionRange(types.Range(position, position))
