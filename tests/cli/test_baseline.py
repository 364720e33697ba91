"""`check --baseline`, `--write-baseline` and `--changed-since`: a large repository fails for new findings alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.app.check.baseline import open_baseline
from prosa.cli.main import main
from prosa.rules.baseline import BaselineError, baseline_text, count, entries_of, read_baseline, split
from prosa.rules.engine import check_text
from prosa.source import FileProblem, SourceText
from tests import warm
from tests.cli.desk import desk

OLD = "# A\n\nSee [x](x.md).\n\nSee [y](y.md) and [y](y.md).\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prosa.toml").write_text("")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text(OLD)
    (tmp_path / "b.md").write_text("See [z](z.md).\n")
    return tmp_path


def prosa(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    at = desk(environ=os.environ)
    with chdir(folder):
        status = main(["check", "--no-cache", *arguments], at.console)
    return subprocess.CompletedProcess(arguments, status, at.out, at.err)


def written(folder: Path) -> Path:
    done = prosa(folder, "--write-baseline")
    assert (done.returncode, done.stdout) == (0, "prosa-baseline.json holds 4 findings: 4 new, 0 stale ones dropped.\n")
    return folder / "prosa-baseline.json"


def new(folder: Path, *arguments: str) -> list[tuple[str, int]]:
    done = prosa(folder, "--baseline", "prosa-baseline.json", "--format", "json", *arguments)
    found = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == int(any(each["severity"] == "error" for each in found)), done.stderr
    return [(each["path"], each["line"]) for each in found]


def test_a_baseline_is_sorted_small_and_holds_no_text(folder: Path):
    text = written(folder).read_text()
    stored = json.loads(text)
    assert stored["prosa-baseline"] == 1 and list(stored["findings"]) == ["b.md", "docs/a.md"]
    assert sorted(stored["findings"]["docs/a.md"]["unresolved-link"].values()) == [1, 2]
    assert "x.md" not in text and str(folder) not in text and len(text.splitlines()) == 16
    prosa(folder, "--write-baseline")
    assert (folder / "prosa-baseline.json").read_text() == text


def test_known_findings_are_not_reported_and_moved_lines_are_none(folder: Path):
    written(folder)
    assert new(folder) == []
    (folder / "docs/a.md").write_text("# A\n\nMore.\n\n" + OLD.partition("\n\n")[2].replace("See [x]", "  See   [x]"))
    assert new(folder) == []
    done = prosa(folder, "--baseline", "prosa-baseline.json")
    assert done.stdout == "Nothing found in 2 documents.\nThe baseline holds 4 findings of these documents.\n"


def test_new_findings_are_reported_one_more_of_a_known_line_too(folder: Path):
    written(folder)
    (folder / "docs/a.md").write_text(OLD + "\nSee [y](y.md) and [y](y.md).\n\nSee [n](n.md).\n")
    assert new(folder) == [("docs/a.md", 7), ("docs/a.md", 7), ("docs/a.md", 9)]
    (folder / "b.md").write_text("See [z](z.md) now.\n")
    assert ("b.md", 1) in new(folder)


def test_stale_entries_are_counted_and_dropped(folder: Path):
    path = written(folder)
    (folder / "docs/a.md").write_text("# A\n")
    done = prosa(folder, "--baseline", path.name)
    assert "holds 1 finding of these documents; 3 of its entries are stale: --write-baseline drops them." in done.stdout
    assert prosa(folder, "b.md", "--baseline", path.name).stdout.endswith("holds 1 finding of these documents.\n")
    done = prosa(folder, "--write-baseline", path.name)
    assert done.stdout == "prosa-baseline.json holds 1 finding: 0 new, 3 stale ones dropped.\n"


def test_writing_for_some_documents_keeps_the_others(folder: Path):
    path = written(folder)
    (folder / "b.md").write_text("Fine.\n")
    assert "holds 3 findings: 0 new, 1 stale ones" in prosa(folder, "b.md", "--write-baseline", path.name).stdout
    (folder / "docs/a.md").unlink()
    assert "holds 0 findings" in prosa(folder, "b.md", "--write-baseline", path.name).stdout


def test_a_renamed_file_has_no_new_findings(folder: Path):
    written(folder)
    (folder / "docs/a.md").rename(folder / "docs/moved.md")
    assert new(folder) == []
    (folder / "docs/moved.md").write_text(OLD + "\n[q](q.md)\n")
    assert new(folder) == [("docs/moved.md", 7)]


def test_every_format_follows(folder: Path):
    path = written(folder)
    (folder / "b.md").write_text("See [z](z.md).\n\nSee [n](n.md).\n")
    forms = (
        "json",
        "jsonl",
        "github",
        "gitlab",
        "azure",
        "rdjsonl",
        "checkstyle",
        "markdown",
        "junit",
        "text",
        "sarif",
    )
    reports = [each for form in forms for each in ("--report", f"{form}={form}.out")]
    assert prosa(folder, "--baseline", path.name, *reports).returncode == 1
    texts = {form: (folder / f"{form}.out").read_text() for form in forms}
    assert all("n.md" in text for text in texts.values())
    assert all("x.md" not in text for form, text in texts.items() if form != "sarif")
    assert json.loads(texts["json"])["baseline"] == {"known": 4, "stale": 0}
    assert ET.fromstring(texts["junit"]).attrib["failures"] == "1"
    results = json.loads(texts["sarif"])["runs"][0]["results"]
    assert [each["baselineState"] for each in results] == ["new", *["unchanged"] * 4]
    assert [bool(each["suppressions"]) for each in results] == [False, *[True] * 4]
    assert "baseline" not in json.loads(prosa(folder, "--format", "json").stdout)


def test_fixes_apply_and_what_remains_is_compared(folder: Path):
    (folder / "b.md").write_text("See [z](z.md). <!-- prosa-ignore unresolved-anchor -->\n")
    written_text = prosa(folder, "--write-baseline").stdout
    assert "holds 5 findings" in written_text
    done = prosa(folder, "--baseline", "prosa-baseline.json", "--fix")
    assert (folder / "b.md").read_text() == "See [z](z.md).\n"
    assert done.returncode == 1 and "b.md:1" in done.stdout  # the line is another one now


BAD = {
    "no JSON": ("{", "is not a baseline"),
    "another JSON": ("[1]", "is not a baseline"),
    "no version": ('{"findings": {}}', "has no `prosa-baseline`"),
    "newer": ('{"prosa-baseline": 2, "findings": []}', "has version 2"),
    "damaged": ('{"prosa-baseline": 1, "findings": {"a": 3}}', "is damaged"),
    "deep": ("[" * 100_000, "is not a baseline"),
    "other files": (
        '{"prosa-baseline": 1, "findings": {"q/w.md": {"unresolved-link": {"0": 1}}}}',
        "is about other files",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("flag", ["--baseline", "--write-baseline"])
def test_a_file_that_is_no_baseline_of_here_is_refused_and_stays(folder: Path, name: str, flag: str):
    text, words = BAD[name]
    (folder / "base.json").write_text(text)
    done = prosa(folder, flag, "base.json")
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr and "base.json" in done.stderr
    assert (folder / "base.json").read_text() == text and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--baseline", "nowhere.json"], "nowhere.json"),
        (["--baseline", "docs"], "is a folder"),
        (["--write-baseline", "docs"], "name the folder first: prosa check docs --write-baseline"),
        (["--write-baseline", "--fix"], "fixes nothing"),
        (["--write-baseline", "--select", "MD020"], "all rules of the project"),
    ],
)
def test_wrong_use_is_said(folder: Path, arguments: list[str], words: str):
    done = prosa(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr
    assert not (folder / "prosa-baseline.json").exists()


def test_a_byte_order_mark_in_front_of_a_baseline_is_no_part_of_it(folder: Path):
    text = baseline_text({"a.md": {("MD020", "0" * 16): 1}})
    assert read_baseline(f"\ufeff{text}") == read_baseline(text) != {}
    with pytest.raises(BaselineError):
        read_baseline("\ufeff")


def test_a_baseline_that_changed_meanwhile_is_not_overwritten(folder: Path):
    path = written(folder)
    baseline = open_baseline(path)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(FileProblem, match="changed since it was read"):
        baseline.replaced((), ())
    fresh = open_baseline(folder / "other.json", new=True)
    (folder / "other.json").write_text("mine")
    with pytest.raises(FileProblem, match="changed since it was read"):
        fresh.replaced((), ())
    assert (folder / "other.json").read_text() == "mine"


LINES = ("[a](a.md)\n", "[b](b.md) [b](b.md)\n", "\n", "text\n", "# B\n", "\ud800 [c](c.md)\n")


@given(
    st.lists(st.sampled_from(LINES), max_size=8).map("".join), st.lists(st.sampled_from(LINES), max_size=8).map("".join)
)
def test_what_is_written_is_known_and_the_rest_is_new(before: str, after: str):
    first, second = (check_text(SourceText(text, "a.md")).diagnostics for text in (before, after))
    entries = read_baseline(baseline_text(entries_of(first, ["a.md"] * len(first))))
    assert split(first, ["a.md"] * len(first), entries, checked=["a.md"], gone=()).new == ()
    parts = split(second, ["a.md"] * len(second), entries, checked=["a.md"], gone=())
    assert len(parts.new) + len(parts.known) == len(second) and len(parts.known) + parts.stale == count(entries)
    renamed = split(second, ["b.md"] * len(second), entries, checked=["b.md"], gone=["a.md"])
    assert len(renamed.new) == len(parts.new)


@given(
    st.text()
    | st.recursive(
        st.none() | st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    ).map(json.dumps)
)
def test_any_text_is_a_baseline_or_refused(text: str):
    try:
        entries = read_baseline(text)
    except BaselineError:
        return
    assert read_baseline(baseline_text(entries)) == {
        path: keys for path, keys in entries.items() if count({path: keys})
    }


def git(folder: Path, *arguments: str) -> None:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ("-c", "user.name=a", "-c", "user.email=a@a.dev", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=folder, env=environ, check=True, capture_output=True)


@pytest.fixture
def repository(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def changed(folder: Path, revision: str = "HEAD") -> list[str]:
    done = prosa(folder, "--changed-since", revision, "--format", "json")
    found = json.loads(done.stdout)
    assert f"{found['files']} of " in prosa(folder, "--changed-since", revision).stderr
    return sorted({each["path"] for each in found["diagnostics"]})


def test_only_documents_that_changed_are_checked(repository: Path):
    assert changed(repository) == []
    (repository / "b.md").write_text("Now [z](z.md).\n")
    (repository / "new.md").write_text("[n](b.md#nothing) [m](m.md)\n")
    os.utime(repository / "docs/a.md")
    assert changed(repository) == ["b.md", "new.md"]
    git(repository, "add", ".")
    assert changed(repository) == ["b.md", "new.md"]
    git(repository, "commit", "-qm", "second")
    assert changed(repository) == [] and changed(repository, "HEAD~1") == ["b.md", "new.md"]
    done = prosa(repository, "--changed-since", "HEAD")
    assert (done.returncode, done.stdout) == (0, "Nothing found in 0 documents.\n")
    assert done.stderr == "0 of 3 documents changed since HEAD\n"


def test_a_branch_is_compared_with_where_it_began(repository: Path):
    git(repository, "checkout", "-qb", "side")
    (repository / "b.md").write_text("Side [z](z.md).\n")
    git(repository, "commit", "-qam", "side")
    git(repository, "checkout", "-q", "main")
    (repository / "docs/a.md").write_text("Main [z](z.md).\n")
    git(repository, "commit", "-qam", "main")
    git(repository, "checkout", "-q", "side")
    assert changed(repository, "main") == ["b.md"]


def test_line_ends_are_no_change_and_neither_filters_nor_hooks_run(repository: Path):
    (repository / ".gitattributes").write_text("*.md filter=canary\n")
    git(repository, "config", "filter.canary.clean", "touch ran; cat")
    git(repository, "config", "core.fsmonitor", "touch ran")
    (repository / "b.md").write_bytes(b"See [z](z.md).\r\n")
    (repository / "docs/a.md").write_text("Now [z](z.md).\n")
    assert changed(repository) == ["docs/a.md"]
    assert not list(repository.rglob("ran"))


def test_rules_about_several_documents_know_the_unchanged_ones(repository: Path):
    (repository / "new.md").write_text("See [a](docs/a.md#a) and [b](b.md).\n")
    assert changed(repository) == []


@pytest.mark.parametrize("revision", ["nothing", "-x", "", "HEAD:b.md", "main..x"])
def test_a_revision_that_is_none_is_refused(repository: Path, revision: str):
    done = prosa(repository, f"--changed-since={revision}")
    assert (done.returncode, done.stdout) == (2, "") and "there is no revision" in done.stderr


def test_without_git_or_outside_of_a_repository_it_is_said(folder: Path, repository: Path, tmp_path: Path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "a.md").write_text("a\n")
    done = prosa(outside, "--changed-since", "HEAD")
    assert done.returncode == 2 and "lies in no repository of git" in done.stderr
    command = [sys.executable, "-m", "prosa", "check", "--no-cache", "--changed-since", "HEAD"]
    done = warm.run(command, cwd=repository, capture_output=True, text=True, env={**os.environ, "PATH": "/nowhere"})
    assert done.returncode == 2 and "git is not installed" in done.stderr
