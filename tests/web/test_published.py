"""What must not be seen is seen nowhere: not at its URL, in no index, list, search, drawing, link or backlink."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from prosa.app.site import files
from tests.depth import DEEP
from tests.web.asking import Served
from tests.web.conftest import Serve

WORD = "zanzibar"
"""Stands in the title, the body, the id and the summary of everything that must not be seen."""

FIELDS = f"id: {WORD}-id\ntitle: {WORD} title\nsummary: {WORD} summary\n"
BODY = f"# {WORD} heading\n\n{WORD} body, to the [open](/open) and [[open]].\n"
RECORD = (
    f"---\nymj_spec: 0.5.0\ndoc_summary: {WORD} summary\ntitle: {WORD} title\nid: {WORD}-id\n%s---\n{BODY}\n"
    '```json\n{"index": {}, "ops": %s}\n```\n'
)


def plain(field: str) -> str:
    return f"---\n{FIELDS}{field}---\n{BODY}"


HIDDEN_BY_ITSELF = {
    "classification": ("s.md", plain("classification: secret\n")),
    "confidential": ("s.md", plain("classification: Confidential\n")),
    "classification list": ("s.md", plain("classification: [secret]\n")),
    "classification quoted": ("s.md", plain("'classification': 'secret'\n")),
    "classification nested": ("s.md", plain("about:\n  classification: secret\n")),
    "classification and broken": ("s.md", plain("classification: secret\ntags: [x\n")),
    "visibility": ("s.md", plain("visibility: private\n")),
    "visibility list": ("s.md", plain("visibility: [public, crew]\n")),
    "visibility and broken": ("s.md", plain("visibility: private\ntags: [x\n")),
    "mdh": (
        "s.md",
        plain("type: page\nclassification: secret\nactions: [{id: z.z, method: GET, url: /api/zanzibar}]\n"),
    ),
    "magi": ("s.mda", plain("classification: secret\n")),
    "program": ("s.md", plain("name: zanzibar\ninput: {}\noutput: {}\nvisibility: private\n")),
    "record": ("s.ymj", RECORD % ("classification: secret\n", "{}")),
    "record private": ("s.ymj", RECORD % ("", '{"visibility": "private"}')),
    "record roles": ("s.ymj", RECORD % ("", '{"visibility": {"role": ["crew"]}}')),
    "record broken": ("s.ymj", RECORD % ("", '{"visibility": "private",}')),
    "hidden file": (".s.md", plain("")),
    "hidden folder": (".notes/s.md", plain("")),
    "folder of agents": (".claude/skills/s/s.md", plain("")),
    "hidden folder with a skill": ("deck/.curated/s/SKILL.md", plain(f"name: {WORD}\n")),
    "program of an editor": (".cursor/rules/s.mdc", plain("")),
    "index of a folder": ("deck/index.md", plain("classification: secret\n")),
    "in a folder": ("deck/below/s.md", plain("visibility: private\n")),
}
OPEN = (
    "---\nid: open\ntype: page\ntitle: Open\n---\n# Open\n\nAll may read this.\n",
    "# Also open\n\nWith a [link](s.md), [another](/s), [[s]] and a [record](s.ymj).\n",
)
FOUND = (
    "/mdh/nodes.json",
    "/mdh/actions.json",
    "/llms.txt",
    "/sitemap.xml",
    f"/mdh/search?q={WORD}",
    "/mdh/graph",
    "/mdh/graph.json",
    "/mdh/graph.svg",
    "/mdh/graph.json?around=/open&depth=3",
    "/mdh/graph?around=/also",
    "/",
    "/open",
    "/also",
    "/also?raw=1",
    "/deck/",
    "/deck/below/",
)
ACCEPTS = ("text/markdown", "application/json", "text/html")
SURE = ("/", "/open", "/also", "/mdh/nodes.json", "/llms.txt", "/mdh/graph")
"""What is asked for in every form in every case."""


def names_of(path: str) -> list[str]:
    """Every URL that might lead to a file."""
    stem = path.rpartition(".")[0]
    names = [
        path,
        stem,
        *(f"{each}{suffix}" for each in (stem, path) for suffix in (".md", ".json", ".html", "/", "/index")),
    ]
    if stem.endswith("index"):
        names += [stem.removesuffix("index"), stem.removesuffix("/index")]
    return [f"/{quote(name)}" for name in names] + [f"/{quote(path)}?raw=1", f"/{quote(stem)}?raw=1"]


def asked(site: Served, path: str, urls: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The URLs with the forms that they are asked for in: each in all, in `make test` in one, the next one for the next
    URL. The first one depends on the length of the file, so that cases differ, and together ask for everything."""
    first = (site.root / path).stat().st_size
    for number, url in enumerate(urls, first):
        for accept in ACCEPTS if DEEP or url in SURE else (ACCEPTS[number % len(ACCEPTS)],):
            yield url, accept


