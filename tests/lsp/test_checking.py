"""What an editor is told while documents are written is what a check of the whole project finds (X30)."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prosa
from prosa.app.check import workspace
from prosa.diagnostics import Diagnostic
from prosa.source import LineIndex
from tests import depth
from tests.api.test_doors import written
from tests.lsp.editor import FULL, PULLING, Editor, inside
from tests.rules.literate import examples, page_of_each_family, pages

SEVERITIES = {"error": 1, "warning": 2, "info": 3, "hint": 4}


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def place(lines: LineIndex, offset: int) -> dict[str, int]:
    line, column = lines.position(offset)
    return {"line": line - 1, "character": units(lines.text[offset - column + 1 : offset])}


def expected(found: tuple[Diagnostic, ...], path: Path) -> list[Any]:
    """The diagnostics of a document as the protocol counts."""
    return sorted(
        (
            each.rule,
            "\n".join((each.message, *each.notes)),
            SEVERITIES[each.severity.value],
            tuple(place(each.source.lines, each.span.start).values()),
            tuple(place(each.source.lines, each.span.end).values()),
        )
        for each in found
        if Path(each.path).resolve() == path
    )


def shown(found: list[dict[str, Any]]) -> list[Any]:
    return sorted(
        (
            each["code"],
            each["message"],
            each["severity"],
            tuple(each["range"]["start"].values()),
            tuple(each["range"]["end"].values()),
        )
        for each in found
    )


def wait_for(editor: Editor, uri: str, wanted: list[Any], version: int | None = None) -> None:
    """Waits until a document is shown with these diagnostics; fails with what was shown last."""
    found: list[Any] | None = None
    try:
        while found != wanted:
            found = shown(editor.diagnostics(uri, version))
    except queue.Empty:
        assert found == wanted


@pytest.mark.parametrize("page", pages()[::6] if depth.DEEP else page_of_each_family(2), ids=lambda each: each.stem)
def test_x30_the_examples_of_rules_are_told_as_a_check_finds_them(
    page: Path, tmp_path: Path, environ: Mapping[str, str]
):
    """X30. Every dialect, rules of many documents among them."""
    for number, example in enumerate(examples(page.read_text("utf-8"))):
        if any(flag.startswith("as=") for flag in example.flags):
            continue
        folder = (tmp_path / str(number)).resolve()
        (folder / ".git").mkdir(parents=True)
        names = [name for name in written(example, folder) if example.documents.get(name) is not None]
        strict = "strict" in example.flags
        found = prosa.check([folder, *(folder / name for name in names)], strict=strict or None)
        with inside(environ) as editor:
            editor.initialize(folder, options={"strict": True} if strict else None)
            for name in names:
                path = (folder / name).resolve()
                wait_for(editor, editor.open(path), expected(found, path))


NAMES = ("a.md", "b.md", "sub/c.ymj", "d.mda")
PIECES = (
    *(
        "# One\n",
        "## Two\n\n",
        "text\n",
        "[x](b.md#two) ",
        "[[a]] ",
        "[[nowhere]]\n",
        "\r\n",
        "\t",
        "é",
        "😀",
        "\n\n",
        "\r",
    ),
    *(
        "---\nid: 1\n---\n",
        "---\n",
        "[^1]\n\n[^1]: x\n",
        "```\n",
        "<!-- prosa-ignore unresolved-link -->\n",
        "![p](p.png)\n",
    ),
)
TEXT = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


class Edit:
    """A change of one of the documents: a place from 0 to 1, how much goes, and what comes. ``whole`` replaces all."""

    def __init__(self, name: str, where: float, gone: int, text: str, whole: bool) -> None:
        self.name, self.where, self.gone, self.text, self.whole = name, where, gone, text, whole

    def __repr__(self) -> str:
        return f"Edit({self.name!r}, {self.where}, {self.gone}, {self.text!r}, {self.whole})"

    def of(self, text: str) -> tuple[str, dict[str, Any] | str]:
        """The text afterwards, and the change as the protocol says it. No change begins or ends within a line end,
        which no position names."""
        if self.whole:
            return self.text, self.text
        start = outside(text, int(self.where * len(text)))
        end = outside(text, min(len(text), start + self.gone))
        lines = LineIndex(text)
        told = {"range": {"start": place(lines, start), "end": place(lines, end)}, "text": self.text}
        return text[:start] + self.text + text[end:], told


def outside(text: str, at: int) -> int:
    return at + 1 if text[at - 1 : at + 1] == "\r\n" else at


EDITS = st.builds(
    Edit, st.sampled_from(NAMES), st.floats(0, 1), st.integers(0, 9), TEXT, st.booleans() | st.just(False)
)


@settings(max_examples=depth.examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.fixed_dictionaries(dict.fromkeys(NAMES, TEXT)), edits=st.lists(EDITS, max_size=12))
def test_x30_after_any_edits_an_editor_is_told_what_a_fresh_check_finds(
    tmp_path: Path, environ: Mapping[str, str], start: dict[str, str], edits: list[Edit]
):
    """X30, X10. Documents that others point at, line ends of all kinds, characters of any width; nothing is saved until
    the end."""
    root = (tmp_path / "corpus").resolve()
    shutil.rmtree(root, ignore_errors=True)
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    now = dict(start)
    for name, text in start.items():
        (root / name).write_bytes(text.encode())
    with inside(environ) as editor:
        editor.initialize(root)
        uris = {name: editor.open(root / name, text) for name, text in start.items()}
        versions = dict.fromkeys(NAMES, 1)
        for edit in edits:
            now[edit.name], told = edit.of(now[edit.name])
            versions[edit.name] = editor.change(uris[edit.name], told)
        for name, text in now.items():
            (root / name).write_bytes(text.encode())
        found = prosa.check([root])
        for name, uri in uris.items():
            wait_for(editor, uri, expected(found, root / name), versions[name])


def test_x30_a_change_is_told_of_other_documents_too(project: Path, editor: Editor):
    """X30. Of open ones, without being touched; of others only when the user wants that."""
    (project / "a.md").write_text("# One\n")
    (project / "b.md").write_text("[x](a.md#one)\n")
    (project / "c.md").write_text("[x](a.md#one)\n")
    editor.initialize(project)
    a, b = editor.open(project / "a.md"), editor.open(project / "b.md")
    assert editor.capabilities["textDocumentSync"] == {"openClose": True, "change": 2, "save": True}
    editor.until(a, [])
    editor.until(b, [])
    editor.change(a, "# Two\n")
    editor.until(b, ["unresolved-anchor"])
    editor.change(a, "# One\n")
    editor.until(b, [])
    assert not [each for each in editor.seen if (each.get("params") or {}).get("uri", "").endswith("c.md")]


def test_x30_diagnostics_of_the_whole_project_on_request(project: Path, editor: Editor):
    """X30. Documents that are not open, and nothing of them once they are well."""
    (project / "a.md").write_text("# One\n")
    (project / "b.md").write_text("[x](a.md#two)\n")
    editor.initialize(project, options={"diagnostics": "workspace"})
    a = editor.open(project / "a.md")
    b = (project / "b.md").as_uri()
    editor.until(b, ["unresolved-anchor"])
    editor.change(a, "# Two\n")
    editor.until(b, [])


def test_x30_a_document_is_judged_before_its_corpus_is_read(
    project: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
):
    """X30. By itself, and a suppression of a rule that needs others is not called unused."""
    reading = threading.Event()
    real = workspace._read
    monkeypatch.setattr(workspace, "_read", lambda *args, **named: reading.wait(60) and real(*args, **named))
    editor.initialize(project)
    text = "---\nname: [\n---\n\n<!-- prosa-ignore unresolved-link -->\n[x](gone.md)\n\n[y](gone.md)\n"
    uri = editor.open(project / "a.md", text)
    first = [each["code"] for each in editor.diagnostics(uri)]
    assert first and "unresolved-link" not in first and "unused-suppression" not in first
    version = editor.change(uri, text.replace("name: [", "name: a"))
    assert editor.diagnostics(uri, version) == []
    reading.set()
    assert [each["code"] for each in editor.diagnostics(uri, version)] == ["unresolved-link"]


def test_x30_whoever_writes_faster_than_it_is_checked_is_told_of_the_last_text(
    project: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
):
    """X30. Versions come in order, the last one is told of, and few of the others are."""
    calls: list[str] = []
    real = workspace.Workspace.update
    first = threading.Event()

    def slow(self: workspace.Workspace, path: Path, text: str | None = None) -> object:
        calls.append(text or "")
        if len(calls) == 2:
            first.wait(60)
        return real(self, path, text)

    editor.initialize(project)
    uri = editor.open(project / "a.md", "[x](gone.md)\n")
    editor.until(uri, ["unresolved-link"])
    calls.clear()
    monkeypatch.setattr(workspace.Workspace, "update", slow)
    versions = [editor.change(uri, f"# {number}\n" * number) for number in range(1, 300)]
    editor.is_read()
    first.set()
    told = []
    while not told or told[-1] != versions[-1]:
        told.append(editor.told("textDocument/publishDiagnostics")["version"])
    assert told == sorted(told)
    assert len(calls) <= 3


def test_x30_diagnostics_are_given_to_who_asks_for_them(project: Path, editor: Editor):
    """X30. A client that pulls is told nothing unasked, but that there are others."""
    (project / "a.md").write_text("# One\n")
    editor.initialize(project, capabilities=PULLING)
    options = editor.capabilities["diagnosticProvider"]
    assert options == {"interFileDependencies": True, "workspaceDiagnostics": False, "identifier": "prosa"}
    a, b = editor.open(project / "a.md"), editor.open(project / "b.md", "[x](a.md#one)\n")
    editor.told("workspace/diagnostic/refresh")

    def pulled(uri: str, before: str | None = None) -> dict[str, Any]:
        params = {"textDocument": {"uri": uri}, "previousResultId": before}
        return editor.ask("textDocument/diagnostic", params)

    found = pulled(b)
    assert (found["kind"], found["items"]) == ("full", [])
    assert pulled(b, found["resultId"]) == {"kind": "unchanged", "resultId": found["resultId"]}
    editor.change(a, "# Two\n")
    assert pulled(a)["items"] == []
    editor.told("workspace/diagnostic/refresh")
    assert [each["code"] for each in pulled(b, found["resultId"])["items"]] == ["unresolved-anchor"]
    assert pulled((project / "closed.md").as_uri())["items"] == []
    assert not [each for each in editor.seen if each.get("method") == "textDocument/publishDiagnostics"]


def test_x30_who_asks_is_told_of_what_is_not_open(project: Path, editor: Editor):
    """X30. A client asks only for open documents; what it was told of one is taken back when that is opened."""
    (project / "a.md").write_text("# One\n")
    (project / "b.md").write_text("[x](a.md#two)\n")
    editor.initialize(project, capabilities=PULLING, options={"diagnostics": "workspace"})
    editor.open(project / "a.md")
    b = (project / "b.md").as_uri()
    editor.until(b, ["unresolved-anchor"])
    editor.open(project / "b.md")
    editor.until(b, [])
    found = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": b}})
    assert [each["code"] for each in found["items"]] == ["unresolved-anchor"]
    editor.close(b)
    editor.until(b, ["unresolved-anchor"])


@pytest.mark.parametrize("capabilities", [FULL, PULLING], ids=["told", "asks"])
def test_x30_what_is_wrong_with_settings_stays_when_they_are_opened(
    project: Path, editor: Editor, capabilities: dict[str, Any]
):
    """X30. Once, whoever tells it; they are no document, so nothing in them is judged as one."""
    (project / "prosa.toml").write_text("[chek] # [a](gone.md)\n")
    editor.initialize(project, capabilities=capabilities)
    editor.open(project / "a.md", "# A\n")
    settings = (project / "prosa.toml").as_uri()
    editor.until(settings, ["unknown-setting"])
    editor.open(project / "prosa.toml", language="toml")
    if capabilities is FULL:
        editor.until(settings, ["unknown-setting"], version=1)
        return
    editor.until(settings, [])
    found = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": settings}})
    assert [each["code"] for each in found["items"]] == ["unknown-setting"]


def test_x30_a_closed_document_is_what_its_file_says(project: Path, editor: Editor):
    """X30. Its own diagnostics are no longer shown, and those of others are again what the file makes them."""
    (project / "a.md").write_text("# One\n")
    (project / "b.md").write_text("[x](a.md#one)\n")
    editor.initialize(project)
    a, b = editor.open(project / "a.md", "# Two\n[y](gone.md)\n"), editor.open(project / "b.md")
    editor.until(a, ["unresolved-link"])
    editor.until(b, ["unresolved-anchor"])
    editor.close(a)
    editor.until(a, [])
    editor.until(b, [])
