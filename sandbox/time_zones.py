"""Writes the table of time zones for the guest: from the `tzdata` package to one Python module."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def zone_table() -> dict[str, bytes]:
    """Every zone of the installed `tzdata` package, as compiled TZif data by name."""
    data = files("tzdata")
    names = data.joinpath("zones").read_text("utf-8").split()
    return {name: data.joinpath("zoneinfo", *name.split("/")).read_bytes() for name in names}


def write_module(target: Path) -> None:
    """Writes ``ZONES`` as a module; equal zones share one constant, because a code object keeps each constant once."""
    lines = [f"    {name!r}: {data!r}," for name, data in sorted(zone_table().items())]
    target.write_text('"""Generated at build time."""\n\nZONES = {\n' + "\n".join(lines) + "\n}\n", "utf-8")
