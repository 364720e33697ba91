"""Reading documents: hostile files, limits, roots (X5, X9)."""

from __future__ import annotations

import hashlib
import os
import pickle
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, find_program_root, find_root
from prosa.app.check.gather import gather
from prosa.app.corpus.open import corpus_root
from prosa.app.site.files import SiteFiles
from prosa.source import FileProblem, Files, SourceText
from tests.depth import examples

AS_ROOT = os.geteuid() == 0


def refused(path: Path, files: Files | None = None) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        (files or RootedFiles()).read(path)
    assert caught.value.path == path
    assert str(caught.value) == f"{path}: {caught.value.reason}"
    return caught.value


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbfx\r\ny\rz\n\n", "é\u2028\0\x85".encode()])
def test_a_text_comes_back_to_the_byte_with_its_digest(tmp_path: Path, data: bytes):
    path = tmp_path / "a.md"
    path.write_bytes(data)
    found = RootedFiles(tmp_path).read(path)
    assert found.text.encode() == data
    assert (found.digest, found.path) == (hashlib.sha256(data).hexdigest(), str(path))
    unhashed = pickle.loads(pickle.dumps(RootedFiles(tmp_path, hashes=False)))
    assert (unhashed.read(path), unhashed.read(path).digest) == (found, "")


def test_x9_a_document_of_11_mb_is_refused_and_the_message_names_the_flag(tmp_path: Path):
    path = tmp_path / "big.md"
    with path.open("wb") as stream:
        stream.truncate(11 * 1024 * 1024)
    problem = refused(path)
    assert (problem.kind, "--max-size" in problem.reason) == ("too-large", True)
    assert "11,534,336 bytes, the limit is 10,485,760" in problem.reason
    assert len(RootedFiles(max_size=12 * 1024 * 1024).read(path).text) == 11 * 1024 * 1024


def test_x9_the_limit_itself_is_allowed(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_bytes(b"12345")
    assert RootedFiles(max_size=5).read(path).text == "12345"
    assert refused(path, RootedFiles(max_size=4)).kind == "too-large"
    assert MAX_DOCUMENT_BYTES == 10 * 1024 * 1024


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\nb\xff\n", "byte 0xff in line 2 (offset 3); save it as UTF-8"),
        ("häßlich".encode("latin-1"), "byte 0xe4 in line 1 (offset 1); save it as UTF-8"),
        ("a\n".encode("utf-16"), "byte 0xff in line 1 (offset 0); it looks like UTF-16, save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "byte 0x89 in line 1 (offset 0); it looks like a binary file"),
        (b"\xed\xa0\x80", "byte 0xed in line 1 (offset 0); save it as UTF-8"),
        (b"abc\xe2\x82", "byte 0xe2 in line 1 (offset 3); save it as UTF-8"),
    ],
)
def test_bytes_that_are_not_utf_8_are_named(tmp_path: Path, data: bytes, reason: str):
    path = tmp_path / "a.md"
    path.write_bytes(data)
    problem = refused(path)
    assert (problem.kind, problem.reason) == ("not-utf-8", f"is not UTF-8 text: {reason}")


def test_x5_only_regular_files_are_opened_and_nothing_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        found = {name: refused(Path(name)).reason for name in ("pipe.md", "folder.md", "socket.md", "/dev/zero")}
    assert found == {
        "pipe.md": "is a pipe, not a regular file",
        "folder.md": "is a folder, not a regular file",
        "socket.md": "is a socket, not a regular file",
        "/dev/zero": "is a device, not a regular file",
    }


def test_missing_names_and_loops_are_problems(tmp_path: Path):
    (tmp_path / "loop.md").symlink_to("loop.md")
    (tmp_path / "file").write_text("")
    assert refused(tmp_path / "none.md").kind == "missing"
    assert refused(tmp_path / "file" / "below.md").kind == "missing"
    assert refused(tmp_path / "nul\0.md", RootedFiles(tmp_path)).kind == "missing"
    assert refused(tmp_path / ("n" * 300)).kind == "unreadable"
    assert refused(tmp_path / "loop.md", RootedFiles(tmp_path)).reason == "is a link that leads back to itself"


