"""`prosa check` as a tool: settings, formats, what git ignores, the cache, processes, odd files, watching (X5, X10)."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from shutil import rmtree
from types import ModuleType

import pytest

from prosa.app import watch as watching
from prosa.cli.console import Console
from prosa.cli.main import main
from prosa.extras import install_line
from tests.cli.desk import Terminal, desk

PROGRAM = "---\nname: {0}\ninput: {{type: object}}\noutput: {{type: object}}\n---\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "prosa.toml").touch()
    monkeypatch.chdir(project)
    return project


def run(*argv: str, typed: str = "") -> tuple[int, str, str]:
    at = desk(typed, {"PROSA_CACHE_DIR": str(Path.cwd().parent / "cache")})
    status = main(["check", *argv], at.console)
    return status, at.out, at.err


def found(*argv: str) -> list[tuple[str, str, str]]:
    reported = json.loads(run("--format", "json", *argv)[1])["diagnostics"]
    return [(each["path"], each["rule"], each["severity"]) for each in reported]


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_x4_settings_of_the_project_hold_and_flags_win(folder: Path):
    """X4."""
    put(folder, a=PROGRAM.format("a"), drafts__b=PROGRAM.format("b"))
    (folder / "prosa.toml").write_text('strict = true\n[per-glob."drafts/**"]\nstrict = false\n', encoding="utf-8")
    assert found() == [("a.md", "missing-description", "error"), ("drafts/b.md", "missing-description", "warning")]
    assert {severity for _, _, severity in found("--permissive")} == {"warning"}
    assert {severity for _, _, severity in found("--strict")} == {"error"}
    (folder / "prosa.toml").write_text('ignore = ["ML002"]\n', encoding="utf-8")
    assert found() == []


def test_pyproject_holds_settings_too_and_prosa_toml_wins(folder: Path):
    put(folder, a=PROGRAM.format("a"))
    (folder / "prosa.toml").unlink()
    (folder / ".git").mkdir()
    (folder / "pyproject.toml").write_text('[tool.prosa]\nignore = ["ML002"]\n', encoding="utf-8")
    assert found() == []
    (folder / "prosa.toml").write_text("strict = true\n", encoding="utf-8")
    assert found() == [("a.md", "missing-description", "error")]


def test_x7_a_mistake_in_the_settings_is_a_finding_at_its_line(folder: Path):
    """X7."""
    put(folder, a="text")
    (folder / "prosa.toml").write_text(
        'strict = true\nbase-url = "https://example.org"\nignor = []\n', encoding="utf-8"
    )
    status, out, _ = run()
    assert status == 1
    assert "prosa.toml:2:1: MD042 error: a project cannot set `base-url`" in out
    assert "prosa.toml:3:1: MD043 warning" in out
    (folder / "prosa.toml").write_bytes(b"\xff")
    assert found()[0][:2] == ("prosa.toml", "bad-settings-file")


def test_show_and_check_agree_on_the_settings(folder: Path):
    put(folder, notes="### @user:\n\nHello\n")
    (folder / "prosa.toml").write_text('[dialects]\n"notes.md" = "plain"\n', encoding="utf-8")
    at = desk()
    main(["show", "notes.md", "--format", "json"], at.console)
    assert json.loads(at.out)["dialect"] == "plain"


def test_x5_git_ignored_documents_are_passed_over(folder: Path):
    """X5."""
    put(folder, a="[x](gone.md)", build__b="[x](gone.md)")
    subprocess.run(["git", "init", "-q", "."], check=True)
    (folder / ".gitignore").write_text("build/\n", encoding="utf-8")
    assert [path for path, _, _ in found()] == ["a.md"]
    assert [path for path, _, _ in found("--no-gitignore")] == ["a.md", "build/b.md"]
    assert [path for path, _, _ in found("build/b.md")] == ["build/b.md"]


def test_x10_a_second_check_finds_the_same_and_a_changed_target_something_else(folder: Path):
    """X10."""
    put(folder, a="# A\n\n[b](b.md#part) [c](gone.md)\n", b="# Part\n")
    first = run()
    assert (folder.parent / "cache" / "check.sqlite").exists()
    assert run() == first == run("--no-cache")
    put(folder, b="# Other\n")
    assert [rule for _, rule, _ in found()] == ["unresolved-anchor", "unresolved-link"]
    (folder / "b.md").unlink()
    assert [rule for _, rule, _ in found()] == ["unresolved-link", "unresolved-link"]


def test_x10_a_cache_that_others_may_write_to_is_not_used(folder: Path):
    """X10."""
    put(folder, a="text")
    (folder.parent / "cache").mkdir(mode=0o777)
    (folder.parent / "cache").chmod(0o777)
    assert run()[0] == 0
    assert list((folder.parent / "cache").iterdir()) == []


def test_no_cache_writes_nothing(folder: Path):
    put(folder, a="text")
    run("--no-cache")
    assert not (folder.parent / "cache").exists()


def test_several_processes_print_what_one_prints(folder: Path):
    put(folder, **{f"d{n:03}": f"# D\n\n[x](d{n + 1:03}.md#d)\n" for n in range(160)})
    one = run("--no-cache", "--jobs", "1")
    assert run("--no-cache", "--jobs", "2") == one
    assert run("--jobs", "3") == one
    assert run("--jobs", "0")[0] == 2
    assert run("--jobs", "many")[0] == 2


def test_a_document_alone_shows_what_it_shows_among_the_others(folder: Path):
    """Ids and stems are looked for in the whole project; other documents are not reported."""
    put(folder, a="[[note]] and [[nte]]", sub__note="text", sub__bad="[x](gone.md)")
    everything = found()
    assert found("a.md") == [each for each in everything if each[0] == "a.md"] != []
    assert [each[1] for each in everything] == ["unresolved-wikilink", "unresolved-link"]


def test_every_odd_file_is_one_finding(folder: Path):
    (folder / "binary.md").write_bytes(bytes(range(256)) * 10)
    (folder / "latin.md").write_bytes("Käse".encode("latin-1"))
    (folder / "utf16.md").write_bytes("text".encode("utf-16"))
    (folder / "nul.md").write_bytes(b"a\0b\0c")
    (folder / "separator.md").write_text("a\u2028b\u2028c", encoding="utf-8")
    (folder / "bom.md").write_bytes(b"\xef\xbb\xbf# A\r\n\r\ntext\r\n")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "folder.md").mkdir()
    with (folder / "huge.md").open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    rules = {path: rule for path, rule, _ in found("--no-cache")}
    assert rules == {
        **dict.fromkeys(("binary.md", "latin.md", "utf16.md", "loop.md", "huge.md"), "unreadable-file"),
        "bom.md": "byte-order-mark",
        "nul.md": "control-character",
        "separator.md": "line-separator",
    }
    assert len(found("--no-cache")) == len(rules)


def test_sarif_and_junit_are_what_they_say(folder: Path):
    put(folder, a="[x](gone.md)", b="text")
    status, out, _ = run("--format", "sarif")
    assert status == 1
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["ruleId"] == "MD020"
    suites = ElementTree.fromstring(run("--format", "junit")[1]).findall("testsuite")
    assert [(each.attrib["name"], each.attrib["failures"]) for each in suites] == [("a.md", "1"), ("b.md", "0")]


def test_one_check_writes_several_reports(folder: Path):
    put(folder, a="[x](gone.md)")
    asked = ("--report", "gitlab=out/gl.json", "--report", "markdown=summary.md", "--report", "rdjsonl=rd.jsonl")
    (folder / "out").mkdir()
    status, out, _ = run("--format", "github", *asked)
    assert status == 1 and out.startswith("::error file=a.md")
    (entry,) = json.loads((folder / "out" / "gl.json").read_text())
    assert entry["check_name"] == "unresolved-link"
    assert (folder / "summary.md").read_text().startswith("### Prosa: 1 error in 1 document\n")
    assert json.loads((folder / "rd.jsonl").read_text())["severity"] == "ERROR"
    (folder / "a.md").write_text("text")
    assert run("--report", "rdjsonl=rd.jsonl")[0] == 0 and (folder / "rd.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("report", "status", "said"),
    [
        ("gitlba=x", 2, "did you mean gitlab?"),
        ("sarif", 2, "--report sarif=FILE"),
        ("sarif=", 2, "--report sarif=FILE"),
        ("sarif=gone/x.json", 1, "gone/x.json"),
    ],
)
def test_a_report_that_cannot_be_written_is_said(folder: Path, report: str, status: int, said: str):
    put(folder, a="text")
    ended, out, err = run("--report", report)
    assert (ended, out) == (status, "") and said in err and "Traceback" not in err


def test_a_status_line_is_shown_on_a_terminal_for_long_work(folder: Path, monkeypatch: pytest.MonkeyPatch):
    put(folder, **{f"d{n:03}": "text" for n in range(220)})
    stdout, stderr = Terminal(), Terminal()
    environ = {"PROSA_CACHE_DIR": str(folder.parent / "cache"), "TERM": "xterm"}
    assert main(["check"], Console(Terminal(), stdout, stderr, environ)) == 0
    assert "of 220 documents" in stderr.getvalue()
    assert "\x1b" not in stdout.getvalue()
    assert run()[2] == ""


def test_watching_checks_again_after_a_change(folder: Path, monkeypatch: pytest.MonkeyPatch):
    put(folder, a="[b](b.md)")
    fake = ModuleType("watchfiles")

    def watch(*paths: Path, watch_filter, **options):
        assert watch_filter(1, str(folder / "a.md")) and not watch_filter(1, str(folder / "a.png"))
        assert not watch_filter(1, str(folder / ".git" / "a.md"))
        yield set()
        put(folder, b="text")
        yield {(1, "b.md")}
        (folder / "a.md").unlink()
        (folder / "b.md").unlink()
        yield {(3, "b.md")}
        raise KeyboardInterrupt

    fake.watch = watch
    monkeypatch.setitem(sys.modules, "watchfiles", fake)
    status, out, err = run("--watch")
    assert "Found 1 error in 1 document." in out and "Nothing found in 2 documents." in out
    assert "no documents in ." in err and err.count("Ctrl-C ends") == 3
    assert status == 2


def test_watching_follows_a_folder_that_was_removed_and_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    notes, watches = folder / "notes", iter((1, 2))
    notes.mkdir()
    put(notes, a="text")
    fake = ModuleType("watchfiles")

    def watch(*paths: Path, **options):
        yield set()
        if next(watches) == 1:
            rmtree(notes)
            yield {(3, str(notes))}
            pytest.fail("the old folder is watched still")
        put(notes, b="[c](c.md)")
        yield {(1, "b.md")}
        raise KeyboardInterrupt

    def sleep(seconds: float) -> None:
        notes.mkdir()
        put(notes, a="text")

    fake.watch = watch
    monkeypatch.setitem(sys.modules, "watchfiles", fake)
    monkeypatch.setattr(watching.time, "sleep", sleep)
    status, out, err = run("notes", "--watch")
    assert out.count("Nothing found in 1 document.") == 2 and "`c.md` does not exist" in out
    assert "notes: no such file or folder" in err and status == 1


def test_watching_begins_before_the_first_check(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """What is saved during the first check is a change."""
    put(folder, a="text")
    fake = ModuleType("watchfiles")

    def watch(*paths: Path, **options):
        put(folder, a="[b](b.md)")
        yield set()
        raise KeyboardInterrupt

    fake.watch = watch
    monkeypatch.setitem(sys.modules, "watchfiles", fake)
    assert "`b.md` does not exist" in run("--watch")[1]


def test_watching_without_its_library_says_how_to_get_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    put(folder, a="text")
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    status, _, err = run("--watch")
    assert status == 2
    assert install_line("watch") in err
    assert run("--watch", "-")[0] == 2
