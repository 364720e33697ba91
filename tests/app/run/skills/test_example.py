"""The example of the documentation: what the page shows is what the folder holds, and its script does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
HOME = ROOT / "examples" / "skills" / "delay-notice"


@pytest.mark.parametrize("path", ["SKILL.md", "references/wording.md", "scripts/new_time.py"])
def test_x32_the_page_shows_the_example_as_it_is(path):
    page = (ROOT / "docs" / "skills.md").read_text(encoding="utf-8")
    shown = re.search(rf"^```\w+ delay-notice/{re.escape(path)}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert shown[1] == (HOME / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["09:40", "25"], "10:05"),
        (["23:50", "20"], "00:10 next day"),
        (["25:00", "1"], "usage"),
        (["9:05", "x"], "usage"),
    ],
)
def test_x32_the_script_of_the_example_reckons_times(words, said):
    command = [sys.executable, str(HOME / "scripts" / "new_time.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said in done.stdout + done.stderr
