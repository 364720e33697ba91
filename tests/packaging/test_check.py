"""`make release-check`: each check refuses what is broken, and the table says what was not run."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tools.packaging import check, distributions
from tools.packaging.check import Release, Row, advisories, changelog, extension, filled, table, tagged, tree, versions
from tools.packaging.distributions import PROVENANCE, Wrong, licences, names, pythons, statement, write_statements
from tools.packaging.icon import png
from tools.packaging.owner import Owner

REHEARSAL = Release("1.2.3", "", Owner())
TAGGED = Release("1.2.3", "v1.2.3", Owner())
FILLED = Owner(
    False, "Ann", "a@example.org", "https://example.org/a/p", "", "https://example.org/a/h", "r.example/a", "a"
)
TODAY = datetime.date(2026, 3, 1)


# ---- the tree ----


def test_a_tree_with_changes_is_refused():
    assert tree("") == "nothing changed since its commit"
    with pytest.raises(Wrong, match=r"2 changed, such as src/a\.py"):
        tree(" M src/a.py\n?? b.md\n")


@pytest.mark.parametrize(
    ("it", "tags", "state"),
    [
        (REHEARSAL, [], "open"),
        (TAGGED, ["v1.2.3"], "passed"),
        (TAGGED, [], "FAILED"),
        (TAGGED._replace(tag="v1.2.4"), ["v1.2.4"], "FAILED"),
    ],
)
def test_the_tag_is_at_the_commit_and_is_that_of_the_version(it: Release, tags: list[str], state: str):
    assert tagged(it, tags).state == state


def test_another_version_anywhere_is_named():
    assert versions({"src/prosa/__init__.py": "1.2.3", "a": "1.2.3"}) == "1.2.3 in 2 places"
    with pytest.raises(Wrong, match="b says 1"):
        versions({"src/prosa/__init__.py": "1.2.3", "b": "1.2.2"})


@pytest.mark.parametrize(
    ("text", "rehearsed", "at_the_tag"),
    [
        ("## [1.2.3] - 2026-03-01\n- new\n", "passed", "passed"),
        ("## [Unreleased]\n\n## [1.2.3] - 2026-03-01\n", "passed", "passed"),
        ("## [Unreleased]\n- later\n\n## [1.2.3] - 2026-03-01\n", "passed", "FAILED"),
        ("## [1.2.2] - 2026-03-01\n", "open", "FAILED"),
        ("## [Unreleased]\n- new\n", "open", "FAILED"),
        ("## [1.2.3] - 2026-03-02\n", "FAILED", "FAILED"),
    ],
)
def test_the_changelog_has_the_version_with_its_date(text: str, rehearsed: str, at_the_tag: str):
    assert [changelog(it, text, TODAY).state for it in (REHEARSAL, TAGGED)] == [rehearsed, at_the_tag]


def test_the_owners_file_may_be_empty_in_a_rehearsal_only():
    assert [filled(it, []).state for it in (REHEARSAL, TAGGED)] == ["open", "FAILED"]
    assert "publisher" in filled(TAGGED, []).words
    assert filled(TAGGED._replace(owner=FILLED), []).state == "passed"
    assert filled(TAGGED._replace(owner=FILLED), ["README.md"]).state == "FAILED"


# ---- what was built ----


def test_a_release_is_six_files_of_one_version():
    whole = [f"{name}-1.2.3{end}" for name in distributions.SBOMS for end in (".tar.gz", "-py3-none-any.whl")]
    names(whole, "1.2.3")
    for broken in (whole[1:], [*whole, "prosa-1.2.2.tar.gz"]):
        with pytest.raises(Wrong, match="missing"):
            names(broken, "1.2.3")


def built(folder: Path, without: str = "", parts: bytes = b"") -> tuple[Path, Path, Path]:
    """A wheel and a source distribution of `prosa`, without one of their files, and the tree they are of."""
    root, wheel, source = folder / "tree", folder / "prosa-1.2.3-py3-none-any.whl", folder / "prosa-1.2.3.tar.gz"
    (root / "packaging/prosa").mkdir(parents=True)
    listed = json.dumps({"components": [{"name": "a", "licenses": [1]}, {"name": "b"}]}).encode()
    (root / "packaging/prosa/prosa.cdx.json").write_bytes(listed)
    expression = "" if without == "expression" else "License-Expression: Apache-2.0\n"
    info = {
        "METADATA": f"Metadata-Version: 2.4\nName: prosa\n{expression}License-File: LICENSE\n\ntext".encode(),
        "licenses/LICENSE": b"licence",
        "sboms/prosa.cdx.json": parts or listed,
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in info.items():
            if name != without:
                archive.writestr(f"prosa-1.2.3.dist-info/{name}", data)
    with tarfile.open(source, "w:gz") as packed:
        for name in ("README.md", "LICENSE"):
            if without != f"sdist {name}":
                packed.addfile(tarfile.TarInfo(f"prosa-1.2.3/{name}"), io.BytesIO())
    return wheel, source, root


def test_components_without_a_declared_licence_are_named(tmp_path: Path):
    assert licences(*built(tmp_path)) == ["b"]


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("licenses/LICENSE", "has no licence: LICENSE is missing"),
        ("expression", "declares no licence"),
        ("sboms/prosa.cdx.json", "no list of components"),
        ("sdist LICENSE", "tar.gz has no licence"),
    ],
)
def test_a_distribution_without_licence_or_parts_is_refused(tmp_path: Path, without: str, said: str):
    with pytest.raises(Wrong, match=said):
        licences(*built(tmp_path, without))


def test_a_list_of_components_of_another_tree_is_refused(tmp_path: Path):
    with pytest.raises(Wrong, match="another list"):
        licences(*built(tmp_path, parts=b'{"components": []}'))


def test_statements_name_their_file_and_say_that_nothing_signed_them(tmp_path: Path):
    file = tmp_path / "prosa-1.2.3.tar.gz"
    file.write_bytes(b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    about = statement(file, "https://example.org/a/p", "c0ffee", "v1.2.3")
    assert (about["_type"], about["predicateType"]) == ("https://in-toto.io/Statement/v1", PROVENANCE)
    assert about["subject"] == [{"name": file.name, "digest": {"sha256": digest}}]
    assert "unsigned" in about["predicate"]["runDetails"]["builder"]["id"]
    assert write_statements([file], tmp_path / "out", "", "c0ffee", "v1.2.3") == 1
    assert {each.name for each in (tmp_path / "out").iterdir()} == {f"{file.name}.unsigned.intoto.json", "SHA256SUMS"}
    assert (tmp_path / "out" / "SHA256SUMS").read_text() == f"{digest}  {file.name}\n"


def packed(folder: Path, without: str = "", version: str = "1.2.3") -> Path:
    path = folder / "prosa-1.2.3.vsix"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("extension/package.json", json.dumps({"version": version, "icon": "icon.png"}))
        for name in check.EXTENSION:
            if name != without:
                archive.writestr(name, "x")
    return path


def test_the_extension_has_what_a_marketplace_shows(tmp_path: Path):
    assert "with icon, changelog" in extension(REHEARSAL, packed(tmp_path))
    for name in check.EXTENSION:
        with pytest.raises(Wrong, match=f"lacks {name}"):
            extension(REHEARSAL, packed(tmp_path, without=name))
    with pytest.raises(Wrong, match="another version"):
        extension(REHEARSAL, packed(tmp_path, version="1.2.2"))
    with pytest.raises(Wrong, match="no repository"):
        extension(REHEARSAL._replace(owner=FILLED), packed(tmp_path))
    with pytest.raises(Wrong, match="was not built"):
        extension(REHEARSAL, tmp_path / "none.vsix")


def test_the_icon_is_a_picture_that_marketplaces_take():
    data = png()
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and struct.unpack(">II", data[16:24]) == (256, 256)
    assert json.loads((ROOT / "editors" / "vscode" / "package.json").read_text())["icon"] == "icon.png"


# ---- linters, Pythons, the table ----


def report(*packages: dict[str, object]) -> str:
    return json.dumps({"dependencies": [{"name": "a", "version": "1", **each} for each in packages], "fixes": []})


def test_what_no_service_was_asked_about_was_not_run():
    assert advisories([report({"vulns": []})]).state == "passed"
    assert advisories([report({"vulns": []}, {"skip_reason": "no answer"})]).words.endswith("1 of 2 pins")
    assert advisories([report({"vulns": [{"id": "X"}]}, {"skip_reason": "no"})]) == Row(
        "advisories", "FAILED", "vulnerable: a 1"
    )


def test_pythons_are_those_that_are_named_and_start(tmp_path: Path):
    named, broken = tmp_path / "mine", tmp_path / "bin"
    for path, script in (
        (named, "echo 3.14.9"),
        (broken / "python3.13", "exit 1"),
        (broken / "python3.12", "echo 3.12.1"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    found = pythons({"RELEASE_PYTHONS": str(named), "PATH": str(broken), "HOME": str(tmp_path)})
    assert found == {"3.11": None, "3.12": broken / "python3.12", "3.13": None, "3.14": named}


def test_the_table_says_what_was_not_run():
    said = table([Row("tree", "passed", "clean"), Row("image: build", "not run", "no Docker runs here " * 8)])
    assert said.splitlines()[0] == "tree          passed  clean"
    assert "- image: build: no Docker" in said and "- publishing:" in said
    assert said.splitlines()[-1] == "1 passed, 1 not run"
    assert max(map(len, said.splitlines()[:3])) <= 110


def test_a_check_that_breaks_is_a_row_too():
    def broken(_it: Release) -> str:
        raise Wrong("it broke")

    assert check._row("x", broken, REHEARSAL) == Row("x", "FAILED", "it broke")
    assert check._row("x", lambda _: "well", REHEARSAL) == Row("x", "passed", "well")
