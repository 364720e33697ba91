"""Code actions and formatting: what an editor applies is what the command line would write (X22, X30)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.cli.main import main
from prosa.diagnostics import Applicability, Diagnostic
from prosa.source import LineIndex
from tests.api.test_doors import written
from tests.cli.desk import desk
from tests.depth import DEEP
from tests.lsp.editor import Editor, inside
from tests.rules.literate import examples, page_of_each_family, pages

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}


def offset(lines: LineIndex, position: Mapping[str, int]) -> int:
    if position["line"] >= lines.count:
        return len(lines.text)
    begin = lines.starts[position["line"]]
    data = lines.text[begin:].encode("utf-16-le")[: 2 * position["character"]]
    return begin + len(data.decode("utf-16-le"))


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    lines = LineIndex(text)
    placed = [(offset(lines, e["range"]["start"]), offset(lines, e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(placed, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def edits_of(action: Mapping[str, Any], uri: str) -> list[dict[str, Any]]:
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == uri
    return change["edits"]


def actions(editor: Editor, uri: str, where: object = WHOLE, **context: object) -> list[dict[str, Any]]:
    params = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": [], **context}}
    return editor.ask("textDocument/codeAction", params)


@pytest.mark.parametrize("page", pages()[1::6] if DEEP else page_of_each_family(1), ids=lambda page: page.stem)
def test_x30_actions_of_the_examples_of_rules(page: Path, tmp_path: Path, environ: Mapping[str, str]):
    """X30. Every fix is offered; what is preferred needs no thought; after a comment the diagnostic is gone, the others
    stay, and the rest of the file is what it was; all safe fixes together make what `check --fix` writes."""
    for number, example in enumerate(examples(page.read_text("utf-8"))):
        if any(flag.startswith("as=") for flag in example.flags) or "strict" in example.flags:
            continue
        folder = (tmp_path / str(number)).resolve()
        (folder / ".git").mkdir(parents=True)
        name = next(iter(written(example, folder)))
        text = example.documents.get(name)
        if text is None:
            continue
        path = (folder / name).resolve()
        found = [each for each in prosa.check([folder, path]) if Path(each.path).resolve() == path]
        with inside(environ) as editor:
            editor.initialize(folder)
            uri = editor.open(path, text)
            editor.until(uri, [each.rule for each in found])
            offered = actions(editor, uri)
            fixes = [(each.fix.message, each.fix.applicability) for each in found if each.fix is not None]
            wanted = [
                (
                    message if how is Applicability.SAFE else f"{message} (may change the meaning)",
                    how is Applicability.SAFE,
                )
                for message, how in fixes
            ]
            named = [
                (each["title"], each.get("isPreferred", False)) for each in offered if "ignore" not in each["title"]
            ]
            assert [each for each in named if "fix all" not in each[0]] == wanted
            for each in offered:
                if each["title"].startswith("ignore"):
                    kept_quiet(folder, path, applied(text, edits_of(each, uri)), each, found)
            every = actions(editor, uri, only=["source.fixAll"])
        at = desk(environ={"HOME": str(tmp_path)})
        main(["check", "--fix", "--no-cache", "--jobs", "1", str(path)], at.console)
        assert path.read_bytes().decode() == (applied(text, edits_of(every[0], uri)) if every else text)


def said(found: Sequence[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((each.rule, each.message) for each in found)


def kept_quiet(folder: Path, path: Path, after: str, action: Mapping[str, Any], found: Sequence[Diagnostic]) -> None:
    (told,) = action["diagnostics"]
    text = path.read_bytes().decode()
    path.write_bytes(after.encode())
    left = said([each for each in prosa.check([folder, path]) if Path(each.path).resolve() == path])
    path.write_bytes(text.encode())
    was = said(found)
    gone = told["code"], told["message"].splitlines()[0]
    assert left[gone] < was[gone], action["title"]
    assert left <= was, action["title"]
    assert "prosa-ignore" in after
    kept = [line for line in text.splitlines() if line not in after.splitlines()]
    assert len(kept) <= 1, action


def test_x30_a_safe_fix_keeps_line_ends_and_hashes(project: Path, editor: Editor):
    """X22, X30."""
    editor.initialize(project)
    uri = editor.open(project / "a.md", "text\r\n\r\n<!-- prosa-ignore unresolved-link -->\r\nnothing\r\n")
    editor.until(uri, ["unused-suppression"])
    (fix,) = [each for each in actions(editor, uri) if each.get("isPreferred")]
    assert applied("text\r\n\r\n<!-- prosa-ignore unresolved-link -->\r\nnothing\r\n", edits_of(fix, uri)) == (
        "text\r\n\r\nnothing\r\n"
    )


def test_x30_kinds_of_actions(project: Path, editor: Editor):
    """X30. Who asks for one kind is given that; a place without a diagnostic has nothing."""
    text = "[x](gone.md)\n\ntext\n"
    editor.initialize(project)
    uri = editor.open(project / "a.md", text)
    editor.until(uri, ["unresolved-link"])
    assert [each["title"] for each in actions(editor, uri)] == [
        "ignore unresolved-link here",
        "ignore unresolved-link in this file",
    ]
    last = {"start": {"line": 2, "character": 1}, "end": {"line": 2, "character": 1}}
    assert actions(editor, uri, last) == []
    assert actions(editor, uri, only=["refactor"]) == []
    assert len(actions(editor, uri, only=["quickfix"])) == 2
    assert actions(editor, uri, only=["source.fixAll.prosa"]) == []


def test_x30_edits_without_versions_for_a_client_that_knows_none(project: Path, editor: Editor):
    """X30."""
    editor.initialize(project, capabilities={})
    uri = editor.open(project / "a.md", "[x](gone.md)\n")
    editor.until(uri, ["unresolved-link"])
    assert list(actions(editor, uri)[0]["edit"]["changes"]) == [uri]


UNFORMED = (
    '---\r\ndoc-id: 7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a\r\n---\r\n\r\nText.[^1]\r\n\r\n[^1]: `{"doc-id":  "x"}`\r\n'
)


def formatted(path: Path, home: Path) -> str:
    at = desk(environ={"HOME": str(home)})
    main(["fmt", "--jobs", "1", str(path)], at.console)
    return path.read_bytes().decode()


def form(editor: Editor, uri: str, **more: object) -> list[dict[str, Any]] | None:
    options = {"tabSize": 4, "insertSpaces": True}
    method = "textDocument/rangeFormatting" if more else "textDocument/formatting"
    return editor.ask(method, {"textDocument": {"uri": uri}, "options": options, **more})


@pytest.mark.parametrize("suffix", [".md", ".mda", ".ymj"])
def test_x30_formatting_is_that_of_the_command(project: Path, editor: Editor, tmp_path: Path, suffix: str):
    """X22, X30. The whole, and a selection that is the whole."""
    text = UNFORMED if suffix != ".ymj" else '---\nid:   a\ntype: note\n---\n\n# A\n\ntext\n\n```json\n{"b":1}\n```\n'
    path = project / f"a{suffix}"
    editor.initialize(project)
    uri = editor.open(path, text)
    edits = form(editor, uri)
    some = form(editor, uri, range=WHOLE)
    path.write_bytes(text.encode())
    wanted = formatted(path, tmp_path)
    if edits is None:
        assert wanted == text and "not formatted" in editor.told("window/showMessage")["message"]
    else:
        assert applied(text, edits) == wanted
        assert applied(text, some) == wanted


def test_x30_a_document_that_is_left_alone_says_why(project: Path, editor: Editor):
    """X22, X30."""
    editor.initialize(project)
    uri = editor.open(project / "a.mda", "---\nx: [\n---\n\ntext\n")
    assert form(editor, uri) is None
    assert editor.told("window/showMessage")["message"].startswith("not formatted: a.mda:")


def test_x30_features_that_are_switched_off_are_not_offered(project: Path, editor: Editor):
    """X30."""
    off = {"actions": False, "formatting": False, "diagnostics": False}
    editor.initialize(project, options={"features": off})
    told = editor.capabilities
    assert not {"codeActionProvider", "documentFormattingProvider", "documentRangeFormattingProvider"} & told.keys()
    uri = editor.open(project / "a.md", "[x](gone.md)\n")
    assert editor.diagnostics(uri) == []
