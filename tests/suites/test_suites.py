"""The tool that runs suites of other projects: what is missing is named, and the page has what came out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites import __main__ as tool
from tests.suites.standards import gfm, gitignore
from tests.suites.suite import Outcome, Suite
from tests.suites.table import SUITES

PAGE = "# P\n\n| suite | version | passed | what differs |\n|---|---|---|---|\n| a | 1 | 1 of 1 | nothing |\n\nMore.\n"


def made(name: str, differing: tuple[str, ...], reasons: dict[str, str]) -> Suite:
    return Suite(name, name, "elsewhere", lambda _: Outcome("2", 3, differing), reasons)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "page.md"
    file.write_text(PAGE)
    monkeypatch.setattr(tool, "PAGE", file)
    monkeypatch.setattr(tool, "refresh", lambda page, _: (page, 0))
    return file


@pytest.mark.parametrize(
    ("differing", "reasons", "status", "words"),
    [
        ((), {}, 0, ""),
        (("one: x", "one: y"), {"one": "it does"}, 0, ""),
        (("two",), {}, 1, "differs for no known reason: two"),
        ((), {"one": "it does"}, 1, "differs no more: one"),
    ],
)
def test_a_difference_has_a_reason_and_a_reason_a_difference(
    differing: tuple[str, ...],
    reasons: dict[str, str],
    status: int,
    words: str,
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(tool, "SUITES", (made("a", differing, reasons), made("gone", (), {})))
    (tmp_path / "a").mkdir()
    assert tool.main(tmp_path) == status
    said = capsys.readouterr().out
    assert words in said and f"a 2: {3 - len(differing)} of 3" in said
    assert f"missing: gone, from elsewhere, in {tmp_path / 'gone'}" in said
    why = "nothing" if not differing else "2: it does" if reasons else "1: not known"
    assert page.read_text() == PAGE.replace(
        "| a | 1 | 1 of 1 | nothing |", f"| a | 2 | {3 - len(differing)} of 3 | {why} |"
    )


def test_a_suite_without_a_row_gets_the_last(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tool, "SUITES", (made("b", (), {}),))
    (tmp_path / "b").mkdir()
    assert tool.main(tmp_path) == 0
    assert "| a | 1 | 1 of 1 | nothing |\n| b | 2 | 3 of 3 | nothing |\n\nMore." in page.read_text()


def test_the_page_has_a_row_for_every_suite():
    text = (tool.ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    for suite in SUITES:
        (line,) = (each for each in text.splitlines() if each.startswith(f"| {suite.name} |"))
        assert "not known" not in line
        assert all(reason in line for reason in suite.reasons.values())


def test_cases_are_read_from_unpacked_files(tmp_path: Path):
    rust = tmp_path / "crates" / "ignore" / "src" / "gitignore.rs"
    rust.parent.mkdir(parents=True)
    rust.write_text('    ignored!(a, ROOT, "*.o", "x.o");\n    not_ignored!(\n        b, ROOT, "*.o\\n!x.o", "x.o");\n')
    (tmp_path / "VERSION").write_text("f00 2026-01-01\n")
    assert gitignore(tmp_path) == Outcome("f00 2026-01-01", 2, ())
    fence = "`" * 32
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "spec.txt").write_text(f"version: 9\n\n{fence} example\n*a*\n.\n<p>b</p>\n{fence}\n")
    assert gfm(tmp_path) == Outcome("9 (f00 2026-01-01)", 1, ("example 1: '*a*'",))
