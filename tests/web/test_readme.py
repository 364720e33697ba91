"""HA2: a README stands for its folder where no index does, in what is served, built and checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.dialects.mdh.url import md_url, names_of, standing_readmes
from tests.web.asking import Files, Served
from tests.web.conftest import Serve

FILES: Files = {
    "README.md": "# Harbour\n\nSee [the rules](rules/) and [the same](rules/README.md#fog).\n",
    "rules/README.md": "# Rules\n\nSee [storm](storm.md).\n",
    "rules/storm.md": "# Storm\n",
    "both/index.md": "# Index\n",
    "both/README.md": "# Read me\n",
    "low/readme.markdown": "# Low\n",
    "hidden/index.md": "---\nclassification: secret\n---\n# Hidden\n",
    "hidden/README.md": "# Shown\n",
}


@pytest.fixture(params=[False, True], ids=["ready", "building"])
def served(request: pytest.FixtureRequest, serve: Serve, look: Serve) -> Served:
    return serve(FILES, building=True) if request.param else look(FILES)


@pytest.mark.parametrize(
    ("path", "title"),
    [("/", "Harbour"), ("/rules/", "Rules"), ("/both/", "Index"), ("/both/README", "Read me"), ("/low/", "Low")],
)
def test_ha2_a_readme_is_the_page_of_its_folder(served: Served, path: str, title: str) -> None:
    """HA2. Also while the index is being built."""
    assert f"# {title}\n" in served.get(path).text
    assert served.get(path, "application/json").json["md_url"] == path
    twin = path if not path.endswith("/") else f"{path}index"
    assert f"# {title}\n" in served.get(f"{twin}.md").text
    assert served.get(f"{twin}.json").json["md_url"] == path
    assert "<h1" in served.get(f"{twin}.html").text


@pytest.mark.parametrize(
    ("path", "target"),
    [("/README", "/"), ("/rules/README", "/rules/"), ("/rules", "/rules/"), ("/low/readme", "/low/")],
)
def test_ha2_its_own_name_leads_to_the_folder(served: Served, path: str, target: str) -> None:
    """HA2. 308; its Markdown can still be had under the name of the file."""
    said = served.get(path)
    assert (said.status, said["location"]) == (308, target)
    if path.lower().endswith("readme"):
        suffix = ".markdown" if "low" in path else ".md"
        assert served.get(f"{path}{suffix}").kind == "text/markdown"


def test_ha2_below_a_prefix_it_leads_there(serve: Serve) -> None:
    """HA2."""
    assert serve(FILES, prefix="/notes").get("/notes/rules/README")["location"] == "/notes/rules/"


def test_ha2_x23_an_index_that_is_not_shown_stands_for_nothing(serve: Serve) -> None:
    """HA2, X23. The README is the page of the folder, as if there were no index."""
    served = serve(FILES)
    assert "# Shown" in served.get("/hidden/").text
    assert "Hidden" not in served.get("/hidden/index.md").text


def test_ha2_indexes_and_links_name_the_folder(serve: Serve) -> None:
    """HA2, HA1, HA5."""
    served = serve(FILES)
    urls = {each["md_url"] for each in served.get("/mdh/nodes.json").json["nodes"]}
    assert {"/", "/rules/", "/rules/storm", "/both/", "/both/README", "/low/", "/hidden/"} == urls
    page = served.get("/", "text/html").text
    assert 'href="/rules/"' in page and 'href="/rules/#fog"' in page
    assert served.get("/llms.txt").text.count("/rules/index.md") == 1


def test_ha2_ids_keep_their_urls_and_folders_answer(serve: Serve) -> None:
    """HA2, H7."""
    served = serve({"a/README.md": "---\nid: a\ntype: page\ntitle: A\n---\n# A\n"}, layout="id")
    assert served.get("/node/a").status == 200
    assert "# A" in served.get("/a/").text


def test_ha2_an_edit_changes_who_stands_for_a_folder(serve: Serve) -> None:
    """HA2. With the first index the README is a page of its own."""
    served = serve(FILES)
    served.write("rules/index.md", "# New\n")
    served.settle()
    assert "# New" in served.get("/rules/").text
    assert "# Rules" in served.get("/rules/README").text


def test_ha2_check_and_probe_see_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """HA2, H7. A node at a README is the root of its site, and a link to its folder leads there."""
    node = "---\nid: {0}\ntype: page\ntitle: {0}\n---\n# {0}\n\n[there]({1})\n"
    (tmp_path / "rules").mkdir()
    (tmp_path / "README.md").write_text(node.format("root", "/rules/"))
    (tmp_path / "rules/README.md").write_text(node.format("rules", "/"))
    assert main(["check", "--root", str(tmp_path), str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["probe", str(tmp_path), "--format", "json"]) in (0, 1)
    report = json.loads(capsys.readouterr().out)
    checks = {each["id"]: each["status"] for each in report["checks"]}
    assert checks["links-lead-to-nodes"] == "passed"
    assert "failed" not in checks.values()


def test_ha2_which_of_several_stands() -> None:
    """HA2. One of each folder, and none beside an index."""
    paths = {"README.md", "readme.md", "a/readme.md", "b/README.md", "b/index.markdown", "c/Readme.MD", "d/READMES.md"}
    assert standing_readmes(paths) == {"README.md", "a/readme.md", "c/Readme.MD"}
    assert [md_url("a/README.md", stands=True), md_url("README.md", stands=True), md_url("README.md")] == [
        "/a/",
        "/",
        "/README",
    ]
    assert {"/a/", "/a", "/a/index", "/a/index.md", "/a/README", "/a/README.md"} <= set(
        names_of("a/README.md", stands=True)
    )


def test_ha2_h7_a_page_of_a_folder_leads_to_what_is_in_it(serve: Serve) -> None:
    """HA2, H7. People see it beside the text, agents in `links`."""
    served = serve(FILES)
    links = served.get("/", "application/json").json["links"]
    assert {"rel": "contains", "target": "rules/README.md"} in links
    page = served.get("/rules/", "text/html").text
    assert "In this folder" in page and page.count('href="/rules/storm"') == 3
