"""A copy whose records or files came from somebody else: nothing is written but pages, where they belong (X8)."""

from __future__ import annotations

import hashlib
import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.files.copy_store import JOURNAL, STATE, CopyStore
from prosa.app.client.copy_writer import CopyRecords, PageRecord
from prosa.source import FileProblem
from tests.app.client.visit.site import FERRY, Site, markdown
from tests.app.client.visit.test_crawl import WHOLE
from tests.app.client.visit.visiting import copied, visit
from tests.depth import DEEP

MINE = "mine\n"
DIGEST = hashlib.sha256(MINE.encode()).hexdigest()


def tamper(folder: Path, kind: str, url: str, *records: dict[str, Any]) -> None:
    """Leaves records as a copy does, in its journal or in its state."""
    if kind == JOURNAL:
        (folder / JOURNAL).write_text("".join(f"{json.dumps(each)}\n" for each in records))
    else:
        state = {"version": 1, "origin": url, "start": f"{url}/", "round": 1, "pages": records}
        (folder / STATE).write_text(json.dumps(state))


FILES = (".git/hooks/post-commit", ".git/config", "notes.md", "x.py", "./index.md", "a/../index.md", "ferry.md")
RECORDS = [*product((JOURNAL, STATE), ("failed", "new"), FILES)]
"""In `make test` every third one: each file, and each kind with each status, is among them."""


@pytest.mark.parametrize(("kind", "status", "file"), RECORDS if DEEP else RECORDS[::3])
def test_x8_a_record_chooses_no_file(site: Site, tmp_path: Path, kind: str, status: str, file: str):
    """X8: neither a new file, nor one of the user whose digest it claims to be its own."""
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    for name in (".git/config", "notes.md", "x.py"):
        (tmp_path / name).write_text(MINE)
    record = {"url": f"{site.url}/", "round": 1, "status": status, "file": file, "sha256": DIGEST, "before": DIGEST}
    tamper(tmp_path, kind, site.url, record)
    status_, at = visit(site.url, "--crawl", str(tmp_path))
    assert status_ == 0, at.err
    assert copied(tmp_path) == {**WHOLE, ".git/config": MINE, "notes.md": MINE, "x.py": MINE}
    assert not (tmp_path / ".git" / "hooks" / "post-commit").exists()


@pytest.mark.parametrize(
    "base", ["https://other.example/notes", "file:///notes", "http://[/", "notes", "http://x:99999/"]
)
def test_x8_a_record_moves_its_page_to_no_other_site(site: Site, tmp_path: Path, base: str):
    (tmp_path / "notes.md").write_text(MINE)
    record = {"url": f"{site.url}/", "round": 1, "status": "new", "file": "notes.md", "sha256": DIGEST, "base": base}
    tamper(tmp_path, JOURNAL, site.url, record)
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 0
    assert copied(tmp_path) == {**WHOLE, "notes.md": MINE}


@pytest.mark.parametrize("kind", [JOURNAL, STATE])
def test_x8_records_of_another_site_are_not_taken(site: Site, tmp_path: Path, kind: str):
    """X8: also where only the journal is there, which names no site."""
    tamper(
        tmp_path,
        kind,
        site.url,
        {"url": f"{site.other}/rules", "round": 1, "status": "new", "file": "rules.md", "sha256": DIGEST},
        {"url": f"{site.url}/ferry", "round": 1, "status": "\x1b[2J"},
        {"url": "no url", "round": 1, "status": "failed"},
        {"url": f"{site.url}/tide-table", "round": 1, "status": "failed", "note": "kept"},
    )
    found = CopyRecords.opened(CopyStore(tmp_path), f"{site.url}/")
    assert list(found.pages) == [f"{site.url}/tide-table"]
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 0
    assert copied(tmp_path) == WHOLE


def test_x8_what_recognises_a_page_is_sent_only_where_it_is_a_header(site: Site, tmp_path: Path):
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 0
    state = json.loads((tmp_path / STATE).read_text())
    for each, tag in zip(state["pages"], ("\u20ac", "a\r\nX-Own: 1", "e" * 5_000, '"old"', "", '"x"'), strict=True):
        each["etag"] = tag
    (tmp_path / STATE).write_text(json.dumps(state))
    site.asked.clear()
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 0
    sent = {headers.get("if-none-match") for _, headers in site.asked}
    assert sent == {None, '"old"', '"x"'} and all("x-own" not in headers for _, headers in site.asked)


