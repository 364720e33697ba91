"""Sites that do not want to be probed, or cannot be: each ends, in clear words, and never in a traceback."""

from __future__ import annotations

import json
import socket
import xml.etree.ElementTree as ElementTree

import pytest

from prosa.cli.main import main
from tests.cli.desk import desk
from tests.site.probe.probing import check, probe, report
from tests.site.probe.site import FERRIES, HOME, NODES, harbour


class Endless(dict[str, str]):
    """Every path is a node, and links to ten more."""

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and not path.startswith("/prosa-probe")

    def __getitem__(self, path: str) -> str:
        name = path.replace("/", ".")
        links = " ".join(f"[x]({path.rstrip('/')}/{number})" for number in range(10))
        return f"---\nid: n{name}\ntype: page\ntitle: T\n---\n{links}\n"


def test_a_site_without_end_is_probed_to_the_limit():
    with harbour("no-indexes", nodes=Endless()) as site:
        whole = report(site.url, "--max-pages", "30")
        asked = {path for _, path, _ in site.asked if not path.endswith((".md", ".json"))}
    assert whole["pages"] == 30
    assert len(asked) < 40
    assert whole["conformant"] is True
    assert any("more paths were not requested" in note for note in whole["notes"])
    assert check(whole, "declared-links-lead-to-nodes")["status"] == "not-applicable"
    assert len(check(whole, "links-lead-to-nodes")["evidence"]) == 10
    assert check(whole, "links-lead-to-nodes")["more"] > 10


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("/circle", "redirects more than"),
        ("/huge", "sent more than"),
        ("/broken", "broke off the exchange"),
        ("/packed", "sent a compressed answer"),
    ],
)
def test_a_link_to_an_ill_behaved_page_is_a_finding(link: str, said: str):
    nodes = NODES | {"/": HOME + f"\n[there]({link})\n"}
    with harbour(nodes=nodes) as site:
        whole = report(site.url, "--max-size", "100KB")
    found = check(whole, "links-lead-to-nodes")
    assert found["status"] == "failed" and said in found["evidence"][0]["message"]
    assert found["evidence"][0]["line"] == 14


def test_a_redirect_to_another_site_is_not_followed():
    """X8."""
    with harbour(nodes={"/": "---\nid: a\ntype: b\ntitle: c\n---\nnothing\n"}) as other:
        nodes = NODES | {"/": HOME + "\n[away](/away)\n"}
        with harbour(f"away={other.url}", nodes=nodes) as site:
            whole = report(site.url)
        assert other.asked == []
    noticed = [each["message"] for each in check(whole, "links-lead-to-nodes")["evidence"]]
    assert "the link `/away` leads to a redirect to another site" in noticed


def test_a_redirect_within_the_site_is_followed_and_links_start_where_it_leads():
    """HA6."""
    deep = "---\nid: deep\ntype: page\ntitle: Deep\n---\n[beside](beside)\n"
    beside = "---\nid: beside\ntype: page\ntitle: Beside\n---\nHere.\n"
    nodes = NODES | {"/": HOME + "\n[moved](/moved)\n", "/inner/deep": deep, "/inner/beside": beside}
    with harbour("no-indexes", nodes=nodes) as site:
        whole = report(site.url)
        asked = {path for _, path, _ in site.asked}
    assert "/inner/beside" in asked
    assert check(whole, "links-lead-to-nodes")["status"] == "passed"


def test_markdown_that_is_not_utf_8_is_a_finding():
    with harbour(nodes=NODES | {"/ferries": b"---\nid: x\ntype: y\ntitle: \xe4\n---\n"}) as site:
        found = check(report(site.url), "markdown-for-every-node")
    assert found["status"] == "failed"
    assert [each["message"] for each in found["evidence"]] == ["its Markdown is not UTF-8"]


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif"])
def test_nothing_that_a_site_sends_reaches_a_terminal(form: str):
    wild = FERRIES.replace("[home](/)", "[home](/\u202ered)").replace("method: POST", 'method: "\\e[2J\\aPOST"')
    with harbour("no-indexes", nodes=NODES | {"/ferries": wild}) as site:
        status, at = probe(site.url, "--format", form)
    assert status == 1
    assert "\x1b" not in at.out and "\x07" not in at.out
    assert "\u202e" not in at.out or form in ("json", "sarif")
    if form == "junit":
        failures = ElementTree.fromstring(at.out.encode()).iter("failure")
        assert [each.get("type") for each in failures] == ["links-lead-to-nodes", "complete-actions"]


