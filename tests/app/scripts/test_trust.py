"""`prosa trust` and what it allows: kept outside the tree, by real path and content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from prosa.adapters.files.trust_store import TrustStore
from prosa.runtime.errors import RunError
from tests.app.scripts.documents import block, document, own, run, trusting
from tests.cli.programs import prosa


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A document with a script that asks to run by itself, and one that does not."""
    return document(tmp_path, "Text.\n", block("auto", **{"auto-run": True}), block("asked"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_x7b_ma12_m27_nothing_runs_by_itself_in_a_document_that_is_not_trusted(page: Path):
    status, at = run(page, "--auto", replies=({"error": "never asked"},))
    assert (status, at.out) == (1, "")
    assert f"error: {page} is not trusted, so nothing in it runs by itself" in at.err
    assert f"prosa trust {page}" in at.err and "never asked" not in at.err


def test_x7b_trust_lets_it_run_and_an_edit_ends_it(page: Path):
    status, at = trusting(page)
    assert (status, at.out) == (0, f"trusted, as it is now:\n  {page}\n")
    status, at = run(page, "--auto")
    assert (status, at.out) == (0, "Done.\n")
    page.write_text(page.read_text() + "\nOne more line.\n")
    status, at = run(page, "--auto")
    assert (status, at.out) == (1, "")
    assert "was changed since you trusted it" in at.err
    assert trusting(page)[0] == 0 and run(page, "--auto")[0] == 0


def test_x7b_only_what_asks_for_it_runs_by_itself(page: Path):
    assert trusting(page)[0] == 0
    _, at = run(page, "--auto", "--format", "jsonl")
    assert [json.loads(line)["script"] for line in at.out.splitlines()] == ["auto"]


def test_x7b_what_we_write_ourselves_does_not_end_trust(page: Path):
    assert trusting(page)[0] == 0
    assert run(page, "--auto", "--write")[0] == 0
    assert "Done." in page.read_text()
    assert run(page, "--auto", "--write")[0] == 0


def test_x7b_writing_gives_no_trust_to_what_was_not_trusted(page: Path):
    assert run(page, "--all", "--write")[0] == 0
    assert run(page, "--auto")[0] == 1


def test_x7b_trust_can_be_listed_and_taken_back(page: Path, tmp_path: Path):
    other = document(tmp_path, block("x"), name="other.mda")
    assert trusting(page)[0] == trusting(other)[0] == 0
    other.write_text("edited")
    _, at = trusting(page, "--list")
    assert at.out == f"{page}\n"
    _, at = prosa("trust", "--list", environ=own(tmp_path))
    assert at.out == f"{other} (changed since: no longer trusted)\n{page}\n"
    assert trusting(page, "--remove")[1].out == f"trusted no more:\n  {page}\n"
    assert run(page, "--auto")[0] == 1
    other.unlink()
    assert "no such file" in prosa("trust", "--list", environ=own(tmp_path))[1].out
    assert trusting(tmp_path, "--remove")[0] == 0
    status, at = trusting(tmp_path, "--remove")
    assert status == 1 and "none of it was trusted" in at.err


def test_x7b_a_folder_means_every_document_in_it_as_it_is_now(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    one = document(tmp_path / "docs", block("x", **{"auto-run": True}), name="one.mda")
    document(tmp_path / "docs", "Text.\n", name="two.md")
    environ = own(tmp_path)
    status, at = prosa("trust", tmp_path / "docs", environ=environ)
    assert status == 0 and at.out.startswith("trusted, as they are now:\n")
    late = document(tmp_path / "docs", block("x", **{"auto-run": True}), name="late.mda")
    store = TrustStore(Path(environ["PROSA_CONFIG_DIR"]))
    assert [each.path.name for each in store.listed()] == ["one.mda", "two.md"]
    assert store.trusts(one, digest(one)) and not store.trusts(late, digest(late))


def test_x7b_a_link_is_trusted_as_what_it_leads_to(page: Path, tmp_path: Path):
    link = tmp_path / "link.mda"
    link.symlink_to(page)
    assert trusting(link)[0] == 0
    store = TrustStore(Path(own(tmp_path)["PROSA_CONFIG_DIR"]))
    assert store.trusts(page, digest(page)) and store.trusts(link, digest(page))
    copy = document(tmp_path, page.read_text(), name="copy.mda")
    assert not store.trusts(copy, digest(copy))


def test_x7b_the_record_is_private_and_outside_the_tree(page: Path, tmp_path: Path):
    assert trusting(page)[0] == 0
    store = TrustStore(Path(own(tmp_path)["PROSA_CONFIG_DIR"]))
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.config_dir.stat().st_mode & 0o777 == 0o700
    assert not (page.parent / "trust.json").exists()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_x7b_a_record_that_others_may_write_counts_for_nothing(mode: int, page: Path, tmp_path: Path):
    assert trusting(page)[0] == 0
    store = TrustStore(Path(own(tmp_path)["PROSA_CONFIG_DIR"]))
    store.path.chmod(mode)
    with pytest.raises(RunError, match="may be written by others"):
        store.trusts(page, digest(page))
    status, at = run(page, "--auto")
    assert (status, at.out) == (1, "") and "chmod 600" in at.err


@pytest.mark.parametrize("text", ["", "[]", '{"documents": 3}', '{"documents": {"a": 1}}', "\xff", "{" * 5000])
def test_x7b_a_record_that_is_none_is_told_and_not_overwritten(text: str, page: Path, tmp_path: Path):
    store = TrustStore(Path(own(tmp_path)["PROSA_CONFIG_DIR"]))
    store.config_dir.mkdir(parents=True)
    store.path.write_bytes(text.encode("latin-1"))
    store.path.chmod(0o600)
    assert run(page, "--auto")[0] == 1 and trusting(page)[0] == 1
    assert store.path.read_bytes() == text.encode("latin-1")


def test_x7b_trust_names_something(tmp_path: Path):
    environ = own(tmp_path)
    for argv, hint in (((), "name a document or a folder"), ((tmp_path, "--list", "--remove"), "different things")):
        status, at = prosa("trust", *argv, environ=environ)
        assert status == 2 and hint in at.err
    status, at = prosa("trust", tmp_path / "gone.mda", environ=environ)
    assert status == 2 and "no such file" in at.err


def test_x7_the_settings_of_a_tree_cannot_trust(page: Path):
    (page.parent / "prosa.toml").write_text(f'trust = ["{page}"]\n')
    status, at = run(page, "--auto")
    assert (status, at.out) == (1, "") and "prosa trust PATH" in at.err
