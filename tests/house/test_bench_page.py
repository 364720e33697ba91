"""The public page of the benchmarks: made of the results alone, whole whatever happens, with every section in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import __main__ as bench
from bench import page, pictures, results
from bench.checking import Contender, in_turn
from bench.measure import Failed, process, python
from bench.peers import find as peers
from bench.results import Machine, Measured, Results
from bench.row import Row
from bench.sections import DEFAULT, HEADLINES, PEERS, SECTIONS
from prosa.site.drawing import inert_drawing
from tests.house.tree import ROOT

TEXT = page.FILE.read_text(encoding="utf-8")
KNOWN = results.read(results.FILE)
MACHINE = Machine(2, "x86_64", "Linux 6", 8, "CPython 3.11.7")


def measured(*rows: Row, **told: object) -> Measured:
    """A section of these rows."""
    return replace(Measured("2026-11-27 20:00 UTC", MACHINE, (1.0, 2.0), 3.0, list(rows)), **told)


def test_the_page_and_its_pictures_are_those_of_the_results():
    """`python -m bench --render` writes them anew."""
    assert page.text(KNOWN) == TEXT
    made = page.pictures(KNOWN)
    stored = {f"pictures/{each.name}" for each in (ROOT / "docs" / "pictures").glob("growth-*.svg")}
    assert stored == set(made)
    assert [name for name, text in made.items() if (page.FILE.parent / name).read_text("utf-8") != text] == []


def test_the_results_are_written_as_they_are_read():
    assert results.lines(KNOWN) == results.FILE.read_text(encoding="utf-8")
    assert set(KNOWN.sections) <= set(SECTIONS)


def test_every_section_is_on_the_page_with_its_rows_or_named_as_not_run():
    assert re.findall(r"^## (\w+): ", TEXT, re.MULTILINE) == list(SECTIONS)
    for name, section in SECTIONS.items():
        body = TEXT.partition(f"\n## {name}: ")[2].partition("\n## ")[0]
        assert "Not compared: " in body, name
        if (known := KNOWN.sections.get(name)) and known.rows:
            assert known.when in body and all(row.what.strip() in body for row in page._largest(known.rows))
        else:
            assert f"- not run: `{name}` ({section.title})" in TEXT and "Not run" in body


def test_what_opens_the_page_is_there_wherever_its_section_was_measured():
    missing = [
        (name, words)
        for name, words in HEADLINES
        if name in KNOWN.sections and not any(words in row.what for row in KNOWN.sections[name].rows)
    ]
    assert missing == []


def test_every_peer_is_named():
    assert [name for name in PEERS if name not in TEXT] == []


def test_the_page_is_in_the_index_of_the_documentation():
    assert "(benchmarks.md)" in (ROOT / "docs" / "README.md").read_text("utf-8")
    assert '"benchmarks.md"' in (ROOT / "prosa.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("value", "unit", "base", "aim", "met"),
    [
        (54, "ms", 10, "≤ 45 ms more", True),
        (56, "ms", 10, "≤ 45 ms more", False),
        (38, "MiB", 15, "≤ 80 MB", True),
        (78, "MiB", 15, "≤ 80 MB", False),
        (2.2, "ms", 1.0, "≤ 3.3 ms, ≤ 2.5x", True),
        (2.6, "ms", 1.0, "≤ 3.3 ms, ≤ 2.5x", False),
        (1_300, "1/s", None, "≥ 1,200", True),
        (11.5, "ms", 342, "≤ 0.1 of the engine", True),
        (8.8, "s", 18.6, "≤ 0.6 of one", True),
        (6.3, "µs", None, "≤ 30 s for a million", True),
        (31, "µs", None, "≤ 30 s for a million", False),
        (0.8, "/s", 1, "≥ 0.75x", True),
        (1.5, "s", 1, "≤ 1,400 ms", False),
        (20, "worlds", None, "= 20", True),
        (1.0, "ms", 1.0, "about 1x", None),
        (1.0, "ms", None, "≤ 45 ms more", None),
        (1.0, "ms", None, "≤ 2x", None),
        (1.0, "ms", None, "", None),
    ],
)
def test_an_aim_is_judged_by_the_figures(value: float, unit: str, base: float | None, aim: str, met: bool | None):
    assert Row("what", value, unit, "peer", base, aim).met() is met


def test_a_part_that_was_measured_anew_replaces_its_own_rows_only():
    before = Results({"check": measured(Row("old", 1, "s")), "pure": measured(Row("kept", 1, "s"))})
    now = {"check": measured(Row("new", 2, "s")), "pure": measured(failed="it ended with status 1")}
    found = results.merged(before, now).sections
    assert [row.what for row in found["check"].rows] == ["new"]
    assert [row.what for row in found["pure"].rows] == ["kept"]
    shown = page.text(Results(found))
    assert "- `pure` failed in the last run: it ended with status 1; its figures are those of before" in shown


def test_a_peer_that_was_left_out_is_named_with_its_reason():
    row = Row("check", 1, "s", "rumdl 1.0")
    shown = page.text(Results({"check": measured(row, absent={"rumdl": "ended with status 1"})}))
    assert "- left out: rumdl: ended with status 1 (`check`)" in shown
    assert "| check | rumdl 1.0: left out | 1 s | |" in shown


@pytest.mark.parametrize(("value", "shown"), [(1.0, "1.00x"), (0.05, "0.05x"), (0.002, "0.002x"), (1e-5, "< 0.001x")])
def test_a_ratio_is_shown_in_few_digits(value: float, shown: str):
    assert f"**{shown}** peer" in page.text(Results({"check": measured(Row("a", value, "s", "peer", 1.0))}))


def test_growth_is_a_picture_that_runs_nothing_and_says_every_number():
    sizes = (1_000, 2_000, 4_000)
    rows = [Row("a", size / 1_000, "s", "peer", size / 500, series="a <thing>", size=size) for size in sizes]
    found = Results({"growth": measured(*rows)})
    ((name, text),) = page.pictures(found).items()
    assert name == "pictures/growth-a-thing.svg"
    drawing = inert_drawing(text.encode())
    assert drawing is not None and drawing.removed == ()
    assert "prefers-color-scheme:dark" in text and "2.00 s at 2,000" in text
    assert "prosa 1 to 4, exponent 1.00; peer 2 to 8, exponent 1.00" in page.text(found)


def test_of_many_sizes_the_table_has_the_largest():
    rows = [Row(f"{size:,} documents, a word ({size} hits)", size, "ms") for size in (1_000, 14_000)]
    other = Row("one document", 1, "ms"), Row("the same in 700 documents", 1, "ms")
    assert page._largest([*rows, *other]) == [rows[1], *other]


def test_an_exponent_tells_a_square():
    assert pictures.Line("a", ((1, 1), (2, 4), (4, 16))).exponent == pytest.approx(2)
    assert pictures.Line("a", ((1, 1), (2, 4))).exponent is None


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which peers are looked for."""
    monkeypatch.setenv("PROSA_BENCH_PEERS", str(tmp_path))
    monkeypatch.setattr(peers, "ASKED_SECONDS", 0.3)
    monkeypatch.setattr(peers, "ABSENT", {})
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    return tmp_path / "venv" / "bin"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo rumdl 1.2.3; exit 1", "ended with status 1 when it was asked for its version"),
        ("sleep 60", "does not tell its version within 0.3 s"),
        (r"printf '\377\000 garbage'", "does not tell its version"),
        ("exit 0", "does not tell its version"),
    ],
)
def test_a_peer_that_does_not_work_has_no_command_and_a_reason(broken: Path, script: str, reason: str):
    (broken / "rumdl").write_text(f"#!/bin/sh\n{script}\n")
    (broken / "rumdl").chmod(0o755)
    found = peers.program("rumdl")
    assert (found.start, found.title, found.reason) == ((), "rumdl", reason)
    assert {"rumdl": reason} == peers.ABSENT


