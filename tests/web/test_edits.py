"""Edits show without a restart: what is written, removed, renamed; and an index that breaks does not end the site."""

from __future__ import annotations

import pytest

from tests.web.conftest import Serve

MDH = "---\nid: a\ntype: page\ntitle: A\n---\n%s\n"


def test_h6_an_edit_shows_at_the_next_request(serve: Serve) -> None:
    """H6. Of an MDH node, a plain document, a page, a file beside them; without waiting for the index."""
    site = serve({"a.md": MDH % "one", "b.md": "# One\n", "d.md": "[c](c.txt)", "c.txt": "one"})
    for url in ("/a", "/a.json", "/a.html", "/a?raw=1", "/b", "/b.html", "/b?raw=1", "/c.txt"):
        assert "two" not in site.get(url).text.lower()
    site.write("a.md", MDH % "two words")
    site.write("b.md", "# Two words\n")
    site.write("c.txt", "two words")
    for url in ("/a", "/a.json", "/a.html", "/a?raw=1", "/b", "/b.html", "/b?raw=1", "/c.txt"):
        assert "two words" in site.get(url).text.lower(), url


def test_h6_a_new_document_is_there_and_an_old_one_is_gone(serve: Serve) -> None:
    """H6. Written, removed, renamed; the lists follow."""
    site = serve({"a.md": "# A\n"})
    assert site.get("/new").status == 404
    site.write("new.md", "# New\n")
    assert site.get("/new").status == 200
    site.until(lambda: "/new" in site.get("/").text and "/new" in site.get("/mdh/nodes.json").text)
    (site.root / "new.md").rename(site.root / "newer.md")
    assert (site.get("/new").status, site.get("/newer").status) == (404, 200)
    (site.root / "a.md").unlink()
    assert site.get("/a").status == 404
    site.until(lambda: "(/a)" not in site.get("/").text and "/newer" in site.get("/llms.txt").text)
    assert site.get("/mdh/search?q=New", "application/json").json["hits"][0]["url"].startswith("/newer")


def test_h6_a_classification_hides_at_the_next_request(serve: Serve) -> None:
    """X23. And in the lists with the next look."""
    site = serve({"a.md": MDH % "zanzibar", "b.md": "# B\n"})
    assert site.get("/a").status == 200
    site.write("a.md", (MDH % "zanzibar").replace("type:", "classification: secret\ntype:"))
    assert [site.get(url).status for url in ("/a", "/a.html", "/a.json", "/a?raw=1")] == [404] * 4
    site.settle()
    assert "/a" not in [each["md_url"] for each in site.get("/mdh/nodes.json").json["nodes"]]
    assert "zanzibar" not in site.get("/mdh/search?q=zanzi*", "application/json").text.replace("zanzi*", "")


def test_h6_backlinks_and_derived_links_follow_the_graph(serve: Serve) -> None:
    """H4, H6."""
    site = serve({"a.md": "# A\n\nTo [[b]].\n", "b.md": "# B\n"})
    assert "target: b.md" in site.get("/a").text
    assert 'href="/a"' in site.get("/b", "text/html").text
    site.write("a.md", "# A\n\nTo nobody.\n")
    site.until(lambda: 'href="/a"' not in site.get("/b", "text/html").text)
    assert "target" not in site.get("/a").text


def test_h6_a_long_list_beside_a_page_is_folded(serve: Serve) -> None:
    links = " ".join(f"[{n}](p{n}.md)" for n in range(9))
    site = serve(
        {"a.md": f"# A\n\n{links}\n", "b.md": "# B\n\n[a](a.md)\n"} | {f"p{n}.md": f"# P{n}\n" for n in range(9)}
    )
    shown = site.get("/a", "text/html").text
    aside = shown[shown.index("Links to") :]
    assert aside.index("P5") < aside.index("<summary>3 more</summary>") < aside.index("P6") < aside.index("</details>")
    assert 'class="rest"' not in site.get("/b", "text/html").text


def test_h6_a_graph_around_nothing_names_what_is_missing(serve: Serve) -> None:
    site = serve({"a.md": "# A\n"})
    site.settle()
    said = site.get("/mdh/graph?around=/quay")
    assert said.status == 404 and "There is no node at /quay." in said.text


