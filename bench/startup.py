"""Start-up and peak memory of whole processes against a bare interpreter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import write_program, write_replies
from bench.measure import Row, instructions, interleaved, python

RUNS = 11
BARE = "python -c pass"
COUNTED = ("prosa check FILE", "prosa run, scripted")
"""What is counted in instructions too, where valgrind is installed."""


def rows() -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = str(write_program(folder))
        plain, sandbox = write_replies(folder), write_replies(folder, python=True)
        environ = dict(os.environ) | {"HOME": name, "MARKDOWNLANG_AGREE": "Trans rights are human rights"}
        environ |= {"PROSA_CACHE_DIR": str(folder / "cache")}
        prosa = python("-m", "prosa")
        run = [*prosa, "run", program, "text=two words", "--model"]
        commands = {
            BARE: python("-c", "pass"),
            "prosa --help": [*prosa, "--help"],
            "prosa check FILE": [*prosa, "check", program],
            "prosa run, scripted": [*run, f"scripted:{plain}"],
            "prosa run, scripted, one sandbox call": [*run, f"scripted:{sandbox}"],
        }
        found = interleaved(commands, environ, RUNS)
        counted = {what: instructions(commands[what], environ) for what in (BARE, *COUNTED)}
    bare = found.pop(BARE)
    aims = {"prosa --help": 60, "prosa check FILE": 45, "prosa run, scripted": 110}
    ratios = {"prosa --help": 1.6, "prosa check FILE": 5, "prosa run, scripted": 9}
    memory = {"prosa run, scripted": "≤ 80", "prosa run, scripted, one sandbox call": "≤ 160"}
    for what, ran in found.items():
        aim = f"≤ {aims[what]} ms more" if what in aims else ""
        yield Row(f"{what}, wall", ran.wall, "ms", BARE, bare.wall, aim)
    for what, ratio in ratios.items():
        yield Row(f"{what}, CPU", found[what].used, "ms", BARE, bare.used, f"≤ {ratio}x")
    for what in COUNTED:
        if (count := counted[what]) is not None:
            yield Row(f"{what}, instructions", count, "M", BARE, counted[BARE])
    for what, limit in memory.items():
        yield Row(f"{what}, peak memory", found[what].memory, "MiB", BARE, bare.memory, f"{limit} MB")