def test_a_peer_that_fails_while_it_is_measured_is_left_out_and_the_rest_is_measured(tmp_path: Path, broken: Path):
    contenders = {
        "own": Contender(python("-c", "pass"), fine=(0,)),
        "other": Contender(python("-c", "raise SystemExit(7)"), fine=(0,), peer="other"),
    }
    assert set(in_turn(contenders, tmp_path, 2)) == {"own"}
    assert peers.ABSENT["other"] == "ended with status 7"
    with pytest.raises(Failed):
        in_turn({"own": replace_peer(contenders["other"])}, tmp_path, 1)


def replace_peer(each: Contender) -> Contender:
    return Contender(each.command, fine=each.fine)


def test_a_process_that_hangs_is_ended(tmp_path: Path):
    with pytest.raises(Failed) as failed:
        process(["sh", "-c", "sleep 60 & sleep 60"], os.environ, seconds=0.2)
    assert failed.value.reason == "took longer than 0.2 s"
    with pytest.raises(Failed):
        process([str(tmp_path / "nothing")], os.environ)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("Failed to establish a new connection: /a/path", "could not be reached"),
        ("npm error code ECONNREFUSED", "could not be reached"),
        ("npm error code EBADPLATFORM", "not for this kind of machine"),
        ("anything else of /a/path", "the installer ended with status 1"),
    ],
)
def test_an_installation_that_fails_is_a_reason_without_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str, reason: str
):
    def fail(command: list[str], place: object = None) -> None:
        raise subprocess.CalledProcessError(1, command, "", error)

    monkeypatch.setenv("PROSA_BENCH_PEERS", str(tmp_path))
    monkeypatch.setattr(peers, "_ran", fail)
    monkeypatch.setattr(peers, "NODE", {"node": peers.HERE} if "npm" in error else {})
    monkeypatch.setattr(peers, "ENVIRONMENTS", {} if "npm" in error else {"venv": "python.lock"})
    (why,) = peers.install().values()
    assert reason in why and "/" not in why
    assert peers.missing("node" if "npm" in error else "venv") == why


