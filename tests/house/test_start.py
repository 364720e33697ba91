"""What each command may load: modules of ours, and costly ones of Python. A start cannot rot unseen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prosa.corpus.found import RACY_NS
from tests.cli.programs import program, script
from tests.cli.test_startup import agreed

COSTLY = frozenset(
    {
        *(
            "asyncio",
            "bz2",
            "concurrent.futures",
            "dataclasses",
            "difflib",
            "hashlib",
            "hmac",
            "http.client",
            "inspect",
        ),
        *(
            "logging",
            "lzma",
            "msgspec",
            "multiprocessing",
            "pickle",
            "random",
            "secrets",
            "shutil",
            "socket",
            "sqlite3",
        ),
        *("ssl", "statistics", "subprocess", "tempfile", "threading", "tomllib", "typing_extensions", "urllib.request"),
        *("uuid", "pyromark", "yaml", "jsonschema_rs", "re2"),
    }
)
"""Modules that take more than half a millisecond each, with what they load."""

VALUES = frozenset({"msgspec", "uuid"})
"""What importing msgspec brings, without `typing_extensions`."""

SCHEMAS = frozenset({"jsonschema_rs", "random", "socket"})
"""What `jsonschema_rs` brings: it imports `email.utils`."""

EVENT_LOOP = frozenset({"asyncio", "concurrent.futures", "jsonschema_rs", "threading"})
"""What `cli.libraries` leaves of the modules that `asyncio` and `jsonschema_rs` import."""

BUDGETS: dict[str, tuple[int, frozenset[str]]] = {
    "--help": (8, frozenset()),
    "--version": (8, frozenset()),
    "check --no-cache notes.md": (100, VALUES | {"pyromark"}),
    "check --no-cache PROGRAM": (140, VALUES | SCHEMAS | {"pyromark", "yaml"}),
    "check": (80, VALUES | {"sqlite3"}),
    "fmt --check notes.md": (95, VALUES | {"pyromark"}),
    "show notes.md": (100, VALUES | {"pyromark"}),
    "search plan": (110, VALUES | {"pyromark", "sqlite3", "tomllib"}),
    "run PROGRAM text=a --model SCRIPT": (165, VALUES | EVENT_LOOP | {"sqlite3", "yaml"}),
}
"""For each command line how many modules of ours it may load, and which of the costly ones. The second run counts: what
is kept between runs is there."""

CODE = """
import json, sys
from prosa.cli.main import main
status = main({argv!r})
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


COMPILED = """
import json, sys, typing
from prosa.cli import main
from prosa.cli.libraries import load_libraries
load_libraries()
found, make = [], typing.ForwardRef.__init__
def noted(self, text, *more, **named):
    found.append(str(text))
    make(self, text, *more, **named)
typing.ForwardRef.__init__ = noted
status = main.main({argv!r})
print(json.dumps([status, found]), file=sys.stderr)
"""
"""Prints the annotations that `typing` compiled in place of the modules."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    (folder / "prosa.toml").touch()
    (folder / "notes.md").write_text("# Notes\n\nSee the [plan](plan.md).\n")
    (folder / "plan.md").write_text("# Plan\n\nAs in the [notes](notes.md).\n")
    written = (folder / "plan.md").stat().st_ctime_ns
    time.sleep(max(0, written + RACY_NS - time.time_ns()) / 1e9)  # what is younger is read again at every question
    return folder


def loaded(line: str, corpus: Path, code: str = CODE) -> set[str]:
    """All modules of a command in a fresh process, or what else the code prints."""
    apart = corpus.parent / f"{corpus.name}-programs"
    apart.mkdir(exist_ok=True)
    places = {"PROGRAM": str(program(apart)), "SCRIPT": script(apart)}
    argv = [places.get(word, word) for word in line.split()]
    environ = {name: value for name, value in os.environ.items() if "AGREE" not in name}
    environ |= {"HOME": str(agreed(corpus.parent)), "PROSA_CACHE_DIR": str(corpus.parent / "cache")}
    command = [sys.executable, "-c", code.format(argv=argv)]
    for _ in range(2):
        done = subprocess.run(command, cwd=corpus, env=environ, capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    return set(modules)


@pytest.mark.parametrize("line", BUDGETS)
def test_x10_a_command_stays_within_its_budget(line: str, corpus: Path):
    most, costly = BUDGETS[line]
    modules = loaded(line, corpus)
    own = {name for name in modules if name.partition(".")[0] == "prosa"}
    assert modules & COSTLY <= costly, sorted((modules & COSTLY) - costly)
    assert len(own) <= most, f"{len(own)} modules of ours: load later what this command does not use"
    assert len(own) > most - 20, f"{len(own)} modules of ours: the budget can be lower"


def test_x10_reading_yaml_compiles_none_of_the_expressions_of_its_library():
    """X10. That of its own reader takes three times as long as a start of Python. It compiles at its first use."""
    code = (
        "import re; from prosa.data import read_yaml; assert not read_yaml('a: &b 1').problems\n"
        "import yaml.reader; print(type(yaml.reader.Reader.NON_PRINTABLE).__module__,"
        " type(re.compile('a')).__name__, yaml.safe_load('a: 2020-01-01'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "prosa.regex Pattern {'a': datetime.date(2020, 1, 1)}\n"


@pytest.mark.parametrize("line", [line for line, (_, costly) in BUDGETS.items() if costly and "tomllib" not in costly])
def test_x10_no_annotation_is_compiled(line: str, corpus: Path):
    """X10. `typing` compiles an annotation that is a text, as `NamedTuple` has them with postponed ones. The first
    takes a third of a start of Python; `tomllib` has some itself."""
    assert not loaded(line, corpus, COMPILED)


def test_no_command_that_is_called_often_makes_a_dataclass():
    assert not any("dataclasses" in costly for _, costly in BUDGETS.values())
