"""MDH sites on the command line: where nodes live, and what one file alone does not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from tests.dialects.mdh.documents import page


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "branches").mkdir(parents=True)
    (folder / "index.md").write_text(page("home", "[hours](/hours), [north](/branches/north)\n"))
    (folder / "hours.md").write_text(page("hours", "[home](/), [nowhere](/none)\n"))
    (folder / "branches" / "north.md").write_text(page("north", "[up](../hours)\n"))
    return folder


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str | None]:
    assert main(["show", *arguments, "--format", "jsonl"]) == 0
    return [json.loads(line)["md_url"] for line in capsys.readouterr().out.splitlines()]


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, int]]:
    main(["check", *arguments, "--no-cache", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    return [(each["rule"], each["line"]) for each in found]


def test_ha2_show_says_where_the_nodes_of_a_site_live(site: Path, capsys: pytest.CaptureFixture[str]):
    """HA2. A file alone has no site unless the root is given or marked."""
    north = str(site / "branches" / "north.md")
    assert sorted(map(str, shown(capsys, str(site)))) == ["/", "/branches/north", "/hours"]
    assert shown(capsys, north) == [None]
    assert shown(capsys, "--root", str(site), north) == ["/branches/north"]
    assert shown(capsys, "--root", str(site.parent), north) == ["/site/branches/north"]
    (site / "prosa.toml").write_text("")
    assert shown(capsys, north) == ["/branches/north"]


def test_h21_check_resolves_links_over_the_folder(site: Path, capsys: pytest.CaptureFixture[str]):
    """H21: MUST 3. One file of a site is checked against all of it; a file in a folder of nobody's choice is not."""
    broken = [("unresolved-inline-link", 7)]
    assert checked(capsys, str(site)) == broken
    assert checked(capsys, "--root", str(site), str(site / "hours.md")) == broken
    assert checked(capsys, str(site / "hours.md")) == []
    assert checked(capsys, str(site / "branches" / "north.md")) == []
    (site.parent / "prosa.toml").write_text("")
    assert checked(capsys, str(site.parent)) == broken
    assert checked(capsys, str(site / "branches")) == []


NAV = '[site]\nnav = ["hours.md", {"Rules" = ["gone.md"]}, "reference/"]\n'


def test_x23_a_missing_page_of_the_order_is_reported_at_its_place(site: Path, capsys: pytest.CaptureFixture[str]):
    """X23, X7. By a check, by a build, and for the first page that declares it; the site may be any folder of the
    project, and one of a build need not be there yet."""
    for settings, inside in [(site, ""), (site.parent, "site/")]:
        (settings / "prosa.toml").write_text(NAV)
        assert ("nav-without-page", 2) in checked(capsys, str(settings)), inside
        assert main(["build", str(site), str(site.parent / "out")]) == 0
        assert "warning: prosa.toml:2:32: `nav` names 'gone.md', and no page" in capsys.readouterr().err
        (site / "gone.md").write_text(page("gone", "[home](/)\n"))
        assert "nav-without-page" not in [rule for rule, _ in checked(capsys, str(settings))]
        (site / "gone.md").unlink()
        (settings / "prosa.toml").unlink()
    (site / "index.md").write_text(page("home", "").replace("\n---\n", "\nnav: [gone.md]\n---\n", 1))
    assert main(["build", str(site), str(site.parent / "out")]) == 0
    assert "warning: index.md: `nav` names 'gone.md'" in capsys.readouterr().err