@pytest.mark.parametrize("damage", [b"garbage" * 4_000, None], ids=["overwritten", "removed"])
def test_h6_an_index_that_breaks_does_not_end_the_site(serve: Serve, damage: bytes | None) -> None:
    """H6. Nodes are served, and no answer is a fault."""
    site = serve({"a.md": "# A\n\n[b](/b)\n", "b.md": "# B\n"})
    (file,) = (site.root.parent / "cache" / "index").glob("*.sqlite")
    if damage is None:
        for each in list(file.parent.glob(f"{file.name}*")):
            each.unlink()
    else:
        with file.open("r+b") as written:
            written.write(damage)
    site.write("c.md", "# C\n")
    for url in ("/a", "/c", "/a.html", "/c.json"):
        assert site.get(url).status == 200
    for url in ("/mdh/search?q=a", "/mdh/graph.json", "/mdh/nodes.json", "/"):
        assert site.get(url, "application/json").status in (200, 503)


def test_h6_an_index_that_cannot_be_asked_is_no_fault(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """H6. Nodes lack what the graph knows, and what needs the index is not ready."""
    from prosa.app.site.keeper import IndexThread
    from prosa.corpus.errors import IndexProblem

    site = serve({"a.md": "# A\n\n[[b]]\n", "b.md": "# B\n"})

    def broken(_index: IndexThread, _question: object) -> None:
        raise IndexProblem(f"broken at {site.root}")

    monkeypatch.setattr(IndexThread, "ask", broken)
    for url in ("/a", "/a.html", "/a.json", "/", "/mdh/nodes.json"):
        assert site.get(url).status == 200
    for url in ("/mdh/search?q=a", "/mdh/graph", "/llms.txt"):
        said = site.get(url)
        assert said.status == 503
        assert str(site.root) not in said.text


def test_h6_an_index_that_can_be_used_again_is_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """H6. Once the reason is gone."""
    from prosa.app.site import keeper

    monkeypatch.setattr(keeper, "FAILED_PAUSE", 0.0)
    site = serve({"a.md": "# A\n"}, start=False)
    cache = site.root.parent / "cache"
    cache.write_text("no folder")
    said: list[str] = []
    site.site.index.notice = said.append
    site.site.start()
    site.until(lambda: bool(site.site.index.complaint))
    assert site.get("/a").status == 200
    assert len(said) == 1
    cache.unlink()
    site.until(lambda: site.site.index.is_ready)
    assert site.get("/mdh/nodes.json").status == 200


def test_h6_a_fault_in_a_look_does_not_end_the_looking(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """H6. Nothing that is wrong with one look keeps the next from being taken."""
    from prosa.app.site import keeper

    monkeypatch.setattr(keeper, "FAILED_PAUSE", 0.0)
    site = serve({"a.md": "# A\n"})
    looked, faults = keeper.IndexThread._look, iter([True])

    def faulty(self: keeper.IndexThread, corpus: object) -> None:
        if next(faults, False):
            raise RecursionError("too deep")
        looked(self, corpus)  # type: ignore[arg-type]

    monkeypatch.setattr(keeper.IndexThread, "_look", faulty)
    site.write("b.md", "# B\n")
    site.until(lambda: "b.md" in site.site.index.catalogue.by_path)
    site.until(lambda: site.site.index.complaint == "")  # it is the last that a look does


def test_x7_a_server_says_that_changed_settings_wait_for_its_next_start(serve: Serve) -> None:
    """X7. Its name, its order and what it leaves out are those of its start; the same settings in other words are no
    news."""
    site = serve({"prosa.toml": "", "a.md": "# A\n"})
    said: list[str] = []
    site.site.index.notice = said.append
    site.write("prosa.toml", "# nothing\n")
    site.settle()
    assert said == []
    site.write("prosa.toml", '[site]\nname = "Another"\n')
    site.until(lambda: bool(said))
    site.settle()
    assert said == [
        "note: the settings of the project changed; those from the start of this server hold until it is started again"
    ]
    site.write("prosa.toml", "[site\n")
    site.until(lambda: len(said) > 1)
    assert "changed and have an error: " in said[1] and "prosa.toml:1:" in said[1]
