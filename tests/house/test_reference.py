"""The reference is made of the code: every rule, command and setting has its place in it, and its links lead there."""

from __future__ import annotations

import re
from os.path import normpath
from pathlib import Path

import pytest

from prosa.cli.commands import COMMANDS
from prosa.document.anchors import slug
from prosa.rules.registry import all_rules
from prosa.settings import SETTINGS
from tests.house.test_docs import LINK, without_fences
from tools.docs import generate


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """What `make docs` would write."""
    return generate.reference()


def test_the_reference_is_the_same_each_time(pages: dict[str, str]):
    assert generate.reference() == pages


def test_the_sources_of_the_site_are_guides_settings_and_reference(tmp_path: Path, pages: dict[str, str]):
    (tmp_path / "sources" / "docs").mkdir(parents=True)
    (tmp_path / "sources" / "docs" / "gone.md").write_text("# gone\n")
    docs = generate.stage(tmp_path / "sources")
    assert {path: (docs / "reference" / path).read_text("utf-8") for path in pages} == pages
    assert (docs / "tutorial.md").exists() and (docs.parent / "prosa.toml").exists()
    assert not (docs / "gone.md").exists()


def test_every_link_of_the_reference_leads_to_a_page(pages: dict[str, str]):
    there = {f"reference/{path}" for path in pages} | {
        file.relative_to(generate.ROOT / "docs").as_posix() for file in (generate.ROOT / "docs").rglob("*.md")
    }
    wrong = [
        (path, target)
        for path, text in pages.items()
        for target in LINK.findall(re.sub(r"`[^`\n]*`", "", without_fences(text)))
        if normpath(f"reference/{path}/../{target}") not in there
    ]
    assert wrong == []


def test_every_rule_command_and_setting_has_its_place(pages: dict[str, str]):
    assert {f"rules/{rule.name}.md" for rule in all_rules()} <= set(pages)
    assert {f"commands/prosa-{command.name}.md" for command in COMMANDS} <= set(pages)
    headings = re.findall(r"^### (.+)$", pages["settings.md"], re.MULTILINE)
    assert [slug(each.replace("\\", "")) for each in headings] == [slug(each.key) for each in SETTINGS]


def test_a_page_of_the_reference_shows_no_address_in_memory_and_no_requirement(pages: dict[str, str]):
    assert [path for path, text in pages.items() if re.search(r"0x[0-9a-f]{6,}|/home/|/work/", text)] == []
    told = {path: text for path, text in pages.items() if not path.startswith("commands/")}
    assert [path for path, text in told.items() if re.search(r"\([A-Z]{1,2}\d+[,)]", text)] == []