@pytest.mark.parametrize(
    ("nodes", "faults", "said"),
    [
        ({}, (), "the answer is 404"),
        ({"/": "# Only Markdown\n"}, (), "its Markdown has no front matter"),
        (
            {"/": HOME},
            ("html-only", "no-file-forms"),
            "is not an MDH node: asked for Markdown, the answer is text/html",
        ),
        ({"/": HOME}, ("gone-away",), "on another origin"),
    ],
)
def test_what_is_no_site_is_said_in_words(nodes: dict[str, str], faults: tuple[str, ...], said: str):
    with harbour(*faults, nodes=nodes) as site:
        status, at = probe(site.url)
    assert (status, at.out) == (1, "")
    assert at.err.startswith("error: ") and said in at.err


def test_a_site_that_does_not_run_is_said_in_words():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    status, at = probe(f"http://127.0.0.1:{port}/")
    assert (status, at.out) == (1, "")
    assert "cannot be reached" in at.err
    for flags in ((), ("--discovery",)):
        at = desk()
        assert main(["probe", f"http://127.0.0.1:{port}/", "--format", "json", *flags], at.console) == 1
        error = json.loads(at.err)
        assert (error["error"], error["retry"]) == ("site-failed", True)


@pytest.mark.parametrize("url", ["http://", "https://a b/", "http://user:pw@127.0.0.1/", "http://[::1"])
def test_what_is_no_url_is_wrong_use(url: str):
    status, at = probe(url)
    assert status == 2 and at.err.startswith("error: the URL ")


def test_private_addresses_need_permission():
    """X8."""
    status, at = probe("http://10.255.255.1/")
    assert status == 1 and "a private or loopback address" in at.err


def test_the_same_site_gives_the_same_report():
    with harbour("no-map", "no-vary") as site:
        first, second = (probe(site.url, "--call-reads", "--format", "json")[1].out for _ in range(2))
    assert first == second


def test_an_etag_that_cannot_be_sent_back_is_not_sent():
    with harbour("odd-etag") as site:
        whole = report(site.url)
    assert check(whole, "not-modified")["status"] == "not-applicable"
    assert check(whole, "etag-for-each-form")["status"] == "failed"


def test_a_site_of_plain_files_keeps_every_must():
    """H7, H8: without negotiation the Markdown is still there."""
    home = "---\nid: home\ntype: page\ntitle: Home\n---\n[hours](hours.md), [home](/)\n"
    hours = "---\nid: hours\ntype: page\ntitle: Hours\n---\nNine to five.\n"
    with harbour("files-only", "no-indexes", nodes={"/": home, "/hours": hours}) as site:
        whole = report(f"{site.url}/index.md")
        html = report(site.url)
    for each in (whole, html):
        assert each["conformant"] is True
        assert check(each, "negotiates-json")["status"] == "failed"
        assert check(each, "json-agrees")["status"] == "not-applicable"


def test_a_large_site_is_asked_in_every_form_only_in_part():
    pages = {f"/p{number}": f"---\nid: p{number}\ntype: page\ntitle: P\n---\nHere.\n" for number in range(30)}
    home = HOME + " ".join(f"[p](p{number})" for number in range(30)) + "\n"
    with harbour(nodes={"/": home, **pages, "/ferries": FERRIES}) as site:
        whole = report(site.url)
        heads = [path for method, path, _ in site.asked if method == "HEAD" and not path.endswith(".png")]
    assert whole["conformant"] and len(heads) == 20
    assert "20 of 32 nodes were requested in every form" in whole["notes"]
