"""Completion and hover over the wire: positions of the client's encoding, items that are looked into, the switches."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import FULL, SECONDS, Editor

SHARING = {
    **FULL,
    "textDocument": {"completion": {"completionList": {"itemDefaults": ["editRange"]}, "completionItem": {}}},
}


def at(uri: str, line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def applied(text: str, edit: dict[str, Any]) -> str:
    """A text of which one line is changed, in UTF-16 units."""
    lines = text.split("\n")
    start, end = edit["range"]["start"], edit["range"]["end"]
    line = lines[start["line"]].encode("utf-16-le")
    new = edit["newText"].encode("utf-16-le")
    lines[start["line"]] = (line[: 2 * start["character"]] + new + line[2 * end["character"] :]).decode("utf-16-le")
    return "\n".join(lines)


@pytest.fixture
def noted(project: Path) -> Path:
    """A project with a note."""
    (project / "Setup.md").write_text("---\ntitle: Setting up\n---\n# Setting up\n\nFirst.\n", encoding="utf-8")
    return project


def completed(editor: Editor, uri: str, line: int, character: int, label: str) -> dict[str, Any]:
    """The item of a label, asked for until the corpus has been read."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found = editor.ask("textDocument/completion", at(uri, line, character))
        for each in found["items"]:
            if each["label"] == label:
                return each
    raise AssertionError(f"{label} is never offered")


def test_x30_an_item_changes_what_is_typed_in_units_of_the_client(editor: Editor, noted: Path):
    editor.initialize(noted)
    text = "😀 [[se and é\n"
    uri = editor.open(noted / "a.md", text)
    item = completed(editor, uri, 0, 7, "Setup")
    assert applied(text, item["textEdit"]) == "😀 [[Setup]] and é\n"
    assert (item["kind"], item["detail"]) == (17, "Setting up · Setup.md")
    told = editor.ask("completionItem/resolve", item)
    assert told["documentation"]["kind"] == "markdown" and "First" in told["documentation"]["value"]


def test_a_range_that_items_share_is_said_once(editor: Editor, noted: Path):
    editor.initialize(noted, capabilities=SHARING)
    uri = editor.open(noted / "a.md", "---\nname: p\ninput: {}\nout\n---\n")
    found = editor.ask("textDocument/completion", at(uri, 3, 3))
    assert found["itemDefaults"]["editRange"] == {
        "start": {"line": 3, "character": 0},
        "end": {"line": 3, "character": 3},
    }
    (item,) = found["items"]
    assert "textEdit" not in item and item["textEditText"] == "output:"


def test_hover_says_what_stands_there_with_its_range(editor: Editor, noted: Path):
    editor.initialize(noted)
    uri = editor.open(noted / "a.md", "---\nname: p\ninput: {}\n---\n")
    found = editor.ask("textDocument/hover", at(uri, 2, 2))
    assert found["range"] == {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 5}}
    assert "JSON Schema" in found["contents"]["value"]
    assert editor.ask("textDocument/hover", at(uri, 0, 0)) is None


def test_what_is_switched_off_is_not_offered(editor: Editor, noted: Path):
    found = editor.initialize(noted, options={"features": {"completion": False, "hover": False}})
    assert "completionProvider" not in found["capabilities"] and "hoverProvider" not in found["capabilities"]


def test_x30_the_wire_carries_what_the_use_case_says(editor: Editor, noted: Path):
    found = editor.initialize(noted)
    assert found["capabilities"]["completionProvider"]["resolveProvider"]
    assert "[" in found["capabilities"]["completionProvider"]["triggerCharacters"]
    uri = editor.open(noted / "a.md", "x\n")
    assert json.dumps(editor.ask("textDocument/completion", at(uri, 0, 1))["items"]) == "[]"
