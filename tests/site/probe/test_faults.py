"""One fault, and exactly the checks that it must fail: in what a server does, and in what nodes say."""

from __future__ import annotations

import pytest

from prosa.site.probe.report import CHECKS
from tests.site.probe.probing import check, failing, probe, report
from tests.site.probe.site import FERRIES, HOME, NODES, harbour

SERVER: dict[str, set[str]] = {
    "html-only": {"negotiates-markdown", "negotiates-json", "markdown-by-default", "never-406"},
    "plain-type": {"negotiates-markdown"},
    "no-json": {"negotiates-json"},
    "json-drifts": {"json-agrees"},
    "substring": {"respects-q-values", "html-for-people"},
    "html-by-default": {"markdown-by-default"},
    "sends-406": {"never-406"},
    "no-vary": {"vary-accept"},
    "head-differs": {"head-like-get"},
    "never-the-same": {"same-bytes-twice", "not-modified"},
    "no-cache-headers": {"cache-headers"},
    "no-etag": {"cache-headers"},
    "never-304": {"not-modified"},
    "one-etag": {"etag-for-each-form"},
    "no-store": {"pages-may-be-stored"},
    "soft-404": {"missing-pages-answer-404"},
    "json-404": {"missing-pages-answer-404"},
    "stale-index": {"indexes-agree"},
    "lost-node": {"markdown-for-every-node", "indexes-agree"},
    "no-map": {"links-lead-to-nodes"},
    "broken-read": {"reads-answer"},
    "flat-envelope": {"listing-envelope"},
    "no-indexes": {"has-indexes"},
    "no-llms": {"has-llms-txt"},
    "no-file-forms": {"file-forms"},
    "no-html": {"html-for-people"},
    "open-html": {"html-is-guarded"},
    "old-index": {"skills-index"},
    "wrong-digest": {"skills-as-listed"},
    "catalog-as-json": {"api-catalog"},
    "no-operations": {"openapi"},
    "nameless-card": {"mcp-server-card"},
    "empty-full": {"has-llms-full-txt"},
    "odd-signal": {"content-signals"},
    "unlinked": {"discovery-is-linked"},
}

NODE: dict[str, tuple[str, str, set[str]]] = {
    "no title": ("title: Ferries\n", "", {"front-matter-in-every-node"}),
    "an empty type": ("type: page\n", "type: ''\n", {"front-matter-in-every-node"}),
    "a taken id": ("id: ferries", "id: harbour", {"unique-ids", "declared-links-lead-to-nodes", "indexes-agree"}),
    "a dead link": ("[home](/)", "[home](/hom)", {"links-lead-to-nodes"}),
    "a relative link that is dead": ("[home](/)", "[home](./old/../hom)", {"links-lead-to-nodes"}),
    "no method": ("    method: POST\n", "", {"complete-actions"}),
    "an unknown method": ("method: POST", "method: FETCH", {"complete-actions"}),
    "no url": ("    url: /api/seats\n", "", {"complete-actions"}),
    "no id": ("  - id: seats.take\n    method", "  - method", {"complete-actions"}),
    "an action that is a word": ("actions:\n", "actions:\n  - call\n", {"complete-actions"}),
    "another site": ("url: /api/seats", "url: https://other.example/seats", {"actions-stay-on-the-site"}),
    "one id twice": ("id: seats.take", "id: sailings.list", {"one-meaning-per-action-id"}),
    "no auth": ("    auth: {type: none}\n", "", {"auth-on-every-action"}),
    "an unknown auth": ("{type: none}", "{type: magic}", {"readable-contracts"}),
    "no csrf": ("    csrf: send the token of the form as X-CSRF-Token\n", "", {"csrf-documented"}),
    "a get that takes": ("id: sailings.list", "id: seats.reserve", {"reads-by-get"}),
    "no cursor": ("next_cursor_jsonpath: $.page.next_cursor", "prev_cursor_jsonpath: $.p", {"followable-pagination"}),
    "a path that is none": ("$.page.next_cursor", "$..next", {"readable-contracts"}),
    "an unknown target": ("id: ferries", "id: boats", {"declared-links-lead-to-nodes"}),
    "aliases that are a text": ("title: Ferries\n", "title: Ferries\naliases: {a: b}\n", {"well-formed-fields"}),
}


@pytest.mark.parametrize("fault", SERVER)
def test_h8_ha7_hw1_hw2_a_fault_of_a_server_fails_its_checks(fault: str):
    """H8, H21e, HA7, H18, HW1, HW2."""
    with harbour(fault) as site:
        assert failing(site.url, "--call-reads") == SERVER[fault]


