"""`prosa check --fix`, `--unsafe-fixes` and `--diff`: what is written, what is not, and how it ends."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prosa.adapters.files import FileChanged
from prosa.app.check import fix
from prosa.cli.main import main
from tests.cli.desk import desk

UNUSED = "# A\n\nText. <!-- prosa-ignore MD020 -->\n"
CLEAN = "# A\n\nText.\n"
SEPARATED = "One\u2028two.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prosa.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*argv: str, typed: str = "") -> tuple[int, str, str]:
    at = desk(typed, {"PROSA_CACHE_DIR": str(Path.cwd() / ".cache")})
    status = main(["check", *argv], at.console)
    return status, at.out, at.err


def test_safe_fixes_are_written_and_what_is_left_is_reported(folder: Path):
    (folder / "a.md").write_bytes(UNUSED.encode())
    (folder / "b.md").write_bytes(SEPARATED.encode())
    status, out, err = run("--fix")
    assert (folder / "a.md").read_bytes() == CLEAN.encode()
    assert (folder / "b.md").read_bytes() == SEPARATED.encode()
    assert (status, err) == (0, "")
    assert "MD017" in out and "MD030" not in out
    assert out.endswith("Found 1 warning in 2 documents.\nFixed 1 problem in 1 document.\n")


def test_unsafe_fixes_are_written_when_asked_for(folder: Path):
    (folder / "b.md").write_bytes(SEPARATED.encode())
    assert run("--unsafe-fixes")[0] == 0
    assert (folder / "b.md").read_bytes() == b"One\ntwo.\n"


def test_a_diff_writes_nothing_and_git_can_apply_it(folder: Path):
    (folder / "a.md").write_bytes(UNUSED.encode())
    status, out, err = run("--diff")
    assert (status, err) == (1, "Would fix 1 problem.\n")
    assert out == ("--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n # A\n \n-Text. <!-- prosa-ignore MD020 -->\n+Text.\n")
    assert (folder / "a.md").read_bytes() == UNUSED.encode()
    subprocess.run(["git", "apply", "-p0", "-"], input=out, text=True, check=True, cwd=folder)
    assert (folder / "a.md").read_bytes() == CLEAN.encode()
    assert run("--diff") == (0, "", "Nothing to fix.\n")


def test_an_error_that_is_left_is_exit_1(folder: Path):
    (folder / "a.md").write_text(UNUSED + "\n[gone](gone.md)\n", encoding="utf-8")
    status, out, _ = run("--fix")
    assert status == 1
    assert "MD020" in out and "MD030" not in out


def test_permissions_links_and_line_ends_are_kept(folder: Path):
    (folder / "real").mkdir()
    real = folder / "real" / "a.md"
    real.write_bytes(b"\xef\xbb\xbf# A\r\n\r\nText. <!-- prosa-ignore MD020 -->\r\n")
    real.chmod(0o640)
    (folder / "link.md").symlink_to("real/a.md")
    assert run("--fix", "link.md")[0] == 0
    assert (folder / "link.md").is_symlink()
    assert real.read_bytes() == b"\xef\xbb\xbf# A\r\n\r\nText.\r\n"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_file_that_changed_meanwhile_is_left_alone_and_said(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "a.md").write_bytes(UNUSED.encode())
    (folder / "b.md").write_bytes(UNUSED.encode())
    replace = fix.replace_file

    def changed(path: Path, text: str, **options) -> None:
        if path.name == "a.md":
            path.write_bytes(b"somebody else's\n")
        replace(path, text, **options)

    monkeypatch.setattr(fix, "replace_file", changed)
    status, out, err = run("--fix")
    assert status == 1
    assert (folder / "a.md").read_bytes() == b"somebody else's\n"
    assert (folder / "b.md").read_bytes() == CLEAN.encode()
    assert "a.md" in err and "changed since it was read" in err
    assert "Fixed 1 problem in 1 document.\n" in out
    assert FileChanged(Path("a.md")).kind == "changed"


def test_a_write_protected_file_is_said_and_the_others_are_written(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def protected(path: Path, text: str, **options) -> None:
        raise PermissionError(13, "is write-protected", str(path))

    (folder / "a.md").write_bytes(UNUSED.encode())
    monkeypatch.setattr(fix, "replace_file", protected)
    status, _, err = run("--fix")
    assert status == 1
    assert err == "error: a.md: is write-protected; it was not written\n"


def test_standard_input_is_printed_fixed_and_findings_go_to_stderr(folder: Path):
    status, out, err = run("--fix", "--stdin-filename", "sub/x.md", "-", typed=UNUSED)
    assert (status, out, err) == (0, CLEAN, "")
    status, out, err = run("--fix", "-", typed=CLEAN + "[gone](gone.md)\n")
    assert (status, out) == (1, CLEAN + "[gone](gone.md)\n")
    assert "MD020" in err
    assert list(folder.glob("**/*.md")) == []


def test_documents_that_were_not_named_are_not_fixed(folder: Path):
    head = "---\nname: {0}\ndescription: x\ninput: {{type: object}}\noutput: {{type: object}}\n{1}---\n"
    (folder / "main.md").write_text(head.format("main", "imports: [./part.md]\n"), encoding="utf-8")
    part = head.format("part", "# prosa-ignore MD020\n")
    (folder / "part.md").write_text(part, encoding="utf-8")
    run("--fix", "main.md")
    assert (folder / "part.md").read_text(encoding="utf-8") == part


def test_a_diff_has_no_format(folder: Path):
    (folder / "a.md").write_bytes(UNUSED.encode())
    assert run("--diff", "--format", "json")[0] == 2
