"""A command that needs an optional library ends in the line that installs it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from prosa.cli.errors import report
from prosa.cli.main import main
from prosa.extras import ALL, EMPTY, EXTRAS, install_line, is_installed, line_for_module
from tests.cli.desk import desk
from tests.house.tree import ROOT, modules

AGREED = {"MARKDOWNLANG_AGREE": "Trans rights are human rights"}

NEEDED: dict[str, tuple[str, ...]] = {
    "lsp": ("lsp",),
    "otel": ("run triage.md question=x --model scripted:replies.jsonl --otel",),
    "batch": ("runs --store postgresql://127.0.0.1:9/x",),
    "embedded": ("run triage.md question=x --model embedded",),
    "improve": ("improve triage.md --yes",),
    "parquet": ("batch triage.md --rows rows.parquet --plan",),
    "signatures": ("check triage.md --keys replies.jsonl",),
    "semantic": ("search word --semantic --embedding-model local", "enrich ticket.ymj --embedding-model local"),
    "watch": ("check --watch", "search word --watch", "test --watch"),
}
"""Extra → commands that cannot do their work without it."""

USED_WHERE_THERE = {"tokens", "uvloop"}
"""Extras without which a command does the same less exactly, and says so, or does the same more slowly."""


OF_PROSA = {"run", "serve", "sandbox"}
"""What `prosa` has and `prosa-core` alone has not: a whole installation brings it."""


def block(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Makes a library look as if it were not installed."""
    for name in [each for each in sys.modules if each == module or each.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    using = [name for name, each in sys.modules.items() if name.startswith("prosa.") and _uses(each, module)]
    for name in using:
        package, _, last = name.rpartition(".")
        monkeypatch.delattr(sys.modules[package], last, raising=False)
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)


def _uses(ours: ModuleType, module: str) -> bool:
    """Whether a module of ours has imported the library, or something of it, at its head."""
    top = module.split(".")[0]
    names = (
        each.__name__ if isinstance(each, ModuleType) else getattr(each, "__module__", None)
        for each in vars(ours).values()
    )
    return any(isinstance(name, str) and name.split(".")[0] == top for name in names)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for call in ("program triage", "test triage", "ymj ticket --profile ticket"):
        assert main(["new", *call.split()], desk().console) == 0
    Path("replies.jsonl").write_text('{"content": {"answer": "Four.", "sure": true}}')
    Path("rows.parquet").write_bytes(b"PAR1")
    return tmp_path


@pytest.mark.parametrize(("extra", "call"), [(extra, call) for extra, calls in NEEDED.items() for call in calls])
def test_a_missing_library_ends_in_the_install_line(
    extra: str, call: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    block(monkeypatch, EXTRAS[extra].module)
    assert not is_installed(extra)
    it = desk(environ=AGREED | {"HOME": str(folder)})
    assert main(call.split(), it.console) in (1, 2)
    assert install_line(extra) in it.err
    assert "internal error" not in it.err


def test_every_extra_is_tried_and_all_are_those_of_the_package():
    for place, also in (("packaging/prosa", set()), (".", OF_PROSA)):
        project = tomllib.loads((ROOT / place / "pyproject.toml").read_text())["project"]
        extras = project["optional-dependencies"]
        assert set(extras) - also == {*EXTRAS, *EMPTY}
        assert {name for name, needs in extras.items() if not needs} == (set(EMPTY) if place == "." else set())
    assert set(EXTRAS) - set(NEEDED) == USED_WHERE_THERE


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("pygls.server", install_line("lsp")),
        ("nh3", ALL),
    ],
)
def test_any_library_that_cannot_be_imported_has_its_line(module: str, line: str):
    assert line_for_module(module) == line


def test_a_library_of_the_package_itself_that_is_missing_is_no_internal_error():
    it = desk()
    assert report(ModuleNotFoundError("No module named 'nh3'", name="nh3"), it.console) == 2
    assert it.err == f"error: this needs the library `nh3`, which is not installed\n  {ALL}\n"
    it = desk()
    report(ModuleNotFoundError("No module named 'prosa.gone'", name="prosa.gone"), it.console)
    assert "internal error" in it.err


def test_nobody_else_writes_an_install_line_for_an_extra():
    line = re.compile(r'pip install .{0,3}prosa\[|"\.\[[a-z{}]+\]"')
    written = [path for path in modules() if line.search(path.read_text(encoding="utf-8"))]
    assert {each.relative_to(ROOT).as_posix() for each in written} == {
        "src/prosa/adapters/embeddings/local.py",
        "src/prosa/extras.py",
    }
