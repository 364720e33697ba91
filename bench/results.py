"""What was measured, section by section, in `bench/results.json`: each with the day, the machine and its load.

A run of a few sections replaces those and keeps the others. `docs/benchmarks.md` is made of this file alone.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import msgspec
from msgspec import Struct, field

from bench.row import Row
from prosa.adapters.files import replace_file

FILE = Path(__file__).with_name("results.json")
SYSTEMS = {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}


class Machine(Struct, frozen=True):
    """What a reader needs to know of a machine; neither its name nor its paths."""

    processors: int
    architecture: str
    system: str
    memory: int
    python: str

    @property
    def title(self) -> str:
        """Return it in words."""
        held = f", {self.memory} GiB of memory" if self.memory else ""
        return f"{self.processors} processors, {self.architecture}{held}, {self.system}, {self.python}"


class Measured(Struct, frozen=True):
    """A section as it was measured: rows, and the peers that were left out with the reason of each.

    ``versions`` are those of the peers by name. ``load`` is that of the machine before and after.
    """

    when: str
    machine: Machine
    load: tuple[float, float]
    seconds: float
    rows: list[Row]
    absent: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    failed: str = ""


class Results(Struct, frozen=True):
    """Sections by name."""

    sections: dict[str, Measured] = field(default_factory=dict)


def this_machine() -> Machine:
    """Return the machine that this runs on."""
    system = SYSTEMS.get(sys.platform, sys.platform)
    release = platform.release().partition("-")[0]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    held = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    return Machine(os.cpu_count() or 1, platform.machine(), f"{system} {release}", round(held / 2**30), python)


def load() -> float:
    """Return how many processes wanted a processor in the last minute."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


def read(file: Path) -> Results:
    """Return what was measured before; nothing where nothing was. Raises SystemExit for a file that is another."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Results)
    except FileNotFoundError:
        return Results()
    except msgspec.DecodeError as problem:
        raise SystemExit(f"{file.name} does not hold results ({problem}); delete it, and measure anew") from None


def write(results: Results, file: Path) -> None:
    """Replace the file in one step, a row a line."""
    replace_file(file, lines(results))


def lines(results: Results) -> str:
    """Return the text of the file."""
    sections = {name: _shown(each) for name, each in sorted(results.sections.items())}
    return '{"sections": {\n' + ",\n".join(f"{_json(name)}: {text}" for name, text in sections.items()) + "\n}}\n"


def _shown(section: Measured) -> str:
    head = _json({**msgspec.to_builtins(section), "rows": []})
    rows = ",\n".join(f"  {_json(row)}" for row in section.rows)
    return head.replace('"rows":[]', f'"rows":[\n{rows}\n]', 1)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def merged(before: Results, now: dict[str, Measured]) -> Results:
    """Return the newer sections beside those that were not measured now.

    What failed now keeps its older rows, and says so.
    """
    found = dict(before.sections)
    for name, each in now.items():
        older = found.get(name)
        found[name] = msgspec.structs.replace(older, failed=each.failed) if each.failed and older else each
    return Results(found)