def test_without_npm_the_reason_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROSA_BENCH_PEERS", str(tmp_path))
    monkeypatch.setattr(peers, "ENVIRONMENTS", {})
    monkeypatch.setattr(peers, "_path", lambda: str(tmp_path))
    assert set(peers.install().values()) == {"npm is not on this machine"}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page and results beside those of the repository."""
    monkeypatch.setattr(page, "FILE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(results, "FILE", tmp_path / "results.json")
    monkeypatch.setattr(bench, "compile_first", lambda: True)
    (tmp_path / "benchmarks.md").write_text("old\n")
    return tmp_path


def test_large_corpora_may_take_longer(elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    took: list[float] = []
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(bench, "_in_a_process", lambda name, machine: (took.append(bench.allowed(name)), measured())[1])
    assert bench.main(["index"]) == bench.main(["index", "--large"]) == 0
    assert took == [SECTIONS["index"].seconds, bench.TIMES_LARGE * SECTIONS["index"].seconds]


def test_an_interruption_leaves_the_old_page(elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(name: str, machine: Machine) -> Measured:
        if name == "pure":
            return measured(Row("a", 1, "s"))
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "_in_a_process", interrupted)
    assert bench.main(["pure", "check", "--page"]) == 130
    assert {each.name: each.read_text() for each in elsewhere.iterdir()} == {"benchmarks.md": "old\n"}


def test_a_run_of_one_section_writes_the_page_when_it_is_asked_for(elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bench, "_in_a_process", lambda name, machine: measured(Row(f"row of {name}", 1, "s")))
    assert bench.main(["pure"]) == 0
    assert (elsewhere / "benchmarks.md").read_text() == "old\n"
    assert bench.main(["pure", "--page"]) == bench.main(["check", "--page"]) == 0
    shown = (elsewhere / "benchmarks.md").read_text()
    assert "row of pure" in shown and "row of check" in shown
    (elsewhere / "results.json").write_text("{")
    with pytest.raises(SystemExit, match=r"results\.json does not hold results"):
        bench.main(["pure", "--page"])


def test_a_section_that_fails_or_prints_something_else_has_a_reason():
    script = 'print(\'words\'); print(\'{"what":"a","value":1,"unit":"s"}\', flush=True); raise SystemExit(3)'
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    rows, _, failed = bench._heard(child, 60)
    child.communicate()
    assert [row.what for row in rows] == ["a"] and failed == "it ended with status 3"
    child = subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE, start_new_session=True)
    assert bench._heard(child, 0.1)[2].startswith("it took longer than")
    child.communicate()


def test_a_section_that_raises_ends_in_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def rows() -> list[Row]:
        raise ModuleNotFoundError("No module named 'engine'", name="engine")

    monkeypatch.setattr("bench.pure.rows", rows)
    assert bench.main(["--rows", "pure"]) == 1
    shown = capsys.readouterr()
    assert '"failed":"engine is not installed"' in shown.out
    assert "ModuleNotFoundError: No module named 'engine'" in shown.err and "Traceback" not in shown.err


def test_what_is_not_run_by_default_says_why():
    assert [name for name in SECTIONS if name not in DEFAULT] == ["workers", "embedded", "improve"]
    assert all(SECTIONS[name].asked for name in SECTIONS if name not in DEFAULT)
