"""What a hostile reading of the site found, so that it does not come back (X5, X23, HW3, HW4)."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest

from prosa.adapters.files.builds import RECORD
from prosa.cli.main import main
from tests.web.asking import cold, serving
from tests.web.conftest import Serve

META = '---\nglobs: "private/**"\nclassification: confidential\n---\n'


def test_x23_a_link_that_leads_elsewhere_meanwhile_shows_what_it_leads_to_now(tmp_path: Path) -> None:
    """X23, X5. First to what may not be shown, then to what may; and the other way round; and by a folder."""
    files = {"pub/x.md": "# pub\n\nPUBLIC\n", "private/x.md": "# sec\n\nSECRET\n", "index.md": "# i\n", "m.mda": META}
    for serve in (serving, cold):
        root = tmp_path / serve.__name__
        root.mkdir()
        with serve(root, files) as site:
            for link, targets in (("l1.md", ("private/x.md", "pub/x.md")), ("l2.md", ("pub/x.md", "private/x.md"))):
                for target in targets:
                    (site.root / link).unlink(missing_ok=True)
                    (site.root / link).symlink_to(target)
                    said = site.get(f"/{link.removesuffix('.md')}")
                    assert "SECRET" not in said.text
                    assert ("PUBLIC" in said.text) == target.startswith("pub")


def test_x23_what_cannot_be_read_is_as_if_it_were_not_there(serve: Serve) -> None:
    """X23. Nobody knows what it would say of itself."""
    said: list[str] = []
    site = serve({"index.md": "# i\n"})
    site.site.index.notice = said.append
    site.write("bad.md", b"---\nvisibility: private\n---\n\xff\xfe\n")
    site.settle()
    there, absent = site.get("/bad", "application/json"), site.get("/not", "application/json")
    assert there.status == absent.status == 404
    assert there.text.replace("/bad", "/not") == absent.text
    assert any("bad.md" in each for each in said)


def test_x23_a_missing_target_looks_like_one_that_is_not_published(serve: Serve) -> None:
    """X23. In the panel, in derived links, in the data of the graph."""
    secret = "---\ntitle: Secret Title\nvisibility: private\n---\nx\n"
    note = '`{{"rel-type": "related", "doc-id": "{2}", "rel-desc": "d"}}`'
    body = f"# L\n\n[[{{0}}]] [x](private/{{1}}.md)[^a]\n\n[^a]: {note}\n"
    site = serve(
        {
            "index.md": "# i\n",
            "private/secret.md": secret,
            "s.mda": "---\ndoc-id: hidden-one\nvisibility: private\n---\n# H\n",
            "a.mda": "---\ndoc-id: a\n---\n" + body.format("Secret Title", "secret", "hidden-one"),
            "b.mda": "---\ndoc-id: b\n---\n" + body.format("Other Title", "other", "absent-one"),
        }
    )

    def told(name: str, other: tuple[str, ...]) -> list[str]:
        texts = [
            site.get(f"/{name}.mda", accept).text.partition("# L")[0]
            for accept in ("text/markdown", "application/json")
        ]
        texts.append(site.get(f"/mdh/graph.json?around=/{name}.mda").text)
        page = site.get(f"/{name}.mda", "text/html").text
        texts.append(page[page.find("<aside") : page.find("Properties")])
        for word in other:
            texts = [each.replace(word, "…") for each in texts]
        return [
            each.replace(f"{name}.mda", "N.mda").replace(f'"{name}"', '"N"').replace(f": {name}\n", ": N\n")
            for each in texts
        ]

    assert told("a", ("Secret Title", "secret", "hidden-one")) == told("b", ("Other Title", "other", "absent-one"))


def test_hw4_data_is_served_where_a_published_document_names_it(tmp_path: Path) -> None:
    """HW4, HA5. A key may lie beside documents; a schema that an action names must be there."""
    action = "actions:\n  - {id: a.b, method: POST, url: /api/x, body_schema: /schemas/x.json}\n"
    files = {
        "index.md": f"---\nid: r\ntype: page\ntitle: R\n{action}---\nSee [numbers](data/n.csv).\n",
        "hidden.md": "---\nvisibility: private\n---\n[keys](keys.json)\n",
        "schemas/x.json": '{"type": "object"}',
        "data/n.csv": "1,2\n",
        "client_secret.json": '{"key": 1}',
        "keys.json": "{}",
        "map.png": b"\x89PNG\r\n\x1a\n",
    }
    with serving(tmp_path, files) as site:
        got = {path: site.get(f"/{path}").status for path in files if not path.endswith(".md")}
    assert got == {
        "schemas/x.json": 200,
        "data/n.csv": 200,
        "client_secret.json": 404,
        "keys.json": 404,
        "map.png": 200,
    }


def test_hw3_an_action_that_begins_with_two_slashes_is_no_form(serve: Serve) -> None:
    """HW3, HA12. A browser would take it for another host."""
    action = "actions:\n  - {id: a.b, method: GET, url: '/x/..//evil.example/x', auth: {type: none}}\n"
    site = serve({"index.md": f"---\nid: r\ntype: page\ntitle: R\n{action}---\nx\n"})
    page = site.get("/", "text/html").text
    assert 'action="//' not in page and 'data-where="//' not in page


@pytest.mark.parametrize("link", ["docs", "dang.html", "index.html", "mdh/assets"])
def test_x5c_a_build_follows_no_link(tmp_path: Path, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """X5c. Neither to write nor to remove."""
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    site, out, elsewhere = tmp_path / "site", tmp_path / "out", tmp_path / "elsewhere"
    for folder in (site / "docs", (out / link).parent, elsewhere):
        folder.mkdir(parents=True)
    for name in ("index", "dang", "docs/pub"):
        (site / f"{name}.md").write_text("# T\n")
    (elsewhere / "keep.txt").write_text("important")
    (out / link).symlink_to(elsewhere if "." not in link else elsewhere / "planted")
    digest = sha256(b"important").hexdigest()
    (out / RECORD).write_text(json.dumps({"files": {f"{link}/keep.txt": digest}}))
    assert main(["build", str(site), str(out)]) == 1
    assert os.listdir(elsewhere) == ["keep.txt"]


def test_hw3_a_page_on_a_host_without_a_policy_brings_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HW3."""
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.md").write_text("# T\n")
    assert main(["build", str(tmp_path / "site"), str(tmp_path / "out")]) == 0
    for page in (tmp_path / "out").rglob("*.html"):
        head = unescape(page.read_text().partition("<link")[0])
        assert "Content-Security-Policy" in head and "form-action 'self'" in head


