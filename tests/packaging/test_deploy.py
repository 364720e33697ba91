"""X29. The files of docs/batches.md are what systemd and compose take, and name flags that there are."""

from __future__ import annotations

import configparser
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from prosa.cli import worker
from prosa.cli.parser import Parser
from tests.cli.desk import desk
from tests.cli.programs import ROOT
from tests.packaging.validating import assert_fits

DEPLOY = ROOT / "packaging/deploy"
UNIT, COMPOSE = DEPLOY / "prosa-worker.service", DEPLOY / "compose.yaml"


def taken(words: list[str]) -> None:
    """The arguments of `prosa worker`, which takes them."""
    parser = Parser(console=desk().console, prog="prosa worker", description="")
    worker.configure(parser)
    assert words[0] == "worker" and parser.parse_anywhere(words[1:])


def test_x29_the_unit_is_one_that_systemd_takes(tmp_path: Path):
    """X29: `systemd-analyze` looks at it where there is one; the program of its command line may be elsewhere."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read(UNIT)
    assert unit.sections() == ["Unit", "Service", "Install"]
    taken(shlex.split(unit["Service"]["ExecStart"].replace("/srv/prosa", str(tmp_path)))[1:])
    analyze = shutil.which("systemd-analyze")
    text = UNIT.read_text().replace("/opt/prosa/bin/prosa", sys.executable)
    (tmp_path / UNIT.name).write_text(text)
    if analyze:
        done = subprocess.run([analyze, "verify", tmp_path / UNIT.name], capture_output=True, text=True, check=False)
        assert UNIT.name not in done.stderr, done.stderr


def test_x29_the_compose_file_fits_its_schema(tmp_path: Path):
    assert_fits("vendor.compose-spec", COMPOSE)
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    taken([str(tmp_path) if each == "/work" else each for each in services["worker"]["command"]])
    assert (
        "PROSA_STORE" in services["worker"]["environment"] and "@" in services["worker"]["environment"]["PROSA_STORE"]
    )