def test_a_file_without_permission_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "secret.md"
    path.write_text("x")
    path.chmod(0)
    if AS_ROOT:  # root reads everything, so the refusal of the system is played

        def refuse(*args: object) -> int:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("prosa.adapters.files.read.os.open", refuse)
    assert refused(path).reason == "may not be read (permission denied)"


def test_x5_a_link_out_of_the_root_is_refused_and_one_inside_is_followed(tmp_path: Path):
    root, outside = tmp_path / "root", tmp_path / "outside.md"
    (root / "sub").mkdir(parents=True)
    outside.write_text("secret")
    (root / "in.md").write_text("fine")
    (root / "escape.md").symlink_to(outside)
    (root / "up").symlink_to(tmp_path)
    (root / "sub" / "link.md").symlink_to("../in.md")
    files = RootedFiles(root)
    assert files.read(root / "sub" / "link.md").text == "fine"
    assert files.read(root / "sub" / ".." / "in.md").text == "fine"
    for path in (root / "escape.md", root / "up" / "outside.md", root / ".." / "outside.md", tmp_path / "rootless.md"):
        assert refused(path, files).kind == "outside-root"
        assert not files.inside_root(path)
    assert RootedFiles().read(root / "escape.md").text == "secret"


def test_x5_the_root_itself_may_be_a_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("x")
    (tmp_path / "named").symlink_to("real")
    files = RootedFiles(tmp_path / "named")
    assert files.read(tmp_path / "named" / "a.md").text == "x"
    assert files.real(tmp_path / "named" / "new.md") == (tmp_path / "real" / "new.md").resolve()


def test_relative_paths_start_at_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.md").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert RootedFiles(Path()).read(Path("a.md")).path == "a.md"


@pytest.mark.parametrize("mark", ["prosa.toml", ".obsidian", ".git"])
def test_x5_the_root_is_the_nearest_marked_ancestor(tmp_path: Path, mark: str):
    deep = tmp_path / "project" / "docs" / "more"
    deep.mkdir(parents=True)
    (tmp_path / "project" / mark).mkdir()
    assert find_root(deep / "a.md") == (tmp_path / "project").resolve()
    assert find_root(deep) == (tmp_path / "project").resolve()
    (deep.parent / "prosa.toml").write_text("")
    assert find_root(deep / "a.md") == deep.parent.resolve()


def test_x5_without_a_mark_the_root_is_the_folder_of_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("")
    assert find_root(folder / "a.md") == folder.resolve()
    monkeypatch.chdir(folder)
    assert find_root(Path("a.md")) == folder.resolve()


