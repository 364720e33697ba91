"""Attachments and links: what a record points at, inside its folder and beyond."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.files import RootedFiles
from prosa.dialects import ymj
from prosa.dialects.ymj.model import local_path
from prosa.document import Ref
from prosa.rules.engine import check_documents
from prosa.rules.files import RecordingFiles, still_holds
from prosa.source import FileProblem
from tests.dialects.ymj.records import HEADER, facts, found, read, record, sha

ZERO, ONE = "0" * 64, "1" * 64
A, B = "https://example.org/a.csv", "https://example.org/b.csv"


def catalog(*items: str) -> str:
    return "attachments:\n" + "".join(f"  - {{{item}}}\n" for item in items)


def effective(text: str) -> list[dict[str, Any]]:
    """The effective attachments without what is null."""
    shown: list[dict[str, Any]] = facts(text)["attachments"]
    return [{key: value for key, value in each.items() if value is not None} for each in shown]


def test_y14_y31_ya18_header_and_footer_together():
    """Y14, Y31, YA18: the header gives identity, the footer handling; union by `uri`."""
    text = record(
        more=catalog(f"uri: '{A}', note: all rows, sha256: '{ZERO}', select: old", "uri: local.csv"),
        ops={
            "attachments": [
                {"uri": B, "cache": "1d", "auth_ref": "vault:b"},
                {"uri": A, "sha256": ONE, "select": "$.rows", "transform": ["trim"]},
                {"select": "loose"},
            ]
        },
    )
    assert effective(text) == [
        {"uri": A, "sha256": ZERO, "note": "all rows", "select": "$.rows", "transform": ["trim"], "source": "both"},
        {"uri": "local.csv", "source": "yaml"},
        {"uri": B, "cache": "1d", "auth_ref": "vault:b", "source": "json"},
        {"select": "loose", "source": "json"},
    ]
    rules = found(text)
    assert rules["attachment-hash-in-footer"] == rules["attachment-without-uri"] == "warning"


def test_the_keys_of_an_attachment_are_those_of_the_interface():
    (shown,) = facts(record(more=catalog(f"uri: '{A}'")))["attachments"]
    assert list(shown) == ["uri", "sha256", "note", "select", "transform", "cache", "auth_ref", "source"]


def test_y14_an_attachment_of_the_footer_alone():
    """Y14: no warning but in strict mode."""
    text = record(ops={"attachments": [{"uri": A}]})
    assert found(text) == {"attachment-only-in-footer": "hint"}
    assert found(text, strict=True) == {"attachment-only-in-footer": "warning"}


def test_ya18_a_placeholder_is_no_hash():
    """YA18."""
    text = record(more=catalog(f"uri: '{A}', sha256: '<sha256-of-a>'"))
    assert found(text) == {"placeholder-hash": "warning"}
    assert found(text, strict=True) == {"placeholder-hash": "error"}


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("data/a.csv", "/root/data/a.csv"),
        ("./a%20b.csv", "/root/a b.csv"),
        ("file:a.csv", "/root/a.csv"),
        ("file:///srv/a.csv?x#y", "/srv/a.csv"),
        ("file://localhost/srv/a.csv", "/srv/a.csv"),
        ("file://host/srv/a.csv", None),
        ("file://", None),
        ("https://example.org/a.csv", None),
        ("//example.org/a.csv", None),
        ("s3://bucket/a.csv", None),
        ("data:text/csv,a", None),
        ("#part", None),
    ],
)
def test_ya18_which_attachments_are_files(uri: str, path: str | None):
    """YA18, X5."""
    assert local_path(uri, Path("/root")) == (Path(path) if path else None)


def check(folder: Path, text: str) -> dict[str, str]:
    (folder / "record.ymj").write_text(text, encoding="utf-8")
    checked = check_documents([folder / "record.ymj"], RootedFiles(folder))
    return {each.rule: each.severity.value for each in checked.diagnostics}


def test_y19_y29_x5_raw_bytes_are_verified(tmp_path: Path):
    """Y19, Y29, X5: bytes of any kind, unconverted; a file that is not text too."""
    data = b"\xff\x00\r\n"
    (tmp_path / "a.bin").write_bytes(data)
    good, bad = hashlib.sha256(data).hexdigest(), ZERO
    assert check(tmp_path, record(more=catalog(f"uri: a.bin, sha256: '{good}'"))) == {}
    assert check(tmp_path, record(more=catalog(f"uri: a.bin, sha256: '{bad}'"))) == {
        "attachment-hash-mismatch": "error"
    }


def test_x5_ya18_nothing_outside_the_root_is_opened(tmp_path: Path):
    """X5, YA18: neither by a path nor by a link; remote ones are left alone."""
    root, outside = tmp_path / "root", tmp_path / "secret.txt"
    root.mkdir()
    outside.write_text("secret")
    (root / "link.txt").symlink_to(outside)
    for uri in ("../secret.txt", "link.txt", outside.as_uri()):
        rules = check(root, record(more=catalog(f"uri: '{uri}', sha256: '{sha('secret')}'")))
        assert rules == {"unverified-attachment": "info"}
    assert check(root, record(more=catalog(f"uri: '{A}', sha256: '{ZERO}'"))) == {}


def test_y19_what_was_found_holds_as_long_as_the_bytes_do(tmp_path: Path):
    """Y19, X10: a check that is kept is looked at again when an attached file changes, appears or goes."""
    file, missing = tmp_path / "a.bin", tmp_path / "b.bin"
    file.write_bytes(b"\xff\x00")
    files = RootedFiles(tmp_path)
    recording = RecordingFiles(files)
    assert recording.digest(file, 10) == files.digest(file, 10)
    for path, limit, kind in ((missing, 10, "missing"), (tmp_path.parent / "c", 10, "outside-root")):
        with pytest.raises(FileProblem) as problem:
            recording.digest(path, limit)
        assert problem.value.kind == kind
    assert still_holds(recording.record, files)
    missing.write_bytes(b"")
    assert not still_holds(recording.record, files)
    missing.unlink()
    file.write_bytes(b"\xff\x01")
    assert not still_holds(recording.record, files)


def test_y19_an_attachment_has_a_size_limit(tmp_path: Path):
    """Y19."""
    (tmp_path / "a.bin").write_bytes(b"0123456789")
    assert RootedFiles(tmp_path).digest(tmp_path / "a.bin", 10) == sha("0123456789")
    with pytest.raises(FileProblem, match="larger than 9 bytes"):
        RootedFiles(tmp_path).digest(tmp_path / "a.bin", 9)


@pytest.mark.parametrize("uri", ["missing.csv", "file:missing.csv", "a/b/c.csv"])
def test_y14_a_file_that_is_not_there(tmp_path: Path, uri: str):
    """Y14: a warning, once."""
    assert check(tmp_path, record(more=catalog(f"uri: '{uri}', sha256: '{ZERO}'"))) == {"missing-attachment": "warning"}


def test_a_folder_is_no_attachment(tmp_path: Path):
    (tmp_path / "data").mkdir()
    assert check(tmp_path, record(more=catalog(f"uri: data, sha256: '{ZERO}'"))) == {"unverified-attachment": "info"}


WIKI = """\
See [[Harbour]], [[Harbour|the port]], [[Harbour#Piers]] and [[Timetable 2026]].

`[[not here]]`, and <!-- [[nor here]] --> not there.

    [[nor in code]]

```text
[[nor in a fence]]
```

| a | b |
|---|---|
| [[In a table\\|label]] | x |

"""


def test_y21_ya21_y24_wikilinks():
    """Y21, YA21, Y24: with label or heading, with spaces, and never in code."""
    shown = facts(record(body=WIKI))["wikilinks"]
    assert [link["target"] for link in shown] == ["Harbour", "Harbour", "Harbour", "Timetable 2026", "In a table"]
    assert [link["line"] for link in shown] == [8, 8, 8, 8, 20]


def test_y31_references_and_definitions():
    """Y31, Y21: wikilinks, edges and attachments are references; the subject is a title."""
    edges = [
        {"type": "supersedes", "to": "Timetable 2025"},
        {"type": "see", "to": "../port/harbour.ymj#piers"},
        {"type": "cites", "to": "https://example.org/law"},
        {"type": "part-of", "to": "[[Harbour|port]]"},
    ]
    model = read(record(more=catalog("uri: 'a%20b.csv'"), body="[[Harbour#Piers]]\n", ops={"graph": {"edges": edges}}))
    refs = ymj.references(model)

    def short(ref: Ref) -> tuple[str, str, str, str | None, str]:
        return ref.origin, ref.kind, ref.target, ref.rel, ref.fragment

    assert [short(ref) for ref in refs] == [
        ("wikilink", "stem", "Harbour", None, "Piers"),
        ("ops.graph", "stem", "Timetable 2025", "supersedes", ""),
        ("ops.graph", "path", "../port/harbour.ymj", "see", "piers"),
        ("ops.graph", "url", "https://example.org/law", "cites", ""),
        ("ops.graph", "stem", "Harbour", "part-of", ""),
        ("front-matter", "path", "a b.csv", "attachment", ""),
    ]
    assert [(found.kind, found.name) for found in ymj.definitions(model)] == [("title", "Ferry hours")]
    texts = [model.source.slice(ref.span) for ref in refs]
    assert texts[0] == "[[Harbour#Piers]]"
    assert texts[1] == '"Timetable 2025"'


def test_ya21_wikilinks_resolve_by_stem(tmp_path: Path):
    """YA21: exactly, then but for case with a warning; several are reported; none is."""
    for name in ("Harbour.ymj", "north/Pier.ymj", "south/Pier.ymj"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(record())
    body = "[[Harbour]] [[harbour]] [[Pier]] [[Lighthouse]]\n"
    (tmp_path / "record.ymj").write_text(record(body=body))
    files = sorted(tmp_path.rglob("*.ymj"))
    checked = check_documents(files, RootedFiles(tmp_path))
    shown = {each.source.slice(each.span): each.rule for each in checked.diagnostics}
    assert shown == {
        "[[harbour]]": "wikilink-case",
        "[[Pier]]": "ambiguous-wikilink",
        "[[Lighthouse]]": "unresolved-wikilink",
    }


def test_y12_y31_related_tickets_and_parents_of_traces_are_references():
    """Y12, Y31. A trace is called by its run."""
    header = HEADER.replace("kind: note", "kind: trace")
    ops = {"ticket": {"severity": 1, "related_ids": ["T-2", "", 7]}, "trace": {"parent_id": " run-7 "}}
    model = read(record(header=header, more="provenance:\n  run_id: run-8\n", ops=ops))
    named = [(ref.origin, ref.kind, ref.target, ref.rel) for ref in ymj.references(model)]
    assert ("ops.trace", "stem", "run-7", "parent") in named
    assert [(found.kind, found.name) for found in ymj.definitions(model)] == [
        ("title", "Ferry hours"),
        ("alias", "run-8"),
    ]
    whole = read(record(ops={"ticket": {"severity": 1, "related_ids": ["T-2"]}}))
    assert [(ref.origin, ref.target, ref.rel) for ref in ymj.references(whole)] == [("ops.ticket", "T-2", "related")]