def test_a_page_stays_where_it_is_over_several_walks(site: Site, tmp_path: Path):
    """HA2: at its own place, at the one of its `md_url`, and beside a place that is another's."""
    site.pages |= {
        "/": markdown("[a](/ferry) [b](/Ferry) [c](/api?id=1)\n"),
        "/Ferry": markdown("Another page.\n"),
        "/api?id=1": (200, "application/json", b'{"id": "x", "md_url": "/deep/x", "body": "One."}', {}),
    }
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 0
    before = copied(tmp_path)
    assert len(before) == 5 and "deep/x.md" in before
    site.pages["/Ferry"] = markdown("Changed.\n")
    site.pages["/api?id=1"] = (200, "application/json", b'{"id": "x", "md_url": "/deep/x", "body": "Two."}', {})
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 0 and "2 changed" in at.err
    assert copied(tmp_path).keys() == before.keys()


def test_x8_no_page_is_written_over_a_link(site: Site, tmp_path: Path):
    """X8: to a file or a folder, outside or inside, there or not."""
    folder, outside = tmp_path / "copy", tmp_path / "outside"
    (folder / ".git").mkdir(parents=True)
    outside.mkdir()
    (outside / "rules.md").write_text(MINE)
    (folder / "ferry.md").symlink_to(folder / ".git" / "hook")
    (folder / "boats").symlink_to(folder / ".git", target_is_directory=True)
    (folder / "rules.md").symlink_to(outside / "rules.md")
    (folder / "tide-table.md").symlink_to(outside / "none.md")
    status, at = visit(site.url, "--crawl", str(folder))
    assert status == 1 and "is a link, and a copy follows none" in at.err
    assert list((folder / ".git").iterdir()) == [] and (outside / "rules.md").read_text() == MINE
    assert [each.name for each in outside.iterdir()] == ["rules.md"]
    assert (
        all((folder / name).is_symlink() for name in ("ferry.md", "boats", "rules.md", "tide-table.md"))
        and (folder / "index.md").is_file()
    )


@pytest.mark.parametrize("name", [JOURNAL, STATE])
@pytest.mark.parametrize("there", [True, False])
def test_x8_records_behind_a_link_are_refused(site: Site, tmp_path: Path, name: str, there: bool):
    """X8: the file of somebody else is neither read nor written."""
    folder, other = tmp_path / "copy", tmp_path / "profile"
    folder.mkdir()
    if there:
        other.write_text("{}\n")
    (folder / name).symlink_to(other)
    status, at = visit(site.url, "--crawl", str(folder))
    assert status == 2 and f"{name}: is a link" in at.err and "move it away" in at.err
    assert other.exists() is there and (not there or other.read_text() == "{}\n") and site.paths() == []


@pytest.mark.parametrize("name", [JOURNAL, STATE])
def test_x8_a_link_that_comes_later_is_refused_too(tmp_path: Path, name: str):
    store = CopyStore(tmp_path)
    records = CopyRecords.opened(store, "http://a.example/")
    (tmp_path / name).symlink_to(tmp_path / "profile")
    with pytest.raises(FileProblem, match="is a link"):
        records.keep(PageRecord("http://a.example/", 1, "new", "index.md"))
        records.save(complete=True)
    assert not (tmp_path / "profile").exists()


@pytest.mark.parametrize("name", [JOURNAL, STATE])
def test_x9_records_that_are_a_pipe_are_not_waited_for(site: Site, tmp_path: Path, name: str):
    """X9: reading a pipe that nobody writes to has no end."""
    os.mkfifo(tmp_path / name)
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 2 and "is a pipe" in at.err


def test_a_copy_in_a_folder_that_is_itself_a_link(site: Site, tmp_path: Path):
    """The user named it; only what is below it is not followed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    assert visit(site.url, "--crawl", str(tmp_path / "link"))[0] == 0
    assert copied(tmp_path / "real")["ferry.md"] == FERRY
