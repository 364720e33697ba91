"""Questions of where things are, and renames, as an editor asks them over the wire (X30)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import FULL, Editor
from tests.lsp.test_editing import applied

GUIDE = "# The 😀 guide\n\n## Two parts\n\ntext\n"
ASKING = "😀 [x](guide.md#two-parts) [[guide]] [[nowhere]]\n"
RICH: dict[str, Any] = {
    "workspace": {
        **FULL["workspace"],
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
        "fileOperations": {"willRename": True},
    },
    "textDocument": {
        "definition": {"linkSupport": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "rename": {"prepareSupport": True},
    },
}


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": at(line, start), "end": at(line, end)}


@pytest.fixture
def asked(editor: Editor, project: Path) -> Asking:
    return Asking(editor, project, RICH)


class Asking:
    """An editor with one open document, whose project has been read."""

    def __init__(self, editor: Editor, project: Path, capabilities: Mapping[str, Any], **options: Any) -> None:
        (project / "guide.md").write_text(GUIDE, "utf-8")
        (project / "sub").mkdir()
        (project / "sub/b.md").write_text("[y](../guide.md) [p](p.png)\n", "utf-8")
        (project / "sub/p.png").write_bytes(b"")
        self.editor, self.project = editor, project
        editor.initialize(project, capabilities=capabilities, options=options)
        self.uri = editor.open(project / "a.md", ASKING)
        editor.until(self.uri, ["unresolved-wikilink"])

    def of(self, method: str, position: dict[str, int] | None = None, **more: Any) -> Any:
        document = {"textDocument": {"uri": self.uri}}
        return self.editor.ask(f"textDocument/{method}", document | ({"position": position} if position else {}) | more)

    def uri_of(self, name: str) -> str:
        return (self.project / name).as_uri()


def test_a_definition_is_a_link_where_the_client_knows_them(asked: Asking) -> None:
    (found,) = asked.of("definition", at(0, 12))
    assert found["targetUri"] == asked.uri_of("guide.md")
    assert found["targetSelectionRange"] == span(2, 3, 12)
    assert found["targetRange"]["start"] == at(2, 0)
    assert found["originSelectionRange"] == span(0, 7, 25)
    assert asked.of("definition", at(0, 0)) == []


def test_a_plain_client_is_given_plain_answers(editor: Editor, project: Path) -> None:
    asked = Asking(editor, project, FULL, features={"lens": True})
    assert asked.of("definition", at(0, 12)) == [{"uri": asked.uri_of("guide.md"), "range": span(2, 3, 12)}]
    guide = editor.open(project / "guide.md")
    symbols = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": guide}})
    assert [(each["name"], each.get("containerName")) for each in symbols] == [
        ("The 😀 guide", None),
        ("Two parts", "The 😀 guide"),
    ]
    lenses = editor.ask("textDocument/codeLens", {"textDocument": {"uri": guide}})
    assert [(each["range"]["start"], each["command"]["title"]) for each in lenses] == [
        (at(0, 0), "3 backlinks"),
        (at(2, 3), "1 backlink"),
    ]
    refused = editor.answer(
        editor.begin("textDocument/rename", {"textDocument": {"uri": asked.uri}, "position": at(0, 30), "newName": "b"})
    )
    assert "prosa rename" in refused["error"]["message"]


def test_references_and_highlights(asked: Asking) -> None:
    found = asked.of("references", at(0, 30), context={"includeDeclaration": False})
    assert [(each["uri"], each["range"]) for each in found] == [
        (asked.uri, span(0, 7, 25)),
        (asked.uri, span(0, 27, 36)),
        (asked.uri_of("sub/b.md"), span(0, 4, 15)),
    ]
    assert [each["range"] for each in asked.of("documentHighlight", at(0, 30))] == [span(0, 27, 36)]


def test_links_symbols_folds_and_selections(asked: Asking) -> None:
    links = asked.of("documentLink")
    assert [(each["range"], each["target"]) for each in links] == [
        (span(0, 7, 25), asked.uri_of("guide.md")),
        (span(0, 27, 36), asked.uri_of("guide.md")),
    ]
    guide = {"textDocument": {"uri": asked.editor.open(asked.project / "guide.md")}}
    (top,) = asked.editor.ask("textDocument/documentSymbol", guide)
    assert (top["name"], [each["name"] for each in top["children"]]) == ("The 😀 guide", ["Two parts"])
    folds = asked.editor.ask("textDocument/foldingRange", guide)
    assert [(each["startLine"], each["endLine"]) for each in folds] == [(0, 4), (2, 4)]
    (grown,) = asked.editor.ask("textDocument/selectionRange", {**guide, "positions": [at(2, 5)]})
    assert grown["range"] == span(2, 3, 6)
    assert grown["parent"]["range"] == span(2, 3, 12)
    found = asked.editor.ask("workspace/symbol", {"query": "two"})
    assert [(each["name"], each["location"]["uri"], each["location"]["range"]) for each in found] == [
        ("Two parts", asked.uri_of("guide.md"), span(2, 3, 12))
    ]


def test_a_rename_changes_open_texts_and_files(asked: Asking) -> None:
    prepared = asked.of("prepareRename", at(0, 12))
    assert prepared == {"range": span(0, 7, 25), "placeholder": "Two parts"}
    own, guide = asked.of("rename", at(0, 12), newName="Many things")["documentChanges"]
    assert own["textDocument"] == {"uri": asked.uri, "version": 1}
    assert applied(ASKING, own["edits"]) == ASKING.replace("two-parts", "many-things")
    assert guide["textDocument"] == {"uri": asked.uri_of("guide.md"), "version": None}
    assert applied(GUIDE, guide["edits"]) == GUIDE.replace("Two parts", "Many things")


def test_a_document_that_is_renamed_moves_after_its_links(asked: Asking) -> None:
    *changes, moved = asked.of("rename", at(0, 30), newName="handbook")["documentChanges"]
    assert [each["textDocument"]["uri"] for each in changes] == [asked.uri, asked.uri_of("sub/b.md")]
    assert moved == {"kind": "rename", "oldUri": asked.uri_of("guide.md"), "newUri": asked.uri_of("handbook.md")}


def test_what_cannot_be_renamed_is_an_error_with_a_sentence(asked: Asking) -> None:
    assert asked.of("prepareRename", at(0, 0)) is None
    params = {"textDocument": {"uri": asked.uri}, "position": at(0, 30), "newName": "sub/b"}
    refused = asked.editor.answer(asked.editor.begin("textDocument/rename", params))
    assert refused["error"]["message"].startswith("sub/b.md exists already")


def test_links_follow_what_the_editor_moves(asked: Asking) -> None:
    files = [{"oldUri": asked.uri_of("sub"), "newUri": asked.uri_of("deep/er")}]
    (change,) = asked.editor.ask("workspace/willRenameFiles", {"files": files})["documentChanges"]
    assert change["textDocument"]["uri"] == asked.uri_of("sub/b.md")
    assert applied("[y](../guide.md) [p](p.png)\n", change["edits"]) == "[y](../../guide.md) [p](p.png)\n"
    files = [{"oldUri": asked.uri_of("nothing.txt"), "newUri": asked.uri_of("other.txt")}]
    assert asked.editor.ask("workspace/willRenameFiles", {"files": files}) is None


def test_a_client_without_versions_gets_the_changes_of_a_rename_too(editor: Editor, project: Path) -> None:
    asked = Asking(editor, project, {"workspace": {"fileOperations": {"willRename": True}}})
    changes = asked.of("rename", at(0, 12), newName="Many things")["changes"]
    assert applied(ASKING, changes[asked.uri]) == ASKING.replace("two-parts", "many-things")
    files = [{"oldUri": asked.uri_of("sub"), "newUri": asked.uri_of("deep/er")}]
    found = editor.ask("workspace/willRenameFiles", {"files": files})
    (edits,) = found["changes"].values()
    assert applied("[y](../guide.md) [p](p.png)\n", edits) == "[y](../../guide.md) [p](p.png)\n"
    assert "documentChanges" not in found


def test_features_can_be_switched_off(editor: Editor, project: Path) -> None:
    off = dict.fromkeys(("navigation", "rename", "symbols", "folding"), False)
    found = editor.initialize(project, capabilities=RICH, options={"features": off})["capabilities"]
    assert not {"definitionProvider", "renameProvider", "documentSymbolProvider", "foldingRangeProvider"} & {
        name for name, value in found.items() if value
    }
    assert not found.get("codeLensProvider")