def assert_unseen(site: Served, path: str) -> None:
    """That nothing tells of the file at a path, and that its URL answers as any other where there is nothing."""
    for url, accept in asked(site, path, names_of(path)):
        said = site.get(url, accept)
        other = site.get(url.replace("s", "q").replace("deck", "tray"), accept)
        assert said.status == other.status == 404, url
        assert [name for name, _ in said.headers] == [name for name, _ in other.headers]
        assert WORD not in said.text
    for url, accept in asked(site, path, FOUND):
        said = site.get(url, accept)
        asked_for = said.text.count(WORD) if "search" in url else 0
        assert said.text.count(WORD) == asked_for, url
        assert f"{WORD} body" not in said.text
        assert f"{WORD} title" not in said.text


@pytest.mark.parametrize("building", [False, True], ids=["ready", "building"])
@pytest.mark.parametrize(("path", "text"), HIDDEN_BY_ITSELF.values(), ids=HIDDEN_BY_ITSELF)
def test_x23_what_says_so_itself_is_seen_nowhere(serve: Serve, path: str, text: str, building: bool) -> None:
    """X23. Neither when the index is there nor before."""
    assert_unseen(serve({"open.md": OPEN[0], "also.md": OPEN[1], path: text}, building=building), path)


META = "---\nglobs: [%s]\n%s---\nAbout them all.\n"
LENT = {
    "secret": ('"vault/**"', "classification: secret\n"),
    "private": ('"vault/*.md"', "visibility: private\n"),
    "quoted": ('"vault/s.md"', 'classification: "Confidential"\n'),
    "broken": ('"vault/**"', "classification: secret\nclassification: public\n"),
}


@pytest.mark.parametrize("building", [False, True], ids=["ready", "building"])
@pytest.mark.parametrize(("globs", "field"), LENT.values(), ids=LENT)
def test_x23_what_a_meta_file_says_so_of_is_seen_nowhere(serve: Serve, globs: str, field: str, building: bool) -> None:
    """X23, MA18. Before the index is there, too."""
    written = {"open.md": OPEN[0], "also.md": OPEN[1], "vault/s.md": plain(""), "about.mda": META % (globs, field)}
    assert_unseen(serve(written, building=building), "vault/s.md")


@pytest.mark.parametrize("mdh", [True, False], ids=["mdh", "plain"])
def test_x23_what_a_meta_file_says_later_counts_at_once(serve: Serve, mdh: bool) -> None:
    """X23. Answers that were kept are not sent any more."""
    site = serve({"vault/s.md": plain("type: page\n" if mdh else "")})
    urls = ["/vault/s", "/vault/s?raw=1", "/vault/s.json", "/vault/s.html"]
    assert [site.get(url).status for url in urls] == [200] * 4
    site.write("about.mda", META % ('"vault/**"', "classification: secret\n"))
    site.settle()
    assert [site.get(url).status for url in urls] == [404] * 4
    (site.root / "about.mda").unlink()
    site.settle()
    assert [site.get(url).status for url in urls] == [200] * 4


def test_x23_what_a_meta_file_says_counts_where_a_link_leads(serve: Serve) -> None:
    """X23. A folder or a file that is reached by a link is the one that it leads to."""
    site = serve(
        {"vault/s.md": plain(""), "about.mda": META % ('"vault/**"', "classification: secret\n"), "open.md": "# Open\n"}
    )
    (site.root / "lane").symlink_to("vault")
    (site.root / "lane.md").symlink_to("vault/s.md")
    site.settle()
    for url in ("/lane/s", "/lane", "/lane.md", "/lane/", "/lane/s.md?raw=1"):
        assert site.get(url).status == 404