def test_ha2_a_layout_by_id_lists_what_is_there(tmp_path: Path) -> None:
    """HA2, HA1. An index stands for its folder whatever its URL; a folder of the site's own name is in no list."""
    files = {"index.md": "# Home\n", "sub/index.md": "# Sub\n", "mdh/x.md": "# X\n", "o/y.md": "# Y\n"}
    with serving(tmp_path, files, layout="id") as site:
        nodes = site.get("/mdh/nodes.json").json["nodes"]
        assert sorted(node["id"] for node in nodes if node["type"] == "folder") == ["folder:/o/"]
        for node in nodes:
            assert site.get(node["md_url"], "application/json").json["id"] == node["id"]


def test_h7_files_that_mean_something_else_are_named(serve: Serve) -> None:
    """H7. What the site makes itself wins, and the user hears of it once."""
    said: list[str] = []
    site = serve({"index.md": "# i\n"})
    site.site.index.notice = said.append
    site.write("data.md", "# D\n")
    site.write("data.json", "{}")
    site.write("llms.txt", "mine")
    site.settle()
    site.settle()
    assert sorted(line.split("'")[1] for line in said) == ["data.json", "llms.txt"]
    assert "mine" not in site.get("/llms.txt").text


def test_h7_an_index_that_cannot_be_used_is_said_so(tmp_path: Path) -> None:
    """H7. Nobody is told to wait for what will not come."""
    place = tmp_path / "file"
    place.write_text("no folder")
    with serving(tmp_path, {"a.md": "# A\n"}, environ={"PROSA_CACHE_DIR": str(place / "x")}) as site:
        site.until(lambda: bool(site.site.index.complaint))
        assert "cannot be used" in site.get("/mdh/search?q=a").text
        assert site.get("/mdh/search?q=a", "application/json").json["ready"] is False
        assert "being built" not in site.get("/mdh/search?q=a", "text/html").text
