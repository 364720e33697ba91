"""Until the owner's file says that Prosa is published, nothing says that it can be installed by its name."""

from __future__ import annotations

import re

import pytest

from prosa.extras import ALL, EXTRAS, PUBLISHED, install_line
from tests.house.tree import ROOT, files, named
from tools.packaging.owner import FILE, read_owner
from tools.packaging.texts import TEXTS

BY_NAME = re.compile(
    r"(?:pip3? (?:install|download)|pipx (?:install|run|upgrade)|uv (?:tool \w+|add|pip install)|uvx)\b"
    r"[^\n|#]*?(?<![\w./-])prosa(?:-core|-sandbox)?(?![\w./-])"
)
SUFFIXES = {".md", ".py", ".js", ".json", ".yml", ".yaml", ".toml", ".sh", ".service", ""}
CONDITIONAL = {
    "tools/packaging/texts.py": "both forms of each passage",
    "packaging/owner.toml": "says what `published` means",
    "docs/releasing.md": "what the owner tries after the release",
    "src/prosa/extras.py": "the form that PUBLISHED chooses",
}
"""Files that name the command for the time after a release, and how."""


def test_nothing_says_that_a_package_index_has_prosa():
    if read_owner(FILE.read_text(encoding="utf-8")).published:
        return
    found = {
        named(file): match[0]
        for file in files()
        if file.suffix in SUFFIXES and not named(file).startswith(("tests/", "docs/decisions/"))
        if (match := BY_NAME.search(file.read_text(encoding="utf-8", errors="replace")))
    }
    assert set(found) - set(CONDITIONAL) == set(), found


@pytest.mark.parametrize("text", [text.then for text in TEXTS if "install prosa" in text.then])
def test_the_pattern_finds_the_commands_of_a_release(text: str):
    assert BY_NAME.search(text)


def test_messages_and_the_owners_file_say_the_same():
    assert read_owner(FILE.read_text(encoding="utf-8")).published == PUBLISHED
    lines = [ALL, *map(install_line, EXTRAS)]
    assert all(line.startswith("in a checkout of Prosa: ") != PUBLISHED for line in lines)
    assert all(bool(BY_NAME.search(line)) == PUBLISHED for line in lines)


def test_installation_begins_with_what_works():
    first = re.findall(r"^## (.+)$", (ROOT / "docs" / "install.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert first == ("From the package index" if PUBLISHED else "What works today")
