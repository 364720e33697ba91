"""`prosa build`: the files of a site, what an earlier build made, and what is never touched (H8, HA7, X5c, X23)."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.files import cache_dir
from prosa.adapters.files.builds import RECORD, Build
from prosa.adapters.files.lock import only_one
from prosa.app.site.catalogue import hidden_files
from prosa.cli.main import main
from prosa.site.layout import NodeRow
from prosa.web.static import relative_html

NODE = "---\nid: hours\ntype: page\ntitle: Hours\n---\n# Hours\n\nSee [rules](rules/storm.md), [the ticket](t.ymj).\n"
FILES = {
    "index.md": "---\nid: root\ntype: page\ntitle: Harbour\n---\n# Harbour\n\n[hours](/hours), [notes](n%20b.md#x).\n",
    "hours.md": NODE,
    "rules/storm.md": "# Storm\n\nNo boat leaves. Back to [hours](../hours.md). ![map](map.png)\n",
    "rules/map.png": "not really a picture",
    "n b.md": "# Notes\n\n## X\n",
    "t.ymj": "---\nsubject: Fog\n---\n# Fog\n\nSee [[hours]].\n",
    "secret.md": "---\nclassification: secret\n---\n# Hidden away\n",
    "code.py": "print()\n",
    ".env": "KEY=1\n",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "site"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def built(site: Path, *more: str, out: str = "out") -> Path:
    target = site.parent / out
    assert main(["build", str(site), str(target), *more]) == 0
    return target


def names(out: Path) -> set[str]:
    return {each.relative_to(out).as_posix() for each in out.rglob("*") if each.is_file()}


def test_h8_every_node_has_its_three_forms_as_files(site: Path):
    """H8, HA7."""
    found = names(built(site))
    for stem in ("index", "hours", "rules/storm", "n b", "t.ymj", "rules/index"):
        assert {f"{stem}.html", f"{stem}.md", f"{stem}.json"} <= found
    assert {"llms.txt", "robots.txt", "404.html", "mdh/nodes.json", "mdh/actions.json", "rules/map.png"} <= found


def test_h7_markdown_is_what_the_author_wrote_and_json_says_the_same(site: Path):
    """H7, HA8."""
    out = built(site)
    assert (out / "hours.md").read_bytes() == NODE.encode()
    told = json.loads((out / "hours.json").read_text())
    assert (told["id"], told["md_url"], told["body"]) == ("hours", "/hours.md", NODE.split("---\n")[2])


def test_x23_what_may_not_be_shown_is_in_no_file(site: Path):
    """X23, X5c."""
    out = built(site)
    found = names(out)
    assert not {name for name in found if re.search(r"secret|code\.py|\.env", name)}
    assert not [name for name in found if b"Hidden away" in (out / name).read_bytes()]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.found += [value for name in ("href", "src") if (value := values.get(name))]


@pytest.mark.parametrize("prefix", ["", "/notes"])
def test_every_link_of_a_page_leads_to_a_file(site: Path, prefix: str):
    out = built(site, *(["--base-url", f"https://example.org{prefix}"] if prefix else []))
    missing: list[tuple[str, str]] = []
    for page in out.rglob("*.html"):
        links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
        for href in links.found:
            path = urljoin(f"{prefix}/{page.relative_to(out).as_posix()}", urldefrag(href)[0].partition("?")[0])
            if path.startswith("/"):
                assert path.startswith(f"{prefix}/"), (page, href)
                file = unquote(path[len(prefix) + 1 :]) or "index.html"
                if not (out / file).is_file() and not (out / file / "index.html").is_file():
                    missing.append((page.name, href))
    assert missing == []


def test_x23_a_drawing_of_a_static_site_runs_nothing(site: Path, capsys: pytest.CaptureFixture[str]):
    """X23, HW3. What it loses is said, and what is no drawing is left out; a harmless one stays to the byte."""
    plain = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="3"/></svg>'
    (site / "plain.svg").write_text(plain)
    (site / "evil.SVG").write_text(plain.replace("<rect", "<script>alert(1)</script><rect onload='alert(1)'"))
    (site / "broken.svg").write_text("<svg onload='alert(1)'>")
    out = built(site)
    assert (out / "plain.svg").read_text() == plain
    assert b"alert" not in (out / "evil.SVG").read_bytes()
    assert b'<rect width="3">' in (out / "evil.SVG").read_bytes()
    assert not (out / "broken.svg").exists()
    told = capsys.readouterr().err
    assert "'evil.SVG' is written without <script>, onload: " in told
    assert "'broken.svg' is left out" in told
    assert "plain.svg" not in told


def below(out: Path) -> list[tuple[str, str]]:
    """Every address in a page with the page, but for those of `404.html`, which a host shows anywhere."""
    found = []
    for page in out.rglob("*.html"):
        links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
        found += [(page.relative_to(out).as_posix(), each) for each in links.found if page.name != "404.html"]
    return found


@pytest.mark.parametrize("prefix", ["", "/notes"])
def test_h8_pages_work_wherever_the_files_lie(site: Path, prefix: str):
    """H8, HA7. Opened from a disk too: every address is relative and leads to a file."""
    for name in ("a: b.md", "deep/er/x.md", "rules/c:d.md", "q?.md"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text('# X\n\n[up](/hours#a "t"), [self](#x), `href="/hours"` <https://example.org/a>\n')
    out = built(site, *(["--base-url", f"https://example.org{prefix}"] if prefix else []))
    assert (out / "deep/er/x.html").read_text().count('href="/hours"') == 1  # in the text
    for page, href in below(out):
        path, _ = urldefrag(href.partition("?")[0])
        if not urlsplit(href).scheme:
            assert not href.startswith("/"), (page, href)
            assert not path or (out / page).parent.joinpath(unquote(path)).is_file(), (page, href)


@given(
    parts=st.lists(st.text("ab:.%é ", min_size=1, max_size=3), min_size=1, max_size=4),
    others=st.lists(st.text("ab:.%é ", min_size=1, max_size=3), min_size=1, max_size=4),
    prefix=st.sampled_from(["", "/notes"]),
)
def test_h8_a_relative_address_means_what_the_absolute_one_meant(parts: list[str], others: list[str], prefix: str):
    """H8. For any two files."""
    here, there = (f"{prefix}/{'/'.join(f'x{quote(part)}' for part in some)}" for some in (parts, others))
    page = (
        f'<p title="{there}"><a class="x" href="{there}?q=1&amp;r#f">href="{there}"</a><img src="{there}" alt=""></p>'
    )
    made = relative_html(page, here, prefix)
    links = _Links()
    links.feed(made)
    assert [urljoin(f"https://h{here}", each) for each in links.found] == [
        f"https://h{there}?q=1&r#f",
        f"https://h{there}",
    ]
    assert made.count(f'title="{there}"') == 1 and f'>href="{there}"</a>' in made


def test_h8_what_needs_a_server_is_not_offered(site: Path):
    """H8, HA1. No form but that of the search, which a script answers; no page that asks to be loaded again; how an
    action is called is told."""
    action = "actions:\n- {id: book, method: POST, url: /api/book, title: Book}\n---\n"
    (site / "hours.md").write_text(NODE.replace("---\n#", f"{action}#"))
    out = built(site)
    told = (out / "llms.txt").read_text()
    assert "/mdh/search" not in told and "actions.json" not in told and "Accept:" not in told
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert text.count("<form") == 1 and 'class="find" role="search"' in text, page
        assert "data-building" not in text and "/mdh/graph" not in text, page
    page = (out / "hours.html").read_text()
    assert "/api/book" in page and "curl -X POST" in page


def test_ha2_a_readme_is_the_page_of_its_folder(site: Path):
    """HA2. Under the name of its file too, which links between documents may have."""
    (site / "rules/README.md").write_text("# Rules\n\n[storm](storm.md)\n")
    out = built(site)
    page = (out / "rules/index.html").read_text()
    assert "<h1" in page and 'href="storm.html"' in page
    assert (out / "rules/index.md").read_bytes() == (out / "rules/README.md").read_bytes()
    assert json.loads((out / "rules/index.json").read_text())["md_url"] == "/rules/index.md"
    assert not (out / "rules/README.html").exists()


def test_h8_a_list_of_a_folder_leads_agents_to_markdown(site: Path):
    """H8, H7."""
    out = built(site)
    assert "](/rules/storm.md)" in (out / "rules/index.md").read_text()
    assert 'href="storm.html"' in (out / "rules/index.html").read_text()


def test_a_second_build_writes_nothing_and_removes_what_is_gone(site: Path, capsys: pytest.CaptureFixture[str]):
    out = built(site)
    before = {name: (out / name).stat().st_mtime_ns for name in names(out)}
    built(site)
    assert "wrote 0 files" in capsys.readouterr().err
    assert {name: (out / name).stat().st_mtime_ns for name in names(out) if name != RECORD} == {
        name: time for name, time in before.items() if name != RECORD
    }
    (site / "rules/storm.md").unlink()
    built(site)
    assert not {"rules/storm.html", "rules/storm.md", "rules/storm.json", "rules/index.html"} & names(out)
    assert "rules/map.png" in names(out)


def test_a_file_of_somebody_else_is_neither_replaced_nor_removed(site: Path, capsys: pytest.CaptureFixture[str]):
    out = site.parent / "out"
    out.mkdir()
    (out / "hours.html").write_text("mine")
    (out / "CNAME").write_text("example.org")
    assert main(["build", str(site), str(out)]) == 1
    assert "hours.html was not made by a build" in capsys.readouterr().err
    assert (out / "hours.html").read_text() == "mine" and (out / "CNAME").exists()
    (out / "index.html").write_text("edited")
    assert main(["build", str(site), str(out)]) == 1
    assert (out / "index.html").read_text() == "edited"


@pytest.mark.parametrize("record", ['{"files": {"../site/hours.md": "x"}}', "[]", "{", '{"files": {"a/../../x": "y"}}'])
def test_a_record_that_names_files_elsewhere_is_not_believed(site: Path, record: str):
    out = site.parent / "out"
    out.mkdir()
    (out / RECORD).write_text(record)
    built(site)
    assert (site / "hours.md").read_text() == NODE


def test_a_build_that_is_broken_off_can_be_finished(site: Path):
    out = site.parent / "out"

    class Stop(Exception):
        pass

    def some() -> None:
        with Build(out) as build:
            build.put("hours.html", b"half")
            raise Stop

    with pytest.raises(Stop):
        some()
    built(site)
    assert b"half" not in (out / "hours.html").read_bytes()


def test_a_second_build_into_the_same_folder_is_told_to_wait(site: Path, capsys: pytest.CaptureFixture[str]):
    out = site.parent / "out"
    with only_one(out, cache_dir(os.environ)):
        assert main(["build", str(site), str(out)]) == 1
    assert capsys.readouterr().err.endswith(f"error: {out}: another build is writing there; wait until it is done\n")
    assert not out.exists()
    assert main(["build", str(site), str(out)]) == 0


def test_a_full_disk_is_named_with_the_file_that_had_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_: int, __: bytes) -> int:
        raise OSError(28, "No space left on device")

    def build() -> None:
        with Build(tmp_path) as it:
            monkeypatch.setattr("prosa.adapters.files.builds.os.write", full)
            it.put("hours.html", b"x")

    with pytest.raises(OSError, match="No space left") as raised:
        build()
    assert raised.value.filename == str(tmp_path / "hours.html")


@pytest.mark.parametrize("out", [".", "public", "rules/public"])
def test_an_output_that_would_be_part_of_the_site_is_refused(site: Path, out: str, capsys: pytest.CaptureFixture[str]):
    assert main(["build", str(site), str(site / out)]) == 2
    assert "would be part of the next build" in capsys.readouterr().err


def test_an_output_that_git_ignores_may_lie_inside(site: Path):
    (site / ".gitignore").write_text("public/\n")
    assert main(["build", str(site), str(site / "public")]) == 0
    assert main(["build", str(site), str(site / "public")]) == 0
    assert not (site / "public" / "public").exists()


def test_an_address_gives_absolute_addresses(site: Path):
    out = built(site, "--base-url", "https://example.org/notes")
    assert "<loc>https://example.org/notes/hours.html</loc>" in (out / "sitemap.xml").read_text()
    nodes = json.loads((out / "mdh/nodes.json").read_text())["nodes"]
    assert all((out / node["md_url"].removeprefix("/notes/")).is_file() for node in nodes if "%" not in node["md_url"])
    assert "https://example.org/notes/hours.md" in (out / "llms.txt").read_text()
    assert json.loads((out / "hours.json").read_text())["md_url"] == "/notes/hours.md"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere", "out"], "no such folder"),
        (["site", "out", "--base-url", "ftp://x"], "--base-url must be a URL"),
        (["site", "out", "--base-url", "https://x/?q"], "neither a query"),
        (["site", "site/hours.md"], "is not a folder"),
    ],
)
def test_wrong_use_is_told(
    site: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(site.parent)
    assert main(["build", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_project_orders_its_site_and_leaves_files_out(site: Path, capsys: pytest.CaptureFixture[str]):
    """X5c. `nav` and `exclude` of the project; a flag adds to them, and what is named in vain is said."""
    nav = '["hours.md", {Rules = ["rules/storm.md", "gone.md"]}]'
    (site / "prosa.toml").write_text(f'[site]\nname = "Port"\nnav = {nav}\nexclude = ["rules/*.png"]\n')
    out = built(site, "--exclude", "n b.md")
    assert "warning: prosa.toml:3:48: `nav` names 'gone.md'" in capsys.readouterr().err
    assert {"rules/map.png", "n b.html", "n b.md"}.isdisjoint(names(out))
    assert "n b" not in (out / "mdh" / "search.json").read_text() + (out / "llms.txt").read_text()
    page = (out / "rules" / "storm.html").read_text()
    assert '<a rel="prev" href="../hours.html"><span>Previous</span> Hours</a>' in page
    assert 'href="storm.html" aria-current="page"' in page and "<span>Rules</span>" in page
    assert '<a class="site" href="../index.html">Port</a>' in page
    assert 'rel="next" class="behind" href="hours.html"' in (out / "index.html").read_text()


def test_the_first_page_orders_its_site(site: Path):
    (site / "index.md").write_text(
        "---\nid: root\ntype: page\ntitle: Harbour\nnav: [rules/, {When: hours.md}]\n---\n# H\n"
    )
    page = (built(site) / "hours.html").read_text()
    assert '<a href="hours.html" aria-current="page">When</a>' in page
    assert '<a href="rules/index.html">rules</a>' in page


def test_x23_a_page_that_may_not_be_shown_is_in_no_order_and_no_search(site: Path):
    (site / "prosa.toml").write_text('[site]\nnav = ["secret.md", {"Rules" = "rules/"}]\n')
    out = built(site)
    for file in out.rglob("*"):
        if file.is_file():
            assert b"Hidden away" not in file.read_bytes(), file


def test_what_a_document_says_stays_data_in_the_search(site: Path):
    """HW3. A title that would end a script or an element is a title."""
    title = "</script><img src=x onerror=alert(1)>\u2028`${alert(1)}`"
    (site / "hours.md").write_text(f"# {title}\n\n## {title} x\n\n</script> text\n")
    out = built(site)
    script = (out / "mdh" / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("globalThis.prosaIndex = ").removesuffix(";\n"))
    assert index == json.loads((out / "mdh" / "search.json").read_text(encoding="utf-8"))
    assert "<img src=x" not in (out / "mdh" / "search.html").read_text(encoding="utf-8")


def test_ha7_what_was_built_conforms_with_a_readme_that_is_there_twice(site: Path, capsys: pytest.CaptureFixture[str]):
    """HA1, HA7, HA20. The index of a site of files names files, and a README lies beside the index that it is."""
    (site / "rules" / "README.md").write_text("# Rules\n\nSee [storm](storm.md) and [hours](../hours.md).\n")
    out = built(site)
    assert {"rules/README.md", "rules/index.md"} <= names(out)
    capsys.readouterr()
    assert main(["probe", str(out)]) == 0
    told = capsys.readouterr().out
    assert "passed: no two nodes share an id" in told
    assert "passed: indexes, if any, agree with the nodes" in told


def test_a_name_that_leaves_no_room_for_its_json_form_hides_no_file(tmp_path: Path):
    """A file of that name cannot be, and asking for it must not end the index of the site."""
    path = f"{'n' * 252}.md"
    (tmp_path / path).write_text("# Long\n")
    (tmp_path / "a.json").write_text("{}")
    rows = [NodeRow(each, "page", "Long", f"/{each}", each, "plain") for each in (path, "a.md")]
    assert [name for name, _ in hidden_files(tmp_path, rows)] == ["a.json"]


@pytest.mark.parametrize("folder", ["", "new/"])
def test_a_name_that_is_too_long_is_left_out_and_named(site: Path, capsys: pytest.CaptureFixture[str], folder: str):
    """The file system takes `NAME.md`, and not `NAME.html`: everything else is written, and nothing in part."""
    name = "x" * 252
    (site / folder).mkdir(exist_ok=True)
    (site / f"{folder}{name}.md").write_text("# Long\n")
    target = site.parent / "out"
    for more in (["--dry-run"], [], []):
        assert main(["build", str(site), str(target), *more]) == 1
        said = capsys.readouterr().err
        assert f"{folder}{name}.html is left out: its name is too long for the file system" in said
        assert f"{folder}{name}.json is left out" in said and "Traceback" not in said
    assert (target / "hours.html").is_file() and (target / f"{folder}{name}.md").is_file()
    assert not [each for each in target.rglob("*") if each.name.endswith(".tmp")]
    assert (target / RECORD).is_file()
