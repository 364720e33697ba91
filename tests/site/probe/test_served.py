"""`prosa serve` under `prosa probe`: a folder of every dialect, served, keeps every MUST and every SHOULD (H8, H21)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import warm
from tests.house.examples import surroundings
from tests.site.probe.probing import probe, report, written

FOLDER = {
    "index.md": "---\nid: home\ntype: page\ntitle: Home\nlinks: [{rel: has_part, target: hours}]\n---\n"
    "# Home\n\n[hours](hours.md), [chat](chat.md), [greet](greet.md), [note](note.mda), [record](record.ymj),\n"
    "[skill](skill/SKILL.md), [plain](inner/plain.md), [list](/list.txt)\n",
    "hours.md": "---\nid: hours\ntype: page\ntitle: Hours\n---\nNine to five. [Home](/)\n",
    "chat.md": "### @user:\n\nHow far is the moon?\n",
    "greet.md": "---\nname: greet\ndescription: Greets.\ninput: {type: object}\n---\nSay hello.\n",
    "note.mda": "---\ndoc-id: n1\ntitle: A note\n---\nSee [home](index.md).\n",
    "record.ymj": "---\nschema: ymj/1\nid: rec\ntitle: A record\n---\n# A record\n",
    "skill/SKILL.md": "---\nname: skill\ndescription: Does a thing.\n---\nDo it.\n",
    "inner/plain.md": "# Plain\n\nSee [beside](beside.md#x) and [home](../index.md).\n",
    "inner/beside.md": "# Beside\n",
    "list.txt": "one\n",
}


@contextmanager
def served(folder: str, home: Path) -> Iterator[str]:
    """The URL of a folder while it is served."""
    words = [sys.executable, "-m", "prosa", "serve", folder, "--port", "0", "--access-log", str(home / "log")]
    process = warm.popen(words, stderr=subprocess.PIPE, text=True, env=surroundings(home), cwd=home)
    try:
        assert process.stderr is not None
        said = next((line for line in process.stderr if " at http" in line), "")
        yield said.partition(" at ")[2].split()[0]
    finally:
        process.terminate()
        process.communicate(timeout=120)


def test_h8_h21_a_served_folder_of_every_dialect_passes_every_must_and_should(tmp_path: Path):
    """H8, H21, H21e, HA7, HA8, H18, HW1, HW2."""
    home = tmp_path / "home"
    home.mkdir()
    with served(written(tmp_path / "site", FOLDER), home) as url:
        status, at = probe(url, "--strict")
        whole = report(url)
    wrong = [each for each in whole["checks"] if each["status"] == "failed"]
    assert not [each for each in wrong if each["level"] != "MAY"], wrong
    assert (status, whole["conformant"]) == (0, True), at.out
    assert whole["pages"] >= 9


def test_h21_h9_a_folder_is_judged_as_the_site_that_it_becomes(tmp_path: Path):
    """H21, H9: what can be seen in files alone is seen the same way over the network."""
    home = tmp_path / "home"
    home.mkdir()
    plain = {name: text for name, text in FOLDER.items() if name.endswith(".md")} | {
        "dead.md": "# Dead\n\n[x](gone.md)\n"
    }
    folder = written(tmp_path / "site", plain)
    alone = {each["id"]: each["status"] for each in report(folder)["checks"]}
    with served(folder, home) as url:
        there = {each["id"]: each["status"] for each in report(url)["checks"]}
    differing = {name for name, status in alone.items() if status not in (there[name], "not-applicable")}
    assert not differing and alone["front-matter-in-every-node"] == "passed", (alone, there)
