"""`--crawl`: what is copied, what is left alone, and what a second walk does."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.files.copy_store import JOURNAL, STATE, CopyStore
from prosa.adapters.http.exchange import Bounds
from prosa.app.client.crawl import Copied, Crawl, CrawlLimits
from prosa.app.client.requests import on_this_machine
from prosa.cli.main import main
from tests.app.client.visit.site import BOATS, FERRY, HARBOUR, ONE, RULES, TIDES, Site, markdown, moved
from tests.app.client.visit.visiting import copied, visit

WHOLE = {
    "boats/index.md": BOATS,
    "boats/one.md": ONE,
    "ferry.md": FERRY,
    "index.md": HARBOUR,
    "rules.md": RULES,
    "tide-table.md": TIDES,
}


def crawl(site: Site, folder: Path, *words: str, **more: Any) -> list[dict[str, Any]]:
    """What a copy that goes well says of each URL."""
    status, at = visit(site.url, "--crawl", str(folder), "--format", "json", *words, **more)
    assert status == 0, at.err
    return [json.loads(line) for line in at.out.splitlines()]


def statuses(lines: list[dict[str, Any]]) -> dict[str, str]:
    """The status of each URL by its path."""
    return {line["url"].split("/", 3)[3]: line["status"] for line in lines}


def test_h7_a_site_is_copied_byte_for_byte(site: Site, tmp_path: Path):
    """H1, H4, H7, HW9: over typed and inline links, nearest first, with GET alone."""
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 0
    assert copied(tmp_path) == WHOLE
    assert at.out.splitlines()[0] == "new        index.md" and at.err == "6 pages: 6 new\n"
    assert site.paths() == ["/", *sorted(site.paths()[1:5], key=site.paths().index), "/boats/one"]
    assert site.methods == {"GET"} and not (tmp_path / JOURNAL).exists()


def test_a_dry_run_says_what_would_be_copied_and_writes_nothing(site: Site, tmp_path: Path):
    status, at = visit(site.url, "--crawl", str(tmp_path / "copy"), "--dry-run")
    assert (status, (tmp_path / "copy").exists()) == (0, False)
    assert visit(site.url, "--crawl", str(tmp_path / "copy"))[1].out == at.out
    assert visit(site.url, "--dry-run")[0] == 2


def test_a_copy_can_be_indexed_and_searched(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    crawl(site, tmp_path / "copy")
    assert main(["index", str(tmp_path / "copy")]) == 0
    assert "6 documents" in capsys.readouterr().out
    assert main(["search", "swimming", str(tmp_path / "copy")]) == 0
    assert "rules.md" in capsys.readouterr().out


def test_a_second_walk_asks_only_for_what_changed(site: Site, tmp_path: Path):
    """Validators are sent back; what was not sent again stays as it is, with its links."""
    crawl(site, tmp_path)
    site.asked.clear()
    site.pages["/ferry"] = markdown(FERRY + "\n[new](/new)\n")
    site.pages["/new"] = markdown("New.\n")
    lines = crawl(site, tmp_path)
    assert statuses(lines) == {
        "": "unchanged",
        "ferry": "changed",
        "rules": "unchanged",
        "tide-table": "unchanged",
        "boats/": "unchanged",
        "boats/one": "unchanged",
        "new": "new",
    }
    assert copied(tmp_path) == {**WHOLE, "ferry.md": FERRY + "\n[new](/new)\n", "new.md": "New.\n"}
    assert [bool(headers.get("if-none-match")) for path, headers in site.asked if path == "/rules"] == [True]
    del site.pages["/new"]
    lines = crawl(site, tmp_path)
    assert statuses(lines)["new"] == "failed" and copied(tmp_path)["new.md"] == "New.\n"
    site.pages["/new"] = markdown("Again.\n")
    assert statuses(crawl(site, tmp_path))["new"] == "changed"


def test_x8_no_credential_is_sent_while_crawling(site: Site, tmp_path: Path):
    """X8, X8b: neither the one of the settings, even where a page asks for it, nor one of the call."""
    (tmp_path / "settings.toml").write_text(f'[sites."{site.url}"]\ntoken-env = "T"\n')
    site.pages["/rules"] = (401, "text/plain", b"who are you", {"WWW-Authenticate": "Bearer"})
    lines = crawl(site, tmp_path / "copy", environ={"T": "s3cret"}, config=tmp_path)
    assert statuses(lines)["rules"] == "failed"
    assert site.asked and all("authorization" not in headers and "cookie" not in headers for _, headers in site.asked)
    status, at = visit(site.url, "--crawl", str(tmp_path / "copy"), "--token-env", "T", environ={"T": "s3cret"})
    assert status == 2 and "no token is sent while a site is copied" in at.err


def test_robots_txt_is_obeyed(site: Site, tmp_path: Path):
    site.robots("User-agent: other\nDisallow: /\n\nUser-agent: Prosa\nDisallow: /boats\nAllow: /boats/one\n")
    site.pages["/"] = markdown(HARBOUR + "[straight](/boats/one)\n")
    lines = crawl(site, tmp_path)
    assert statuses(lines)["boats/"] == "skipped" and "boats/one.md" in copied(tmp_path)
    assert "/boats/" not in site.paths()
    assert site.asked[0][0] == "/robots.txt"
    assert site.asked[0][1]["user-agent"].startswith("prosa/")


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (500, False)])
def test_a_site_whose_robots_txt_cannot_be_read_is_left_alone(site: Site, tmp_path: Path, status: int, allowed: bool):
    """RFC 9309: 4xx allows everything, 5xx nothing."""
    site.pages["/robots.txt"] = (status, "text/plain", b"", {})
    found, at = visit(site.url, "--crawl", str(tmp_path / "copy"))
    assert (found == 0) is allowed
    assert bool(site.paths()) is allowed and (tmp_path / "copy").exists() is allowed
    assert allowed or "no page of the site may be requested" in at.err


def test_robots_txt_may_move_and_forbid_everything(site: Site, tmp_path: Path):
    site.pages["/robots.txt"] = moved("/r.txt")
    site.pages["/r.txt"] = (200, "text/plain", b"User-agent: *\nDisallow: /\n", {})
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 1 and "is not for robots" in at.err and site.paths() == ["/r.txt"]


def test_the_index_of_a_site_is_walked_too(site: Site, tmp_path: Path):
    """HA1: pages that nothing links to."""
    site.pages["/hidden"] = markdown("---\nid: hidden\n---\n")
    index = {"nodes": [{"id": "hidden", "md_url": "/hidden"}, {"id": "x", "md_url": "https://other.example/x"}]}
    site.pages["/mdh/nodes.json"] = (200, "application/json", json.dumps(index).encode(), {})
    assert statuses(crawl(site, tmp_path))["hidden"] == "new"


@pytest.mark.parametrize(
    ("words", "pages"), [(("--max-pages", "2"), 2), (("--max-depth", "1"), 5), (("--max-depth", "0"), 1)]
)
def test_limits_of_a_copy(site: Site, tmp_path: Path, words: tuple[str, ...], pages: int):
    status, at = visit(site.url, "--crawl", str(tmp_path), *words)
    assert (status, len(copied(tmp_path))) == (0, pages)
    assert ("there may be more" in at.err) is ("--max-pages" in words)


def test_a_site_without_end_ends(site: Site, tmp_path: Path):
    class Endless(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            if not path.startswith("/x") and path != "/":
                return default
            number = int(path.strip("/x") or 0)
            return markdown(f"[a](/x{2 * number + 1}) [b](/x{2 * number + 2}) [gone](/gone?{number})\n")

    site.pages = Endless()
    assert len(crawl(site, tmp_path, "--max-pages", "30", "--max-depth", "900")) >= 30
    assert len(copied(tmp_path)) == 30


def test_links_that_are_no_pages_are_bounded_too(site: Site, tmp_path: Path):
    site.pages = {"/": markdown("".join(f"[x](/dead{number})\n" for number in range(500)))}
    crawl(site, tmp_path, "--max-pages", "10")
    assert len(site.paths()) <= 40


def test_redirects_are_walked_to_and_judged(site: Site, tmp_path: Path):
    """X8: within the site they lead to the page; circles end; another origin is not asked."""
    site.robots("User-agent: *\nDisallow: /secret\n")
    site.pages |= {
        "/": markdown("[a](/old) [b](/round) [c](/out) [d](/in) [e](/metadata) [f](/file) [g](/ferry)\n"),
        "/old": moved("/ferry", 301),
        "/round": moved("/turn"),
        "/turn": moved("/round"),
        "/out": moved(f"{site.other}/rules"),
        "/in": moved("/secret"),
        "/secret": markdown("Secret.\n"),
        "/metadata": moved("http://169.254.169.254/"),
        "/file": moved("file:///etc/passwd"),
    }
    lines = crawl(site, tmp_path)
    found = statuses(lines)
    assert {path: found[path] for path in ("old", "round", "out", "in", "secret", "metadata", "file")} == {
        "old": "moved",
        "round": "moved",
        "out": "skipped",
        "in": "moved",
        "secret": "skipped",
        "metadata": "skipped",
        "file": "skipped",
    }
    assert set(copied(tmp_path)) == {"index.md", "ferry.md", "rules.md"}
    assert all(headers["host"].startswith("127.0.0.1") for _, headers in site.asked)


def test_one_page_under_several_urls_is_one_file(site: Site, tmp_path: Path):
    """HA2: `/ferry`, `/ferry.md` and a JSON form that names its `md_url`."""
    as_json = {"id": "ferry", "type": "page", "title": "Ferries", "md_url": "/ferry", "body": "Back"}
    site.pages |= {
        "/": markdown(
            "[a](/ferry) [b](/ferry.md) [c](/ferry.json) [d](/Ferry) [e](/page?b) [f](/page?a) [g](/ferry#x)\n"
        ),
        "/ferry.md": site.pages["/ferry"],
        "/ferry.json": (200, "application/json", json.dumps(as_json).encode(), {}),
        "/Ferry": markdown("Another page.\n"),
        "/page?a=": markdown("a\n"),
        "/page?b=": markdown("b\n"),
    }
    found = statuses(crawl(site, tmp_path))
    assert found["ferry.md"] == "same" and found["ferry"] == "new" and site.paths().count("/ferry") == 1
    files = copied(tmp_path)
    assert files["ferry.md"] == FERRY
    assert sorted(files.values()).count("Another page.\n") == 1 and {"a\n", "b\n"} <= set(files.values())
    assert len({name.casefold() for name in files}) == len(files)


def test_pages_in_html_and_json_become_markdown(site: Site, tmp_path: Path):
    """H8b, HA8b."""
    site.pages |= {
        "/": markdown("[a](/html) [b](/pre) [c](/json) [d](/text) [e](/picture) [f](/latin) [g](/api)\n"),
        "/html": (200, "text/html", b'<link rel="alternate" type="text/markdown" href="/ferry">', {}),
        "/pre": (200, "text/html", b"<pre>---\nid: pre\n---\nPre.\n</pre>", {}),
        "/json": (200, "application/json", b'{"meta": {"id": "j"}, "body": "[r](/rules)"}', {}),
        "/text": (200, "text/plain", b"only text\n", {}),
        "/picture": (200, "image/png", b"\x89PNG", {}),
        "/latin": (200, "text/markdown", b"caf\xe9", {}),
        "/api": (200, "application/json", b'{"items": []}', {}),
    }
    found = statuses(crawl(site, tmp_path))
    assert {path: found[path] for path in ("html", "text", "picture", "latin", "api")} == {
        "html": "moved",
        "text": "skipped",
        "picture": "skipped",
        "latin": "skipped",
        "api": "skipped",
    }
    files = copied(tmp_path)
    assert files["pre.md"] == "---\nid: pre\n---\nPre.\n" and files["json.md"] == "---\nid: j\n---\n[r](/rules)"
    assert {"ferry.md", "rules.md"} <= set(files)
    site.asked.clear()
    assert set(statuses(crawl(site, tmp_path)).values()) <= {"unchanged", "moved", "skipped"}


HOSTILE = (
    *("/../../escape", "/%2e%2e/%2e%2e/escape", "/..%2f..%2fescape", "/%2fetc/x", "/.hidden", "/.git/config"),
    *("/a%00b", "/con", "/NUL.txt", "/a%5cb", "/c:d", "/-rf", "/%ff%fe", "/x%0ay", "/%1b[2J", "/tail.", "/tail%20"),
    *("/.prosa-crawl.json", "/" + "n" * 400, "/d/" * 60 + "x", "/a.md/inner", "/a", "//double", "/%E2%80%AEevil"),
)


def test_hw4_no_name_of_a_page_leads_out_of_the_folder(site: Site, tmp_path: Path):
    """HW4: whatever a URL is called, its file is inside, visible, and one of its own."""
    site.pages["/"] = markdown("".join(f"[x](<{path}>)\n" for path in HOSTILE))

    class Everything(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            known = {"/": site_root, "/robots.txt": default, "/mdh/nodes.json": default}
            return known[path] if path in known else markdown(f"page {path}\n")

    site_root, site.pages = site.pages["/"], Everything()
    inner = tmp_path / "outer" / "copy"
    lines = crawl(site, inner)
    assert {line["status"] for line in lines} == {"new"}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert all(file.is_relative_to(inner) for file in files)
    written = copied(inner)
    assert len(written) == len(lines) == len(set(written.values()))
    for name in written:
        assert name.endswith(".md") and all(not part.startswith(".") for part in name.split("/"))
        assert name.isprintable() and "\\" not in name and ":" not in name and len(name) <= 200


def test_a_file_of_somebody_else_is_never_written_to(site: Site, tmp_path: Path):
    """Neither one that was there, nor a page that somebody has edited since, nor one behind a link."""
    (tmp_path / "rules.md").write_text("mine\n")
    outside = tmp_path.parent / "outside-of-the-copy"
    outside.mkdir()
    (tmp_path / "boats").symlink_to(outside, target_is_directory=True)
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 1 and "foreign: " in at.err and "move them away" in at.err
    assert (tmp_path / "rules.md").read_text() == "mine\n" and list(outside.iterdir()) == []
    (tmp_path / "ferry.md").write_text("edited\n")
    site.pages["/ferry"] = markdown("changed\n")
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 1 and (tmp_path / "ferry.md").read_text() == "edited\n"
    (tmp_path / "rules.md").unlink()
    (tmp_path / "ferry.md").unlink()
    (tmp_path / "boats").unlink()
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 0
    assert copied(tmp_path)["ferry.md"] == "changed\n" and copied(tmp_path)["rules.md"] == RULES


def test_a_page_that_a_power_cut_left_empty_is_had_again(site: Site, tmp_path: Path):
    crawl(site, tmp_path)
    (tmp_path / "ferry.md").write_text("")
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 0, at.err
    assert copied(tmp_path) == WHOLE


def test_a_folder_holds_the_copy_of_one_site(site: Site, tmp_path: Path):
    crawl(site, tmp_path)
    status, at = visit(site.other, "--crawl", str(tmp_path))
    assert status == 1 and "holds a copy of http://127.0.0.1" in at.err and "another folder" in at.err
    (tmp_path / STATE).write_text("[]")
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 2 and "move it away" in at.err
    state = {"version": 1, "origin": site.url, "pages": [3, {"url": 1}, {"url": "x", "round": 1}]}
    (tmp_path / STATE).write_text(json.dumps(state))
    assert len(crawl(site, tmp_path)) == 6
    status, at = visit(site.url, "--crawl", str(tmp_path / "index.md"))
    assert status == 2 and "is not a folder" in at.err


def test_a_start_that_is_no_page_is_an_error(site: Site, tmp_path: Path):
    for path, said in (("/none", "answers 404"), ("/pic", "is image/png"), ("/out", "another origin")):
        site.pages |= {"/pic": (200, "image/png", b"", {}), "/out": moved(f"{site.other}/")}
        status, at = visit(f"{site.url}{path}", "--crawl", str(tmp_path / "copy"))
        assert status == 1 and said in at.err
    assert copied(tmp_path / "copy") == {}


def test_a_site_without_markdown_leaves_nothing_behind(site: Site, tmp_path: Path):
    """Neither records nor a folder, whether the folder was there before or not, and whatever the site answers."""
    (tmp_path / "there").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.md").write_text("mine\n")
    for answer in ((200, "text/html", b"<title>x</title><p>y", {}), (404, "text/plain", b"", {})):
        site.pages = {"/": answer}
        for name in ("there", "new/inner", "mine"):
            status, at = visit(site.url, "--crawl", str(tmp_path / name))
            assert status == 1 and "error: " in at.err
    assert sorted(each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*")) == [
        "mine",
        "mine/notes.md",
        "there",
    ]


def test_an_earlier_copy_is_kept_when_the_site_has_no_markdown_any_more(site: Site, tmp_path: Path):
    """The records of its pages too."""
    crawl(site, tmp_path)
    site.pages = {"/": (404, "text/plain", b"", {})}
    assert visit(site.url, "--crawl", str(tmp_path))[0] == 1
    assert copied(tmp_path) == WHOLE and (tmp_path / STATE).exists()


class Stop(BaseException):
    """Ends a walk as a kill does: nothing catches it."""


def walk(
    site: Site, folder: Path, *, end_after: float = float("inf"), limits: CrawlLimits | None = None
) -> list[Copied]:
    """A walk that is ended before, or in the middle of, one of its writes."""
    told: list[Copied] = []
    store = Ending(folder, end_after)
    bounds = Bounds(named=on_this_machine(site.url))
    try:
        Crawl(site.url, bounds, limits or CrawlLimits(), store, told.append, store.waited.append).run()
    finally:
        store.close()
    return told


class Ending(CopyStore):
    """A store that is killed: after so many writes nothing is saved any more."""

    def __init__(self, folder: Path, after: float) -> None:
        super().__init__(folder)
        self.left = after
        self.waited: list[float] = []

    def _spend(self) -> None:
        if self.left <= 0:
            raise Stop
        self.left -= 1

    def write(self, path: str, text: str, *, before: str) -> None:
        self._spend()
        super().write(path, text, before=before)

    def note(self, record: Any) -> None:
        self._spend()
        super().note(record)

    def save(self, state: Any) -> None:
        self._spend()
        super().save(state)


@pytest.mark.parametrize("after", range(1, 16))
def test_a_copy_goes_on_after_a_kill(site: Site, tmp_path: Path, after: int):
    """Wherever it ends, the next run has the rest, and asks for nothing twice that it had."""
    try:
        walk(site, tmp_path, end_after=after)
    except Stop:
        had = {name for name, text in copied(tmp_path).items() if text}
        site.asked.clear()
        walk(site, tmp_path)
        assert not {f"/{name.removesuffix('.md').replace('index', '')}" for name in had} & set(site.paths())
    assert copied(tmp_path) == WHOLE and not list(tmp_path.rglob("*.tmp"))
    site.asked.clear()
    assert {each.status for each in walk(site, tmp_path)} == {"unchanged"}
    assert len(site.paths()) == 6


def test_a_copy_goes_on_after_many_kills_while_the_site_changes(site: Site, tmp_path: Path):
    """Pages change between the kills; no file is taken for somebody else's, and the end is the site as it is."""
    chance = random.Random(7)
    for turn in range(25):
        path = chance.choice(["/ferry", "/rules", "/boats/one", "/tide-table"])
        site.pages[path] = markdown(f"turn {turn}\n")
        try:
            assert "foreign" not in {each.status for each in walk(site, tmp_path, end_after=chance.randrange(1, 14))}
        except Stop:
            continue
    for _ in range(2):
        assert "foreign" not in {each.status for each in walk(site, tmp_path)}
    expected = {name: site.pages["/" + name.removesuffix(".md").replace("index", "")][2].decode() for name in WHOLE}
    assert copied(tmp_path) == expected


