"""How a session begins, goes on and ends: folders, files, settings, encodings, cancelled questions (X30)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

import prosa
from prosa.app.check import workspace
from prosa.lsp.server import ProsaServer
from tests.lsp.editor import FULL, Editor, inside

CREATED, CHANGED, DELETED = 1, 2, 3


def touched(editor: Editor, path: Path, kind: int) -> None:
    editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind}]})


def said(editor: Editor) -> str:
    return editor.told("window/showMessage")["message"]


@pytest.mark.parametrize(
    ("offered", "chosen", "column"),
    [(["utf-32", "utf-16"], "utf-32", 2), (["utf-8"], "utf-8", 5), (["utf-16"], "utf-16", 3), (None, "utf-16", 3)],
)
def test_x30_the_encoding_is_agreed_upon(
    project: Path, editor: Editor, offered: list[str] | None, chosen: str, column: int
):
    """X30."""
    found = editor.initialize(project, encodings=offered)
    assert found["capabilities"]["positionEncoding"] == chosen
    assert found["serverInfo"] == {"name": "prosa", "version": prosa.__version__}
    uri = editor.open(project / "a.md", "😀 [x](gone.md)\n")
    (told,) = editor.until(uri, ["unresolved-link"])
    assert told["range"]["start"]["character"] == column + 4


def test_x30_a_document_is_judged_before_its_corpus_is_read(
    project: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
):
    """X30. The corpus takes all processors; what is open does not wait for it."""
    order: list[str] = []
    read, publish = workspace._read, ProsaServer.publish
    monkeypatch.setattr(workspace, "_read", lambda *each, **more: order.append("read") or read(*each, **more))
    monkeypatch.setattr(ProsaServer, "publish", lambda *each: order.append("told") or publish(*each))
    editor.initialize(project)
    uri = editor.open(project / "a.md", "[x](gone.md)\n")
    editor.until(uri, ["unresolved-link"])
    assert order[:2] == ["told", "read"]


def test_x30_files_that_others_write_are_taken_in(project: Path, editor: Editor):
    """X30. An open document is told of what its links lead to, be it a document or not; its own file counts when it is
    closed."""
    editor.initialize(project)
    uri = editor.open(project / "a.md", "[x](b.md) ![p](p.png)\n")
    editor.until(uri, ["unresolved-link", "unresolved-link"])
    wanted = editor.told("client/registerCapability")["registrations"]
    assert [each["method"] for each in wanted] == ["workspace/didChangeWatchedFiles"]
    globs = [each["globPattern"] for each in wanted[0]["registerOptions"]["watchers"]]
    assert {each["baseUri"] for each in globs} == {project.as_uri()}
    (project / "b.md").write_text("# B\n")
    touched(editor, project / "b.md", CREATED)
    editor.until(uri, ["unresolved-link"])
    (project / "p.png").write_bytes(b"")
    touched(editor, project / "p.png", CREATED)
    editor.until(uri, [])
    (project / "b.md").unlink()
    touched(editor, project / "b.md", DELETED)
    editor.until(uri, ["unresolved-link"])
    (project / "a.md").write_text("other\n")
    touched(editor, project / "a.md", CHANGED)
    version = editor.change(uri, "[x](b.md)\n")
    editor.until(uri, ["unresolved-link"], version)


def test_x30_a_document_that_is_saved_is_looked_at_without_a_watcher(project: Path, environ: Mapping[str, str]):
    """X30. A client that watches nothing saves at least what it writes itself."""
    (project / "b.md").write_text("# B\n")
    with inside(environ) as editor:
        editor.initialize(project, capabilities={})
        uri = editor.open(project / "a.md", "[x](b.md)\n[y](c.md)\n")
        editor.until(uri, ["unresolved-link"])
        (project / "c.md").write_text("# C\n")
        editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        editor.until(uri, [])
        (project / "b.md").unlink()
        editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        editor.until(uri, ["unresolved-link"])


def test_x30_settings_of_the_project_count_and_are_read_again(project: Path, editor: Editor):
    """X30, X7. What is wrong with them is shown at their file."""
    settings = project / "prosa.toml"
    settings.write_text('ignore = ["unresolved-link"]\n')
    editor.initialize(project)
    uri = editor.open(project / "a.md", "[x](gone.md)\n")
    assert editor.diagnostics(uri) == []
    settings.write_text("ignore = 3\n")
    touched(editor, settings, CHANGED)
    editor.until(uri, ["unresolved-link"])
    assert editor.until(settings.as_uri(), None)
    settings.write_text("")
    touched(editor, settings, CHANGED)
    editor.until(settings.as_uri(), [])


def test_x30_settings_of_the_user_come_at_the_beginning_and_later(project: Path, editor: Editor):
    """X30. Strict, rules, and what is not understood is said."""
    editor.answers["workspace/configuration"] = [{"ignore": ["unresolved-link"], "path": "prosa", "strict": None}]
    editor.initialize(project)
    editor.told("workspace/configuration")
    uri = editor.open(project / "a.md", "[x](gone.md)\n[y](b.md#z)\n")
    (project / "b.md").write_text("# B\n")
    editor.until(uri, ["unresolved-anchor"])
    editor.answers["workspace/configuration"] = [{"ignore": ["unresolved-anchor"]}]
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    editor.until(uri, ["unresolved-link"])
    editor.answers["workspace/configuration"] = [{"ignore": 3}]
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    assert "ignore" in said(editor)


@pytest.mark.parametrize("answer", [None, 3, [], [None], ["x"], {"ignore": []}])
def test_x30_an_answer_that_is_none_of_its_kind_changes_nothing(project: Path, editor: Editor, answer: object):
    """X30."""
    editor.answers["workspace/configuration"] = answer
    editor.initialize(project)
    editor.told("workspace/configuration")
    editor.until(editor.open(project / "a.md", "[x](gone.md)\n"), ["unresolved-link"])


def test_x30_settings_that_are_told_and_not_asked_for(project: Path, editor: Editor):
    """X30. Over those of the beginning, table by table."""
    options = {"ignore": ["unresolved-link"], "features": {"hover": False}}
    editor.initialize(project, capabilities={}, options=options)
    assert "hoverProvider" not in editor.capabilities
    uri = editor.open(project / "a.md", "[x](gone.md)\n<!-- prosa-ignore MD018 -->\n")
    (told,) = editor.until(uri, ["unused-suppression"])
    assert told["tags"] == [1]
    settings = {"prosa": {"features": {"diagnostics": False}}}
    editor.notify("workspace/didChangeConfiguration", {"settings": settings})
    editor.until(uri, [])
    editor.notify("workspace/didChangeConfiguration", {"settings": {"prosa": {"ignore": []}}})
    editor.until(uri, ["unresolved-link", "unused-suppression"])


def test_x30_settings_that_are_not_understood_are_said(project: Path, editor: Editor):
    """X30."""
    editor.initialize(project, options={"colour": "red"})
    assert "`colour`" in said(editor)


def test_x30_a_rule_that_does_not_exist_is_said_and_all_others_count(project: Path, editor: Editor):
    """X30."""
    editor.initialize(project, options={"ignore": ["unresolved-lnk"]})
    uri = editor.open(project / "a.md", "[x](gone.md)\n")
    assert "unresolved-lnk" in said(editor)
    editor.until(uri, ["unresolved-link"])


def test_x30_another_version_than_that_of_the_extension_is_said(project: Path, editor: Editor):
    """X30."""
    editor.initialize(project, options={"version": "99.0.0"})
    words = said(editor)
    assert "99.0.0" in words and prosa.__version__ in words


def test_x30_the_same_version_is_not(project: Path, editor: Editor):
    """X30."""
    editor.initialize(project, options={"version": prosa.__version__})
    editor.until(editor.open(project / "a.md", "text\n"), [])
    assert not [each for each in editor.seen if each.get("method") == "window/showMessage"]


def test_x30_several_folders_are_several_projects(tmp_path: Path, editor: Editor):
    """X30, X5. Each with its own settings; one may come and go."""
    one, two = tmp_path.resolve() / "one", tmp_path.resolve() / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "b.md").write_text("# B\n")
    (two / "prosa.toml").write_text('ignore = ["unresolved-link"]\n')
    editor.initialize(one)
    first = editor.open(one / "a.md", "[x](gone.md)\n")
    editor.until(first, ["unresolved-link"])
    event = {"added": [{"uri": two.as_uri(), "name": "two"}], "removed": []}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    second = editor.open(two / "a.md", "[x](gone.md)\n")
    editor.until(second, [])
    event = {"added": [], "removed": [{"uri": one.as_uri(), "name": "one"}]}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    editor.until(first, ["unresolved-link"])


def test_x30_a_folder_without_a_mark_that_holds_too_much_is_not_read(
    tmp_path: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
):
    """X30. It is said once; each document is judged by itself, and no file is watched."""
    monkeypatch.setattr(workspace, "MAX_UNMARKED", 3)
    folder = tmp_path.resolve() / "much"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.md").write_text("# One\n[[2]] [[nowhere]]\n")
    editor.initialize(folder)
    for number in range(3):
        uri = editor.open(folder / f"{number}.md")
        editor.until(uri, [])
    assert "prosa.toml" in said(editor)
    assert not [each for each in editor.seen if each.get("method") == "window/showMessage"]
    assert not [each for each in editor.seen if each.get("method") == "client/registerCapability"]
    version = editor.change(uri, "[x](gone.md)\n")
    editor.until(uri, ["unresolved-link"], version)


def test_x30_a_home_folder_is_no_project(tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch):
    """X30. Not even where `.git` is in it; nothing in it is looked at but what is open."""
    home = Path(environ["HOME"])
    (home / ".git").mkdir(parents=True)
    (home / "other.md").write_text("# Other\n")
    monkeypatch.setattr(workspace, "gather", lambda *_, **__: pytest.fail("the home folder was read"))
    with inside(environ) as editor:
        editor.initialize(home)
        uri = editor.open(home / "a.md", "[x](other.md) [y](gone.md)\n")
        editor.until(uri, ["unresolved-link"])
        assert str(home) in said(editor)


def test_x30_a_document_outside_of_all_folders_belongs_to_its_own(tmp_path: Path, project: Path, editor: Editor):
    """X30, X5."""
    folder = tmp_path.resolve() / "elsewhere"
    folder.mkdir()
    (folder / "b.md").write_text("# B\n")
    editor.initialize(project)
    editor.until(editor.open(folder / "a.md", "[x](b.md#c)\n"), ["unresolved-anchor"])


def test_x30_a_document_without_a_file_is_judged_too(project: Path, editor: Editor):
    """X30. And no message says that its folder is too large."""
    editor.initialize(project)
    uri = "untitled:Untitled-1"
    item = {"uri": uri, "languageId": "markdown", "version": 1, "text": "---\nname: [\n---\n"}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    assert editor.diagnostics(uri)
    editor.until(editor.open(project / "a.md", "text\n"), [])
    assert not [each for each in editor.seen if each.get("method") == "window/showMessage"]


def test_x30_a_document_that_git_ignores_is_judged_by_itself(project: Path, editor: Editor):
    """X30. It is no document of the project for the others, as in a check."""
    (project / ".gitignore").write_text("drafts/\n")
    (project / "drafts").mkdir()
    for name in ("a.mda", "drafts/b.mda"):
        (project / name).write_text("---\ndoc-id: 7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a\n---\n\ntext\n")
    editor.initialize(project)
    one, two = editor.open(project / "a.mda"), editor.open(project / "drafts" / "b.mda")
    editor.until(two, [])
    editor.change(two, "---\ndoc-id: 7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a\n---\n\ntext, too\n")
    editor.until(two, [])
    version = editor.change(one, "---\ndoc-id: 7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a\n---\n\nmore\n")
    assert editor.diagnostics(one, version) == []


def test_x30_a_question_that_is_cancelled_is_answered_at_once(
    project: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
):
    """X30. Whatever the worker thread is busy with."""
    busy = threading.Event()
    editor.initialize(project)
    uri = editor.open(project / "a.md", "text\n")
    editor.until(uri, [])
    real = workspace.Workspace.update
    monkeypatch.setattr(workspace.Workspace, "update", lambda *args: busy.wait(60) and real(*args))
    editor.change(uri, "other\n")
    number = editor.begin(
        "textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
    )
    editor.notify("$/cancelRequest", {"id": number})
    assert editor.answer(number)["error"]["code"] == -32800
    busy.set()


def test_x30_a_large_document_is_refused_as_a_check_refuses_it(
    project: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
):
    """X9, X30."""
    monkeypatch.setattr(workspace, "MAX_TEXT", 1_000)
    editor.initialize(project)
    uri = editor.open(project / "a.md", "text\n" * 1_000)
    (told,) = editor.until(uri, ["unreadable-file"])
    assert "larger" in told["message"]
    editor.change(uri, "text\n")
    editor.until(uri, [])


def test_x30_the_session_has_no_answers_before_initialize(editor: Editor, project: Path):
    """X30."""
    params = {"textDocument": {"uri": "file:///a.md"}, "position": {"line": 0, "character": 0}}
    assert "error" in editor.answer(editor.begin("textDocument/hover", params))
    editor.notify("textDocument/didOpen", {"textDocument": {"uri": "file:///a.md"}})
    editor.initialize(project, capabilities=FULL)
    editor.until(editor.open(project / "a.md", "text\n"), [])


NODE = "---\nid: {0}\ntype: page\ntitle: T\n---\n# T\n\n{1}\n"


@pytest.mark.parametrize(
    ("href", "file"),
    [
        ("/files/plan.pdf", "files/plan.pdf"),
        ("files/plan.pdf", "files/plan.pdf"),
        ("/files/a%20plan.pdf", "files/a plan.pdf"),
        ("https://example.org/files/plan.pdf", "files/plan.pdf"),
        ("/LICENSE", "LICENSE"),
        ("/files/data.json?x=1#y", "files/data.json"),
        ("/caf%C3%A9.txt", "café.txt"),
        ("./files/../files/plan.pdf", "files/plan.pdf"),
        ("/files%2Fplan.pdf", "files/plan.pdf"),
        ("/.well-known/x.txt", ".well-known/x.txt"),
    ],
)
def test_x30_h21_a_file_of_a_site_that_comes_or_goes_is_seen(project: Path, editor: Editor, href: str, file: str):
    """X30, H21. A node is told whether its link leads to a file, also one that is no document."""
    editor.initialize(project)
    (project / "index.md").write_text(NODE.format("home", "Read.\n\n[near](/near)"))
    text = NODE.format("near", f"[plan]({href})").replace(
        "title: T", "title: T\ncanonical_url: https://example.org/near"
    )
    (project / "near.md").write_text(text)
    uri = editor.open(project / "near.md")
    editor.until(uri, ["unresolved-inline-link"])
    place = project / file
    place.parent.mkdir(exist_ok=True)
    for _ in range(2):
        place.write_text("{}")
        touched(editor, place, CREATED)
        editor.until(uri, ["inline-link-to-no-node"])
        place.unlink()
        touched(editor, place, DELETED)
        editor.until(uri, ["unresolved-inline-link"])