def test_x23_without_a_place_for_the_index_meta_files_count(serve: Serve, tmp_path: Path) -> None:
    """X23. What cannot be indexed is served all the same, and what is lent is not forgotten."""
    (tmp_path / "cache").write_text("no folder")
    site = serve(
        {"vault/s.md": plain(""), "about.mda": META % ('"vault/**"', "classification: secret\n"), "open.md": OPEN[0]}
    )
    assert site.site.index.complaint
    assert site.get("/open").status == 200
    assert "/open" in site.get("/").text
    for url in ("/vault/s", "/vault/", "/vault"):
        assert site.get(url).status == 404
    for url in ("/mdh/nodes.json", "/mdh/graph", "/llms.txt"):
        said = site.get(url)
        assert said.status == 503
        assert str(tmp_path) not in said.text


@pytest.mark.parametrize("building", [False, True], ids=["ready", "building"])
@pytest.mark.parametrize("rule", ["vault/", "vault/s.md", "s.md", "*.md\n!open.md\n!also.md", "/vault"])
def test_x23_what_git_ignores_is_seen_nowhere(serve: Serve, rule: str, building: bool) -> None:
    """X23. Files and folders, and pictures beside them."""
    written = {
        "open.md": OPEN[0],
        "also.md": OPEN[1],
        "vault/s.md": plain(""),
        ".gitignore": f"{rule}\n*.png\n",
        "vault/s.png": b"x",
    }
    site = serve(written, building=building)
    assert_unseen(site, "vault/s.md")
    assert site.get("/vault/s.png").status == 404


@pytest.mark.parametrize("building", [False, True], ids=["ready", "building"])
@pytest.mark.parametrize("folder", ["node_modules", "docs/vendor", "third_party/deep", "env/lib"])
def test_x23_what_others_wrote_is_seen_nowhere(serve: Serve, folder: str, building: bool) -> None:
    """X23, X3, X5. What no walk enters is in no form of the site, neither pictures nor files that documents name."""
    written = {
        "open.md": f"{OPEN[0]}\n[data](/{folder}/d.json) ![[s.png]]\n",
        "also.md": OPEN[1],
        f"{folder}/s.md": plain(""),
        f"{folder}/s.png": b"x",
        f"{folder}/d.json": b"{}",
        "env/pyvenv.cfg": b"",
    }
    site = serve(written, building=building)
    assert_unseen(site, f"{folder}/s.md")
    for url in (f"/{folder}/s.png", f"/{folder}/d.json", f"/{folder}/", f"/{folder}"):
        assert site.get(url).status == 404, url
    (site.root / "lane.md").symlink_to(f"{folder}/s.md")
    assert site.get("/lane").status == 404


def test_x23_a_folder_of_others_that_is_the_root_is_shown(serve: Serve) -> None:
    """X23, X5. A folder that is named counts as any other."""
    site = serve({"pyvenv.cfg": b"", "open.md": OPEN[0]})
    assert site.get("/open").status == 200