def test_a_line_that_a_kill_cut_off_is_passed_over(site: Site, tmp_path: Path):
    with pytest.raises(Stop):
        walk(site, tmp_path, end_after=6)
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes()[:-20] + b"\xff{")
    assert len(walk(site, tmp_path)) == 6
    assert copied(tmp_path) == WHOLE


def test_ctrl_c_leaves_what_was_had(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Status 130, as for every command; the same command goes on."""
    write, left = CopyStore.write, iter((1, 1, 1))

    def interrupted(store: CopyStore, path: str, text: str, *, before: str) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        write(store, path, text, before=before)

    monkeypatch.setattr(CopyStore, "write", interrupted)
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 130 and "the same command resumes it" in at.err and len(copied(tmp_path)) == 3
    monkeypatch.undo()
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 0 and "an earlier copy was gone on with" in at.err and copied(tmp_path) == WHOLE


def test_a_file_where_a_folder_must_be(site: Site, tmp_path: Path):
    """The pages below it are left out, and all others are there."""
    (tmp_path / "boats").write_text("mine\n")
    (tmp_path / "rules.md").mkdir()
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 1 and "a file is in the place of its folder" in at.err and "is a folder" in at.err
    assert set(copied(tmp_path)) == {"boats", "ferry.md", "index.md", "tide-table.md"}


def test_refresh_begins_again(site: Site, tmp_path: Path):
    with pytest.raises(Stop):
        walk(site, tmp_path, end_after=7)
    site.asked.clear()
    assert len(crawl(site, tmp_path, "--refresh")) == 6
    assert "/" in site.paths()


def test_pages_are_asked_for_with_a_pause(site: Site, tmp_path: Path):
    """The longer of `--delay` and `Crawl-delay`; none on this machine, half a second elsewhere."""
    site.robots("User-agent: *\nCrawl-delay: 7\n")
    for limits, pause in ((CrawlLimits(), 7.0), (CrawlLimits(delay=9), 9.0), (CrawlLimits(delay=1), 7.0)):
        store = Ending(tmp_path / str(limits.delay), float("inf"))
        Crawl(
            site.url, Bounds(named=on_this_machine(site.url)), limits, store, lambda _: None, store.waited.append
        ).run()
        assert store.waited == [pause] * 6
    site.robots("")
    store = Ending(tmp_path / "other", float("inf"))
    Crawl(site.url, Bounds(allow_private=True), CrawlLimits(), store, lambda _: None, store.waited.append).run()
    assert store.waited == [0.5] * 6


def test_a_page_that_is_too_large_or_breaks_off_is_left_out(site: Site, tmp_path: Path):
    """X9."""
    site.pages["/rules"] = markdown("x" * 50_000)
    site.pages["/ferry"] = (200, "text/markdown", b"\x1f\x8b", {"Content-Encoding": "gzip"})
    found = statuses(crawl(site, tmp_path, "--max-size", "20KB"))
    assert (found["rules"], found["ferry"], found["boats/one"]) == ("failed", "failed", "new")


def test_what_is_printed_moves_no_cursor(site: Site, tmp_path: Path):
    site.pages["/"] = markdown("[a](</x\x1b]0;t\x07>) [b](/b)\n")
    site.pages["/b"] = (200, "image/\x1b[2J", b"", {})
    status, at = visit(site.url, "--crawl", str(tmp_path))
    assert status == 0 and "\x1b" not in at.out + at.err and "\x07" not in at.out + at.err
