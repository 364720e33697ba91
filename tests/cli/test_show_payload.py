"""`prosa show --payload`: the payload of a record, byte for byte (Y27, YA13, YA17, YA22)."""

from __future__ import annotations

import base64
import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.console import Console
from prosa.cli.main import main
from prosa.dialects.ymj.payload import MAX_PAYLOAD
from tests import warm
from tests.cli.desk import desk
from tests.dialects.ymj.records import record

TABLE = "# Table\n\n```csv\na,b\n1,ü\n```\n\n```csv\nc\n```\n\n"


def payload(tmp_path: Path, *argv: str, body: str = TABLE, **ops: Any) -> tuple[int, bytes, str]:
    """Return what the command writes to a stream of bytes, with its status and its messages."""
    path = tmp_path / "table.ymj"
    path.write_text(record(body=body, ops=ops))
    out, err = io.BytesIO(), io.StringIO()
    console = Console(io.StringIO(), io.TextIOWrapper(out, "utf-8", newline="\n"), err, {}, False)
    status = main(["show", "--payload", str(path), *argv], console)
    return status, out.getvalue(), err.getvalue()


def piped(path: Path, *argv: str) -> tuple[int, bytes, str]:
    """Return what a process with a pipe writes."""
    words = [sys.executable, "-m", "prosa", "show", "--payload", str(path), *argv]
    done = warm.run(words, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def test_y27_the_payload_is_written_as_it_stands(tmp_path: Path):
    assert payload(tmp_path, body_format="csv") == (0, "a,b\n1,ü\n".encode(), "")
    assert piped(tmp_path / "table.ymj") == (0, "a,b\n1,ü\n".encode(), "")


def test_y27_a_pipe_gets_what_this_process_writes(tmp_path: Path):
    for argv in ([], ["--fallback-body"], ["--selector", "regex:zzz"], ["--selector", "nowhere:x"]):
        here = payload(tmp_path, *argv, body_format="csv")
        assert piped(tmp_path / "table.ymj", *argv) == here


@pytest.mark.parametrize(
    ("argv", "ops", "wanted"),
    [
        (["--selector", "nth_fenced:csv:2"], {"body_format": "csv"}, "c\n"),
        (["--selector", "regex:(1,.)"], {}, "1,ü"),
        (["--fallback-body"], {}, TABLE),
        (["--fallback-body"], {"body_format": "json"}, TABLE),
        ([], {"body_format": "plain"}, TABLE),
    ],
)
def test_y27_ya13_ya17_what_is_chosen(argv: list[str], ops: dict[str, Any], wanted: str, tmp_path: Path):
    assert payload(tmp_path, *argv, **ops) == (0, wanted.encode(), "")


@pytest.mark.parametrize(
    "selector", ["first_fenced:json", "nth_fenced:csv:9", "block_id:x", "section:None", "regex:zzz"]
)
@pytest.mark.parametrize("more", [{}, {"body_encoding": "base64"}], ids=["plain", "encoded"])
def test_ya17b_a_missing_target_is_an_error_unless_the_body_may_stand_in(
    selector: str, more: dict[str, str], tmp_path: Path
):
    """The record's own selector and one that is given; the whole body is no encoded payload, and strictness plays no
    part."""
    for argv, ops in (([], {"body_selector": selector}), (["--selector", selector], {"body_format": "csv"})):
        for strict in ([], ["--strict"]):
            status, out, err = payload(tmp_path, *argv, *strict, **ops, **more)
            assert (status, out) == (1, b"") and f"matches the selector `{selector}`" in err
            assert "--fallback-body" in err
            assert payload(tmp_path, *argv, *strict, "--fallback-body", **ops, **more) == (0, TABLE.encode(), "")


@pytest.mark.parametrize("selector", ["first_fenced:csv", "nth_fenced:csv:2", "regex:(1,.)"])
def test_ya17b_the_body_stands_in_for_nothing_that_is_found_or_cannot_be_used(selector: str, tmp_path: Path):
    assert payload(tmp_path, body_selector=selector) == payload(tmp_path, "--fallback-body", body_selector=selector)
    for wrong in ("nowhere:x", "regex:("):
        assert payload(tmp_path, "--selector", wrong, "--fallback-body")[:2] == (2, b"")


@pytest.mark.parametrize("encoding", ["base64", "gzip"])
def test_ya22_a_payload_is_decoded_whatever_it_holds(encoding: str, tmp_path: Path):
    data = bytes(range(256))
    text = base64.b64encode(gzip.compress(data) if encoding == "gzip" else data).decode()
    body = f"```plain\n{text}\n```\n\n"
    assert payload(tmp_path, body=body, body_encoding=encoding, body_selector="first_fenced:plain") == (0, data, "")


def test_ya22_unpacking_is_bounded(tmp_path: Path):
    text = base64.b64encode(gzip.compress(bytes(MAX_PAYLOAD + 1))).decode()
    body = f"```plain\n{text}\n```\n\n"
    status, out, err = payload(tmp_path, body=body, body_encoding="gzip", body_selector="first_fenced:plain")
    assert (status, out) == (1, b"")
    assert "it unpacks to more than 10,485,760 bytes" in err


@pytest.mark.parametrize(
    ("argv", "ops", "status", "words"),
    [
        ([], {}, 1, "the record names no payload"),
        ([], {"body_format": "json"}, 1, "nothing in the body matches the selector `first_fenced:json`"),
        (["--selector", "foo:x"], {}, 2, "there is no selector of the type `foo`"),
        (["--selector", "nth_fenced:csv:x"], {}, 2, "--selector nth_fenced:csv:x: the selector"),
        ([], {"body_selector": "foo:x"}, 1, "there is no selector of the type `foo`"),
        ([], {"body_encoding": "base64", "body_format": "csv"}, 1, "cannot be decoded: it is not base64"),
        (["--format", "json"], {}, 2, "--payload writes the payload as it is"),
    ],
)
def test_ya17_why_there_is_none(argv: list[str], ops: dict[str, Any], status: int, words: str, tmp_path: Path):
    path = tmp_path / "table.ymj"
    path.write_text(record(body=TABLE, ops=ops))
    at = desk()
    assert main(["show", str(path), "--payload", *argv], at.console) == status
    assert at.out == ""
    assert words in at.err


def test_the_payload_is_that_of_one_record(tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("# Note\n")
    for argv, words in (
        ([str(note), "--payload"], "is not a YMJ record and has no payload"),
        ([str(note), str(note), "--payload"], "one record"),
        ([str(note), "--selector", "x:y"], "--selector is about the payload"),
        ([str(note), "--fallback-body"], "--fallback-body is about the payload"),
    ):
        at = desk()
        assert main(["show", *argv], at.console) == 2
        assert words in at.err


def test_a_terminal_obeys_no_payload(tmp_path: Path):
    path = tmp_path / "table.ymj"
    path.write_text(record(body="```csv\na\x1b[2Jb\n```\n\n", ops={"body_format": "csv"}))
    at = desk(terminal=True)
    assert main(["show", str(path), "--payload"], at.console) == 0
    assert at.out == "a\ufffd[2Jb\n"
