"""The documentation in a real browser, as files of a host and as files of a disk: it is found, read and copied."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from prosa.cli.main import main
from tests.browser.browsing import SCHEMES, Browsing, Scheme, looked_at
from tests.browser.looking import faint, too_wide
from tests.browser.test_build import hosted
from tests.depth import DEEP
from tests.documentation import built
from tests.house.tree import ROOT

AXE = ROOT / "tests" / "peers" / "node_modules" / "axe-core" / "axe.min.js"
SIZES = ((1280, 900), (420, 850))
PAGES = (
    "index.html",
    "skills.html",
    "reference/commands/prosa-run.html",
    "reference/rules/undeclared-name.html",
    "reference/settings.html",
    "mdh/search.html",
    "404.html",
)


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as files."""
    return built(tmp_path_factory)


def find(page: Page, query: str) -> Page:
    """Types a query."""
    page.get_by_role("combobox").fill(query)
    page.get_by_role("listbox").wait_for()
    return page


def violations(page: Page) -> list[str]:
    """What axe finds wrong."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run({ resultTypes: ['violations'] })"
        ".then((all) => all.violations.map((each) => [each.id, each.nodes[0].html]))"
    )
    return [f"{name}: {html[:200]}" for name, html in found]


def test_a_search_finds_a_rule_and_leads_there(browse: Browsing, docs: Path):
    with hosted(docs) as url:
        page = find(browse(f"{url}/reference/commands/prosa-check.html"), "undeclared-name")
        expect(page.get_by_role("option").first).to_have_text("undeclared-name")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/reference/rules/undeclared-name.html")
        find(page, "limits.iterations")
        page.get_by_role("option").first.click()
        page.wait_for_url("**/reference/settings.html#limitsiterations")


def test_a_query_has_a_page_of_results(browse: Browsing, docs: Path):
    with hosted(docs) as url:
        page = browse(f"{url}/mdh/search.html?q=undeclared-name")
        expect(page.locator("ol.results a").first).to_have_text("undeclared-name")
        expect(page.get_by_role("heading", name="All pages")).to_be_hidden()
        page = browse(f"{url}/mdh/search.html?q=zzzzzz")
        expect(page.get_by_role("main").get_by_role("status")).to_contain_text("Nothing was found")
        expect(page.get_by_role("heading", name="All pages")).to_be_visible()


def test_a_search_leaves_out_what_is_not_wanted(browse: Browsing, docs: Path):
    """As `prosa search` does, with `-word` and `NOT word`."""

    def found(url: str, query: str) -> list[str]:
        page = browse(f"{url}/mdh/search.html?q={quote(query)}")
        expect(page.locator("#page\\:count")).to_contain_text("for “")
        return page.locator("ol.results a").all_inner_texts()

    with hosted(docs) as url:
        every = found(url, "undeclared-name")
        assert "undeclared-name" in every
        for query in ("undeclared-name -undeclared", "undeclared-name NOT undeclared", 'undeclared-name -"undeclared'):
            assert found(url, query) == []
        assert found(url, "undeclared-name -zzzz -") == every


def test_a_search_works_from_a_disk(browse: Browsing, docs: Path):
    page = find(browse((docs / "reference" / "index.html").as_uri()), "undeclared-name")
    page.get_by_role("option").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("undeclared-name")


def test_without_a_script_everything_is_read_and_every_page_is_listed(browse: Browsing, docs: Path):
    with hosted(docs) as url:
        page = browse(f"{url}/skills.html", script=False)
        assert page.locator("pre .t").count() > 0
        assert page.get_by_role("navigation", name="Pages of this site").is_visible()
        page.get_by_role("link", name="Next").click()
        assert page.get_by_role("heading", level=1).count() == 1
        page.goto(f"{url}/mdh/search.html")
        assert page.get_by_text("Search needs a script").is_visible()
        assert page.get_by_role("main").get_by_role("link", name="undeclared-name", exact=True).count() == 1


def test_a_phone_opens_and_closes_the_menu_without_a_script(browse: Browsing, docs: Path):
    with hosted(docs) as url:
        page = browse(f"{url}/skills.html", size=(420, 850), script=False)
        menu = page.get_by_role("navigation", name="Pages of this site")
        assert not menu.is_visible()
        page.get_by_role("link", name="Menu").click()
        assert menu.is_visible()
        page.get_by_role("link", name="Close").click()
        assert not menu.is_visible()


def test_code_is_copied_as_it_stands(browse: Browsing, docs: Path):
    with hosted(docs) as url:
        page = browse(f"{url}/reference/rules/undeclared-name.html")
        block = page.locator(".held").first
        block.hover()
        block.get_by_role("button", name="Copy").click()
        expect(block.get_by_role("button")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("---\nname: greet\n") and copied.endswith("Greet {{ .nmae }}.")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_kind_of_page_is_without_fault_for_everybody(browse: Browsing, docs: Path, scheme: Scheme):
    """Axe, contrast of colours of code too, no page wider than its window: at two widths, by day and by night, in a
    deep run at both widths by both. Axe, which takes five times as long as all else, looks at every other page by day
    and at those between by night."""
    with hosted(docs) as url:
        page = browse.window(scheme=scheme)
        for number, name in enumerate(PAGES):
            page.goto(f"{url}/{name}")
            for size in SIZES if DEEP else (SIZES[SCHEMES.index(scheme)],):
                looked_at(page, size, scheme)
                assert too_wide(page) == [], (name, size)
                assert faint(page) == {}, (name, size)
                assert not (DEEP or number % 2 == SCHEMES.index(scheme)) or violations(page) == [], (name, size)


def test_hw3_what_a_search_finds_is_text(browse: Browsing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """HW3. Titles and headings that would be elements are words; a dialog or a complaint would fail the test."""
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    title = "harmless <img src=x onerror=alert(1)> </script><script>alert(2)</script>"
    (tmp_path / "site" / "a.md").write_text(
        f"# {title.replace('<', chr(92) + '<')}\n\n## javascript:alert(3) {title}\n"
    )
    assert main(["build", str(tmp_path / "site"), str(tmp_path / "out")]) == 0
    with hosted(tmp_path / "out") as url:
        page = find(browse(f"{url}/a.html"), "harmless")
        expect(page.get_by_role("option").first).to_contain_text("<img src=x onerror=alert(1)>")
        page.get_by_role("option").first.click()
        page.wait_for_url(f"{url}/a.html*")
        page = browse(f"{url}/mdh/search.html?q=harmless%3Cimg%20src%3Dx%20onerror%3Dalert(4)%3E")
        expect(page.get_by_role("main").get_by_role("status")).to_contain_text("<img")
        page = browse(f"{url}/mdh/search.html?q=harmless")
        expect(page.locator("ol.results a").first).to_contain_text("</script>")