@pytest.mark.parametrize("fault", NODE)
def test_h21_ha13_ha14_ha20_a_fault_of_a_node_fails_its_checks(fault: str):
    """H21, HA5, HA13, HA14, HA20, HW9."""
    old, new, expected = NODE[fault]
    assert FERRIES.count(old) == 1
    with harbour(nodes=NODES | {"/ferries": FERRIES.replace(old, new)}) as site:
        assert failing(site.url) - _told_twice(fault) == expected


def _told_twice(fault: str) -> set[str]:
    """An action without its id or method is missing from its index too."""
    return {"indexes-agree"} if fault in ("no method", "no url", "no id", "one id twice") else set()


def test_h21_a_site_that_does_everything_passes_everything():
    """H21, H21e, HW9."""
    with harbour() as site:
        status, at = probe(site.url, "--call-reads", "--strict")
        whole = report(site.url, "--call-reads")
    assert (status, whole["conformant"], whole["score"]) == (0, True, 100)
    assert {each["status"] for each in whole["checks"]} == {"passed"}
    assert len(whole["checks"]) == len(CHECKS)
    assert "every MUST holds" in at.out


def test_x40_any_site_is_judged_by_what_agents_look_for():
    """X40: a site without nodes is none for the other checks."""
    with harbour("files-only", nodes={}) as site:
        status, at = probe(site.url, "--discovery")
        assert (status, "✗ failed: the first page leads to these files" in at.out) == (1, True)
        assert "help: send `Link` headers" in at.out
        assert {method for method, _, _ in site.asked} == {"GET"}
        assert probe(site.url)[0] == 1
    with harbour("wrong-digest") as site:
        status, at = probe(site.url, "--discovery")
        assert (status, "its digest is sha256:" in at.out) == (1, True)
    with harbour() as site:
        assert probe(site.url, "--discovery")[0] == 0
    assert probe("docs", "--discovery")[0] == 2


def test_every_check_can_fail():
    expected = set().union(*SERVER.values(), *(each for _, _, each in NODE.values()))
    drift = {"copies-agree"}  # its fault needs two nodes, see below
    assert {each.id for each in CHECKS} == expected | drift


def test_hw8_copies_of_an_action_that_drift_are_found():
    """HW8, HA13."""
    copy = HOME.replace(
        "links:\n", "actions:\n  - {id: seats.take, method: POST, url: /api/seats, auth: {type: none}}\nlinks:\n"
    )
    with harbour(nodes=NODES | {"/": copy}) as site:
        assert failing(site.url) == {"copies-agree"}


def test_ha5_links_to_actions_and_files_are_noticed_and_nothing_else_is_asked_for():
    """HA5, H21: images, code and other sites are left alone; an action is not called by a probe."""
    with harbour() as site:
        found = check(report(site.url), "links-lead-to-nodes")
        asked = {path for _, path, _ in site.asked}
        methods = {method for method, _, _ in site.asked}
    assert [each["message"] for each in found["evidence"]] == [
        "the link `map.png` leads to a file, not to a node",
        "the link `/api/sailings` leads to the URL of an action, not to a node",
    ]
    assert not {"/api/sailings", "/api/seats", "/no-such-picture.png", "/no-such-code"} & asked
    assert methods == {"GET", "HEAD"}


def test_reads_are_called_only_when_asked_for_and_changes_never():
    with harbour() as site:
        found = report(site.url)
        assert "/api/sailings" not in {path for _, path, _ in site.asked}
        report(site.url, "--call-reads")
        asked = [path for _, path, _ in site.asked]
    assert {check(found, name)["status"] for name in ("reads-answer", "listing-envelope")} == {"not-applicable"}
    assert asked.count("/api/sailings") == 1 and "/api/seats" not in asked


def test_a_probe_sends_no_credential():
    """X8."""
    with harbour() as site:
        report(site.url, "--call-reads")
        names = set().union(*(headers for _, _, headers in site.asked))
    assert not names & {"authorization", "cookie", "x-api-key"}


def test_a_failed_must_keeps_the_score_below_half():
    with harbour("no-map") as site:
        status, at = probe(site.url)
        whole = report(site.url)
    assert (status, whole["conformant"], whole["score"]) == (1, False, 49)
    assert "1 MUST does not hold" in at.out and "✗ failed: every inline link" in at.out


def test_strict_asks_for_every_should():
    with harbour("no-vary") as site:
        assert probe(site.url)[0] == 0
        assert probe(site.url, "--strict")[0] == 1