def test_x5_a_link_does_not_choose_its_own_root(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.md").write_text("")
    (tmp_path / "docs" / "a.md").symlink_to("../elsewhere/b.md")
    root = find_root(tmp_path / "docs" / "a.md")
    assert root == (tmp_path / "docs").resolve()
    assert refused(tmp_path / "docs" / "a.md", RootedFiles(root)).kind == "outside-root"


def test_x5_what_the_user_names_is_opened_and_not_quoted_outside_the_root(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "b.md").write_text("x")
    (tmp_path / "c.md").write_text("y")
    link = tmp_path / "docs" / "a.md"
    link.symlink_to("../b.md")
    files = RootedFiles(tmp_path / "docs", named=(link,))
    for each in (files, pickle.loads(pickle.dumps(files))):
        assert (each.read(link).text, each.read(link).quotable) == ("x", False)
        assert each.digest(link, 10) == hashlib.sha256(b"x").hexdigest()
        assert each.exists(link)
        assert refused(tmp_path / "c.md", each).kind == "outside-root"
    assert RootedFiles(tmp_path, named=(link,)).read(link).quotable


def test_x5_the_root_of_a_program_is_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X5. Where nothing marks a project: the current folder, unless it is home, or all there is."""
    folder = tmp_path / "work" / "agents" / "deep"
    folder.mkdir(parents=True)
    home = {"HOME": str(tmp_path)}
    path = folder / "a.md"
    stands = {}
    for here in ("work", "work/agents/deep", ".", "/", "elsewhere"):
        (tmp_path / here).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / here)
        stands[here] = find_program_root(path, home)
    assert stands == {
        "work": tmp_path / "work",
        "work/agents/deep": folder,
        ".": folder,  # the home folder
        "/": folder,
        "elsewhere": folder,
    }
    (tmp_path / "work" / "agents" / ".git").mkdir()
    assert find_program_root(path, home) == tmp_path / "work" / "agents"


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_come_back_whole_or_are_refused(data: bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.md")
        path.write_bytes(data)
        try:
            assert RootedFiles(path.parent).read(path).text.encode() == data
        except FileProblem as problem:
            assert problem.kind == "not-utf-8"
            with pytest.raises(UnicodeDecodeError):
                data.decode()


def test_x5_no_folder_becomes_the_root_because_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X5. The root of the current folder is asked of the folder, not of a file that might be in it."""
    for name in ("x", "<stdin>", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("# a\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert corpus_root(None) == corpus_root(Path()) == corpus_root(tmp_path) == tmp_path
    assert [group.root for group in gather(["."], root=None, max_size=1000)] == [tmp_path]


def test_x5_x23_a_folder_is_judged_by_its_own_name(tmp_path: Path):
    """X5, X23. A pattern for a name that is in no folder closes no folder."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "gone").mkdir()
    (tmp_path / ".gitignore").write_text("x\ngone\n", encoding="utf-8")
    files = SiteFiles(tmp_path, 1000)
    assert files.folder("sub/") == tmp_path / "sub/"
    assert files.folder("gone/") is None


def read_or_refused(read: Callable[[Path], SourceText], path: Path) -> tuple[object, ...]:
    """Return everything that reading a path gives."""
    try:
        source = read(path)
    except FileProblem as problem:
        return problem.path, problem.kind, problem.reason
    return source.text, source.path, source.digest, source.quotable


def _given(found: SourceText | FileProblem, _: Path) -> SourceText:
    if isinstance(found, FileProblem):
        raise found
    return found


def test_many_documents_are_read_as_each_alone(tmp_path: Path):
    root, outside = tmp_path / "root", tmp_path / "outside.md"
    for name in ("a.md", "b/c.md", "b/d.md", "b/e/f.md", "b/large.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name * (9 if "large" in name else 1))
    outside.write_text("secret")
    (root / "b" / "out.md").symlink_to(outside)
    (root / "link").symlink_to(tmp_path)
    os.mkfifo(root / "b" / "pipe.md")
    files = RootedFiles(root, max_size=20)
    named = ["a.md", "b/c.md", "b/out.md", "b/pipe.md", "b", "b/d.md", "no/x.md", "b/e/f.md", "b/large.md"]
    paths = [root / name for name in (*named, "link/outside.md", "b/\0.md", "../outside.md", "a.md", "b/c.md")]
    expected = []
    for path in paths:
        try:
            expected.append((path, files.data(path)))
        except FileProblem:
            continue
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert [*files.data_of_many(paths)] == [*RootedFiles(root, max_size=20).data_of_many(paths)] == expected
    assert [path.name for path, _ in expected] == ["a.md", "c.md", "d.md", "f.md", "a.md", "c.md"]
    with files.held() as held:
        for path in paths:
            assert read_or_refused(partial(files.read_in, held), path) == read_or_refused(files.read, path)
    for reader in (files, RootedFiles(root, max_size=20, hashes=False), RootedFiles(max_size=20)):
        each_alone = [read_or_refused(reader.read, path) for path in paths]
        assert [read_or_refused(partial(_given, each), Path()) for each in reader.read_all(paths)] == each_alone
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_becomes_a_link_is_not_followed_for_many(tmp_path: Path):
    root, apart = tmp_path / "root", tmp_path / "apart"
    for folder in (root / "b", apart):
        folder.mkdir(parents=True)
        (folder / "c.md").write_text(folder.name)
    files = RootedFiles(root)
    assert files.real(root / "b" / "c.md") == root.resolve() / "b" / "c.md"
    (root / "b").rename(root / "was")
    (root / "b").symlink_to(apart)
    assert [*files.data_of_many([root / "b" / "c.md"])] == []
