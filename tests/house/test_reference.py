"""The reference is what the code says of itself: `make docs` writes it, and these tests fail where it was forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prosa.cli.commands import COMMANDS
from prosa.document.anchors import slug
from prosa.rules.registry import all_rules
from prosa.settings import SETTINGS
from tests.house.test_docs import LINK, without_fences
from tools.docs import generate
from tools.docs.generate import REFERENCE, STALE


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """What `make docs` would write."""
    return generate.reference()


def test_the_reference_is_what_the_code_says():
    assert not generate.differences(), f"{STALE}: {list(generate.differences())}"


def test_the_reference_is_the_same_each_time(pages: dict[str, str]):
    assert generate.reference() == pages


def test_a_page_that_is_missing_or_changed_is_written_and_one_too_many_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(generate, "REFERENCE", tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "gone.md").write_text("# gone\n")
    (tmp_path / "settings.md").write_text("changed by hand\n")
    assert generate.main(["--check"]) == 1
    assert (tmp_path / "settings.md").read_text() == "changed by hand\n"
    assert "docs/reference/rules/gone.md" in capsys.readouterr().err
    assert generate.main([]) == 0
    assert not (tmp_path / "rules" / "gone.md").exists()
    assert generate.main(["--check"]) == 0


def test_every_link_of_the_reference_leads_to_a_file(pages: dict[str, str]):
    wrong = [
        (path, target)
        for path, text in pages.items()
        for target in LINK.findall(re.sub(r"`[^`\n]*`", "", without_fences(text)))
        if not (REFERENCE / path).parent.joinpath(target).exists()
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
