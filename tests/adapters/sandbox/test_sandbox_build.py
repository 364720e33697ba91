"""The component's build: repeated only when its sources or tools changed, and never half done."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.adapters.sandbox.conftest import ROOT


@pytest.fixture
def build(tmp_path, monkeypatch):
    """The build script on a copy of its folder, with a compiler that takes no time."""
    import shutil

    shutil.copytree(
        ROOT / "sandbox", tmp_path / "sandbox", ignore=shutil.ignore_patterns("__pycache__", "*.xz", "build")
    )
    script = runpy.run_path(str(tmp_path / "sandbox" / "hatch_build.py"))
    ensure = script["ensure_component"]
    monkeypatch.setitem(ensure.__globals__, "_compile_guest", lambda: b"\0asm")
    return lambda: ensure(tmp_path / "sandbox")


def test_built_once_and_again_when_a_source_changes(build, tmp_path):
    assert [build(), build()] == [True, False]
    for name in ("sandbox/prosa_guest/streams.py", "sandbox/wit/interpreter.wit", "sandbox/time_zones.py"):
        with (tmp_path / name).open("a") as file:
            file.write("\n")
        assert [build(), build()] == [True, False]


def test_built_again_when_the_component_is_gone_or_was_replaced(build, tmp_path):
    build()
    component = tmp_path / "sandbox/src/prosa_sandbox/python.wasm.xz"
    component.write_bytes(b"something else")
    assert [build(), build()] == [True, False]
    component.unlink()
    assert [build(), build()] == [True, False]
    assert sorted(path.name for path in component.parent.iterdir()) == ["__init__.py", "py.typed", "python.wasm.xz"]


def test_a_failed_build_leaves_the_old_component(build, tmp_path, monkeypatch):
    build()
    component = tmp_path / "sandbox/src/prosa_sandbox/python.wasm.xz"
    before = component.read_bytes()
    (tmp_path / "sandbox/prosa_guest/streams.py").write_text("")

    def fail() -> bytes:
        raise SystemExit("componentize-py could not build the sandbox")

    monkeypatch.setitem(build.__closure__[0].cell_contents.__globals__, "_compile_guest", fail)
    with pytest.raises(SystemExit):
        build()
    assert component.read_bytes() == before


def test_the_zone_table_is_a_module_with_every_zone(tmp_path):
    target = Path(tmp_path, "prosa_zones.py")
    runpy.run_path(str(ROOT / "sandbox" / "time_zones.py"))["write_module"](target)
    zones = runpy.run_path(str(target))["ZONES"]
    assert zones["Europe/Zurich"][:4] == b"TZif"
    assert len(zones) > 590


def test_the_component_of_this_tree_is_current(cache):
    script = runpy.run_path(str(ROOT / "sandbox" / "hatch_build.py"))
    assert script["ensure_component"](ROOT / "sandbox") is False
    assert cache.parent.name == "build"
