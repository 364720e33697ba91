"""The pages of rules have one address each, which every door gives; while nobody publishes them there is no link."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.diagnostics.address import page_address, page_path
from prosa.rules.registry import all_rules
from prosa.settings import DOCUMENTATION
from tests.house.tree import ROOT
from tools.docs.generate import reference

BASE = "https://docs.example/prosa"


def test_an_address_is_that_of_the_page_that_is_built():
    assert page_path("undeclared-name") == "reference/rules/undeclared-name.html"
    assert page_address("undeclared-name", f"{BASE}/") == f"{BASE}/reference/rules/undeclared-name.html"
    assert page_address("undeclared-name", "") == ""
    pages = {page_path(rule.name).replace(".html", ".md") for rule in all_rules()}
    assert {each.removeprefix("reference/") for each in pages} <= set(reference())


@pytest.mark.parametrize("file", ["pyproject.toml", "packaging/prosa/pyproject.toml"])
def test_the_release_says_where_the_documentation_is(file: str):
    """One line of the package says it, and the code repeats it: no host is claimed that nobody owns."""
    project = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["project"]
    assert project.get("urls", {}).get("Documentation", "") == DOCUMENTATION


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROSA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "config").mkdir()
    file = tmp_path / "notes" / "a.md"
    file.parent.mkdir()
    file.write_text("# A\n\n[gone](gone.md)\n")
    return file


def reported(form: str, document: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["check", str(document), "--format", form, "--fail-on", "never"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_reports_lead_to_the_page_where_its_address_is_known(document: Path, capsys: pytest.CaptureFixture[str]):
    (document.parents[1] / "config" / "settings.toml").write_text(f'documentation = "{BASE}"\n')
    sarif = json.dumps(reported("sarif", document, capsys))
    assert f'"helpUri": "{BASE}/reference/rules/unresolved-link.html"' in sarif
    assert f'"informationUri": "{BASE}"' in sarif
    lines = json.dumps(reported("rdjsonl", document, capsys))
    assert f'"url": "{BASE}/reference/rules/unresolved-link.html"' in lines


def test_reports_give_no_link_where_nobody_knows_and_name_the_page_still(
    document: Path, capsys: pytest.CaptureFixture[str]
):
    sarif = json.dumps(reported("sarif", document, capsys))
    assert "helpUri" not in sarif and '"page": "reference/rules/unresolved-link.html"' in sarif
    assert '"url"' not in json.dumps(reported("rdjsonl", document, capsys))


def test_an_editor_leads_to_the_page_where_its_address_is_known(document: Path):
    from prosa.app.check.check import Checker, CheckOptions
    from prosa.app.check.gather import gather
    from prosa.lsp.positions import protocol_diagnostics

    found = Checker.of(CheckOptions(), {}).diagnostics(gather([document]))
    shown = protocol_diagnostics(found, "utf-16", lambda path: path.as_uri(), BASE)
    assert [each.code_description.href for each in shown if each.code_description] == [
        f"{BASE}/reference/rules/unresolved-link.html"
    ]
    assert [each.code_description for each in protocol_diagnostics(found, "utf-16", str, "")] == [None]
