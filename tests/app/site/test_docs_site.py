"""The documentation of Prosa as a site that `prosa build` wrote: everything has its place, and nothing is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.commands import COMMANDS
from prosa.cli.main import main
from prosa.document.anchors import slug
from prosa.rules.registry import all_rules
from prosa.settings import SETTINGS
from tests.documentation import built
from tests.render.page.elements import tree
from tools.docs.generate import MOVED, ROOT, reference

MOST_PAGE = 60_000
MOST_INDEX = 150_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, str]:
    return {file.relative_to(site).as_posix(): file.read_text(encoding="utf-8") for file in site.rglob("*.html")}


def test_no_page_is_large_and_none_waits_for_anything(pages: dict[str, str]):
    assert {name: len(text.encode()) for name, text in pages.items() if len(text.encode()) > MOST_PAGE} == {}
    assert [name for name, text in pages.items() if "being read" in text] == []


def test_every_page_keeps_the_policy(pages: dict[str, str]):
    """HW3. Colours are classes: no page has a style of its own, and no script but ours."""
    assert [
        name for name, text in pages.items() if re.search(r"<[^>]* style=|<style|<script>| on[a-z]+=\"", text)
    ] == []
    assert [name for name, text in pages.items() if text.count('rel="stylesheet"') != 1] == []


def test_every_rule_command_flag_and_setting_has_an_anchor(pages: dict[str, str]):
    ids = {name: set(re.findall(r' id="([^"]*)"', text)) for name, text in pages.items()}
    assert [rule.name for rule in all_rules() if f"reference/rules/{rule.name}.html" not in pages] == []
    texts = reference()
    for command in COMMANDS:
        name = f"reference/commands/prosa-{command.name}"
        flags = re.findall(r"^### (.+)$", texts[f"commands/prosa-{command.name}.md"], re.MULTILINE)
        assert "--help" in flags
        assert [flag for flag in flags if slug(flag) not in ids[f"{name}.html"]] == []
    assert [each.key for each in SETTINGS if slug(each.key) not in ids["reference/settings.html"]] == []


def test_the_pages_in_order_are_all_pages(pages: dict[str, str], site: Path):
    """From the first page the next ones lead through every page that the order names, and each names the one before."""
    name, seen = "index.html", ["index.html"]
    while (found := re.search(r'rel="next"[^>]*href="([^"]+)"|href="([^"]+)"[^>]*rel="next"', pages[name])) is not None:
        following = (site / name).parent.joinpath(found[1] or found[2]).resolve().relative_to(site.resolve()).as_posix()
        assert following not in seen
        seen.append(name := following)
    assert {f"reference/{path.removesuffix('.md')}.html" for path in reference() if "README" not in path} <= set(seen)
    assert {"tutorial.html", "skills.html", "serving.html", "decisions/index.html"} <= set(seen)


def test_a_former_address_leads_to_the_page_with_its_content(pages: dict[str, str]):
    for path, (_, address) in MOVED.items():
        assert not (ROOT / "docs" / path).exists()
        target, _, anchor = address.replace(".md", ".html").partition("#")
        assert f'href="{target}#{anchor}"' in pages[path.replace(".md", ".html")]
        assert f' id="{anchor}"' in pages[target]


def test_the_search_is_small_and_knows_a_rule(site: Path):
    index: Any = json.loads((site / "mdh" / "search.json").read_text(encoding="utf-8"))
    assert (site / "mdh" / "search.json").stat().st_size <= MOST_INDEX
    assert ["undeclared-name", "reference/rules/undeclared-name.html"] in index["pages"]
    script = (site / "mdh" / "search-index.js").read_text(encoding="utf-8")
    assert json.loads(script.removeprefix("globalThis.prosaIndex = ").rstrip(";\n")) == index


def test_a_page_tells_other_sites_what_it_is(pages: dict[str, str], site: Path):
    page = tree(pages["reference/rules/undeclared-name.html"])
    told = {each.get("property"): each.get("content") for each in page.elements if each.get("property")}
    assert told["og:title"] == "undeclared-name"
    assert told["og:site_name"] == "Prosa"
    assert told["og:url"] == "https://docs.example/reference/rules/undeclared-name.html"
    assert told["og:description"].startswith("ML021 · error")
    assert "https://docs.example/reference/rules/undeclared-name.html" in (site / "sitemap.xml").read_text()


def test_a_page_that_is_not_there_offers_search_and_all_pages(pages: dict[str, str]):
    missing = tree(pages["404.html"])
    assert [each.get("action") for each in missing.elements if each.get("role") == "search"] == ["/mdh/search.html"]
    assert any(each.get("href") == "/reference/rules/index.html" for each in missing.elements)


def test_the_site_conforms(site: Path, capsys: pytest.CaptureFixture[str]):
    """H21. `prosa probe` finds nothing: every link of the documentation leads to one of its own pages."""
    status = main(["probe", str(site), "--strict"])
    assert status == 0, capsys.readouterr().out