def test_x23_a_new_ignore_rule_hides_what_was_kept(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """X23. Within the time that a look at a path is trusted."""
    monkeypatch.setattr(files, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr("prosa.web.nodes.CHECK_SECONDS", 0.0)
    site = serve({"vault/s.md": plain("type: page\n"), "vault/s.png": b"x"})
    urls = ["/vault/s", "/vault/s?raw=1", "/vault/s.png"]
    assert [site.get(url).status for url in urls] == [200] * 3
    site.write(".gitignore", "vault/\n")
    assert [site.get(url).status for url in urls] == [404] * 3


@pytest.mark.parametrize("building", [False, True], ids=["ready", "building"])
def test_x5c_hw4_links_do_not_lead_out(serve: Serve, tmp_path: Path, building: bool) -> None:
    """X5, HW4. To files and folders outside, to hidden and ignored ones inside; a link inside is followed."""
    outside = tmp_path / "outside"
    (outside / "deep" / "deeper").mkdir(parents=True)
    for name in ("s.md", "s.png", "deep/s.md", "deep/deeper/s.md"):
        (outside / name).write_text(plain(""))
    root = tmp_path / "root"
    root.mkdir()
    (root / "file.md").symlink_to(outside / "s.md")
    (root / "file.png").symlink_to(outside / "s.png")
    (root / "folder").symlink_to(outside)
    (root / "dotted.md").symlink_to(".hidden.md")
    (root / "ignored.md").symlink_to("drafts/s.md")
    (root / "loop.md").symlink_to("loop.md")
    (root / "loops").symlink_to(".")
    (root / "good.md").symlink_to("open.md")
    (root / "fifo.md").symlink_to("/dev/null")
    written = {"open.md": OPEN[0], ".hidden.md": plain(""), "drafts/s.md": plain(""), ".gitignore": "drafts/\n"}
    site = serve(written, building=building)
    for url in (
        "/file",
        "/file.md",
        "/file.png",
        "/folder/s",
        "/folder/s.png",
        "/folder/",
        "/folder",
        "/folder/deep/",
        "/folder/deep",
    ):
        assert site.get(url).status == 404, url
    for url in ("/folder/deep/s", "/dotted", "/ignored", "/loop", "/fifo", "//", "/%2f", "/loops/.hidden"):
        assert site.get(url).status == 404, url
    assert "folder" not in site.get("/").text.replace("type: folder", "").replace("folder:/", "")
    assert site.get("/good").body == OPEN[0].encode()
    assert WORD not in "".join(
        site.get(url).text for url in ("/", "/mdh/nodes.json", f"/mdh/search?q={WORD}") if "search" not in url
    )


def test_x5c_a_file_that_becomes_a_link_is_not_sent_any_more(serve: Serve, tmp_path: Path) -> None:
    """X5. What was kept is looked at again."""
    (tmp_path / "outside.md").write_text(plain(""))
    site = serve({"a.md": OPEN[0]})
    assert site.get("/a").status == 200
    (site.root / "a.md").unlink()
    (site.root / "a.md").symlink_to(tmp_path / "outside.md")
    assert site.get("/a").status == 404


def test_x5c_no_fifo_is_opened(serve: Serve) -> None:
    """X5. It would never end."""
    site = serve({"open.md": OPEN[0]})
    os.mkfifo(site.root / "pipe.md")
    os.mkfifo(site.root / "pipe.png")
    assert [site.get(url).status for url in ("/pipe", "/pipe.md", "/pipe.png")] == [404] * 3


def test_x23_names_that_are_no_text_do_no_harm(serve: Serve, tmp_path: Path) -> None:
    """X23. In lists, indexes and before there is an index."""
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    for name in (b"b\xff.md", b"a/c\xff.md", b"d\nset-cookie: x.md", b"e\\f.md", b"g\x1b[31m.md"):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text("x")
    os.mkdir(os.fsencode(root) + b"/h\xff")
    site = serve({"open.md": OPEN[0]})
    for url in ("/", "/a/", "/mdh/nodes.json", "/llms.txt", "/sitemap.xml", "/mdh/graph", "/mdh/graph.json"):
        assert site.get(url).status in (200, 404)
    nodes = site.get("/mdh/nodes.json").json["nodes"]
    assert [each["md_url"] for each in nodes if site.get(each["md_url"]).status != 200] == []
    assert "set-cookie" not in site.get("/").text


def test_x23_with_a_token_what_is_private_is_shown_and_what_is_classified_is_not(serve: Serve) -> None:
    """X23. `--include-private`."""
    written = {"p.md": "---\nvisibility: private\n---\n# For the crew\n", "s.md": plain("classification: secret\n")}
    site = serve(written, token="t" * 24, closed=True)
    signed = [("authorization", f"Bearer {'t' * 24}")]
    assert site.get("/p", headers=signed).status == 200
    assert "/p" in site.get("/", headers=signed).text
    assert site.get("/s", headers=signed).status == 404
    assert WORD not in site.get("/mdh/nodes.json", headers=signed).text


def test_x23_a_text_newer_than_the_catalogue_is_not_found(serve: Serve) -> None:
    """X23. The index may already hold what the catalogue does not know yet."""
    site = serve({"a.md": "# Tide\n\nnoon\n"})
    known = site.site.index.catalogue
    site.write("a.md", plain("classification: secret\n"))
    site.until(lambda: site.site.index.catalogue is not known)
    site.site.index.catalogue = known
    assert site.get(f"/mdh/search?q={WORD}", "application/json").json["hits"] == []


def test_x23_an_ambiguous_link_names_no_hidden_document(serve: Serve) -> None:
    """X23. Neither among those that it may mean."""
    written = {
        "a/tide.md": "# One\n",
        "b/tide.md": "# Two\n",
        f"{WORD}/tide.md": plain("visibility: private\n"),
        "l.md": "[[tide]]\n",
    }
    site = serve(written)
    said = site.get("/mdh/graph.json")
    assert WORD not in said.text
    assert "a/tide" in said.text
