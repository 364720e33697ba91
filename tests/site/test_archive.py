"""Archives of skills: the same bytes wherever they are made, and nothing that leads out of them (X40)."""

from __future__ import annotations

import gzip
import io
import random
import stat
import tarfile
import zipfile

import pytest

from prosa.site import archive
from prosa.site.archive import ArchiveProblem, pack, unpack

FILES = [("SKILL.md", b"---\nname: a\n---\n"), ("references/deep/er.md", b"x" * 200_000), ("scripts/ä.py", b"")]


def tar(*members: tuple[tarfile.TarInfo, bytes], kind: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=kind) as box:
        for member, data in members:
            member.size = len(data)
            box.addfile(member, io.BytesIO(data))
    return out.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


def sized(size: str) -> tarfile.TarInfo:
    found = member("big")
    found.pax_headers = {"size": size}
    return found


def chained(number: int) -> bytes:
    """Headers that each speak of the next one."""
    head = member("next", tarfile.XHDTYPE).tobuf(tarfile.USTAR_FORMAT)
    return gzip.compress(head * number + bytes(1_024))


SKILL = (member("SKILL.md"), b"---\n")


def test_x40_an_archive_is_the_same_in_any_order_and_comes_back() -> None:
    shuffled = random.Random(1).sample(FILES, len(FILES))
    made = pack(FILES)
    assert pack(shuffled) == made
    assert list(unpack(made)) == sorted(FILES)
    assert gzip.decompress(made)  # as others read it
    with tarfile.open(fileobj=io.BytesIO(made)) as box:
        told = {(each.mtime, each.uid, each.gid, each.mode, each.uname, each.type) for each in box}
    assert told == {(0, 0, 0, 0o644, "", tarfile.REGTYPE)}


def test_x40_the_bytes_of_an_archive_are_known() -> None:
    """No version of a compressor has a part in them."""
    from hashlib import sha256

    known = "eb41441922c6059fe0341113afdf679fb546cc4662a7eab2f7ee2add27057fc6"
    assert sha256(pack([("SKILL.md", b"one"), ("a.txt", b"two")])).hexdigest() == known


def test_x40_a_path_that_no_archive_takes_is_an_error() -> None:
    with pytest.raises(ArchiveProblem, match="too long"):
        pack([(f"{'a' * 300}.md", b"")])
    with pytest.raises(ArchiveProblem, match="case alone"):
        archive.require_files(["SKILL.md", "a.py", "A.py"])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (tar(SKILL, (member("../evil"), b"x")), "leads out"),
        (tar(SKILL, (member("a/../../evil"), b"x")), "leads out"),
        (tar(SKILL, (member("/etc/evil"), b"x")), "absolute"),
        (tar(SKILL, (member("C:evil"), b"x")), "absolute"),
        (tar(SKILL, (member("a\\..\\evil"), b"x")), "is not a name"),
        (tar(SKILL, (member("a//b"), b"x")), "is not a name"),
        (tar(SKILL, (member("nul.txt"), b"x")), "is not a name"),
        (tar(SKILL, (member("a\nb"), b"x")), "is not a name"),
        (tar(SKILL, (member("link", tarfile.SYMTYPE, "SKILL.md"), b"")), "a link"),
        (tar(SKILL, (member("link", tarfile.SYMTYPE, "/etc/passwd"), b"")), "a link"),
        (tar(SKILL, (member("link", tarfile.LNKTYPE, "SKILL.md"), b"")), "a link"),
        (tar(SKILL, (member("pipe", tarfile.FIFOTYPE), b"")), "special file"),
        (tar(SKILL, (member("device", tarfile.CHRTYPE), b"")), "special file"),
        (tar(SKILL, (member("../out/", tarfile.DIRTYPE), b"")), "leads out"),
        (tar(SKILL, (member("skill.md"), b"x")), "two files"),
        (tar(SKILL, (member("a"), b"x"), (member("a/b"), b"x")), "place of a folder"),
        (tar(SKILL, (member("A"), b"x"), (member("a/b"), b"x")), "place of a folder"),
        (tar(SKILL, (member("\u00e9"), b"x"), (member("e\u0301"), b"x")), "two files"),
        (tar(SKILL, (sized("9" * 30), b"x")), "cannot be read"),
        (chained(5_000), "cannot be read"),
        (tar((member("inner/SKILL.md"), b"x")), "no SKILL.md"),
        (tar(), "no SKILL.md"),
        (tar(SKILL)[:-30], "it"),
        (b"\x1f\x8bnothing", "cannot be read"),
        (b"PK\x03\x04nothing", "cannot be read"),
        (b"<!doctype html>", "neither"),
        (b"", "neither"),
    ],
    ids=lambda each: each if isinstance(each, str) else "archive",  # the bytes have the time in them
)
def test_x40_an_archive_that_is_not_safe_is_not_unpacked(data: bytes, words: str) -> None:
    with pytest.raises(ArchiveProblem, match=words):
        unpack(data)


def test_x40_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FOREIGN_BYTES", 1_000_000)
    monkeypatch.setattr(archive, "MOST_FOREIGN_FILES", 10)
    with pytest.raises(ArchiveProblem, match="MiB unpacked"):
        unpack(tar(SKILL, (member("big"), bytes(2_000_000))))
    with pytest.raises(ArchiveProblem, match="MiB unpacked"):
        unpack(tar(SKILL, *((member(f"{n}"), b"") for n in range(11))))
    for flag in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with pytest.raises(ArchiveProblem, match="MiB unpacked"):
            unpack(zipped({"SKILL.md": b"", "big": bytes(2_000_000)}, flag))


def zipped(files: dict[str, bytes], flag: int = zipfile.ZIP_DEFLATED, mode: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", flag) as box:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = mode << 16, flag
            box.writestr(info, data)
    return out.getvalue()


def test_x40_a_zip_is_held_to_the_same() -> None:
    assert list(unpack(zipped({"SKILL.md": b"a", "b/c": b"d", "b/": b""}))) == [("SKILL.md", b"a"), ("b/c", b"d")]
    with pytest.raises(ArchiveProblem, match="a link"):
        unpack(zipped({"SKILL.md": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777))
    for path in ("../a", "/a", "C:a"):
        with pytest.raises(ArchiveProblem):
            unpack(zipped({"SKILL.md": b"", path: b""}))
    with pytest.raises(ArchiveProblem, match="unusual"):
        unpack(zipped({"SKILL.md": b""}, zipfile.ZIP_LZMA))
    broken = bytearray(zipped({"SKILL.md": b"abcdefgh"}, zipfile.ZIP_STORED))
    broken[45] ^= 1
    with pytest.raises(ArchiveProblem, match="cannot be read"):
        unpack(bytes(broken))
