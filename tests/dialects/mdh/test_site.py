"""Nodes together: sites, the links between nodes, ids and actions across documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from prosa.diagnostics import Severity
from prosa.dialects.mdh.facts import corpus_facts
from prosa.rules.mdh.nodes import unresolved_inline_link
from prosa.rules.mdh.site import md_urls, sites
from prosa.rules.registry import corpus_checks
from prosa.rules.rule import Corpus, ReadFacts
from tests.dialects.mdh.documents import checked, found, node, page, reading
from tests.rules.literate import MemoryFiles
from tests.work import is_linear


def corpus(documents: dict[str, str], root: str | None = "/project", *, complete: bool = True) -> Corpus:
    """A corpus of nodes; a text that begins with `#` is a plain document."""
    entries = {}
    for name, text in documents.items():
        read = reading(text)
        plain = text.startswith("#")
        entries[Path("/project", name)] = ReadFacts(
            path=name,
            dialect="plain" if plain else "mdh",
            defs=() if plain else read.definitions(),
            extra={} if plain else corpus_facts(read.model),
        )
    files = MemoryFiles({f"/project/{name}": text for name, text in documents.items()})
    return Corpus(entries, files, Path(root) if root else None, complete)


def urls(documents: dict[str, str], root: str | None = "/project") -> dict[str, str]:
    return {real.relative_to("/project").as_posix(): url for real, url in md_urls(corpus(documents, root)).items()}


NODE = page("a")


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ({"index.md": NODE, "x/b.md": NODE}, {"index.md": "/", "x/b.md": "/x/b"}),
        ({"a.md": NODE, "x/index.md": NODE}, {"a.md": "/a", "x/index.md": "/x/"}),
        (
            {"site/index.md": NODE, "site/x/b.md": NODE, "README.md": "# r"},
            {"site/index.md": "/", "site/x/b.md": "/x/b"},
        ),
        ({"one/index.md": NODE, "two/index.md": NODE}, {"one/index.md": "/", "two/index.md": "/"}),
        (
            {"s/index.md": NODE, "s/x/index.md": NODE, "s/x/b.md": NODE},
            {"s/index.md": "/", "s/x/index.md": "/x/", "s/x/b.md": "/x/b"},
        ),
        ({"x/a.md": NODE, "y/b.md": NODE}, {"x/a.md": "/x/a", "y/b.md": "/y/b"}),
        ({"x/a.md": NODE, "y/index.md": NODE}, {"y/index.md": "/"}),
        ({"a.md": NODE}, {"a.md": "/a"}),
        ({"index.md": NODE}, {"index.md": "/"}),
        ({"a.md": "# x", "b.md": "# y"}, {}),
        ({}, {}),
    ],
)
def test_ha2_h7_documents_of_a_site_have_urls(documents: dict[str, str], expected: dict[str, str]):
    """HA2, H7. A site may live inside a repository."""
    assert urls(documents) == expected
    assert md_urls(replace(corpus(documents), rooted="guessed")) == {}


def test_ha2_a_root_that_was_given_is_the_root_of_the_site():
    """HA2. Wherever the `index.md` is."""
    together = replace(corpus({"md/index.md": NODE, "md/b.md": NODE}), rooted="given")
    assert sorted(md_urls(together).values()) == ["/md/", "/md/b"]


def test_h7_without_a_root_the_folder_of_all_documents_is_taken():
    """H7."""
    assert urls({"s/a.md": NODE, "s/x/b.md": NODE}, None) == {"s/a.md": "/a", "s/x/b.md": "/x/b"}


def test_h21_links_of_a_document_alone_are_not_resolved():
    """H21. Nobody knows what is around it."""
    assert found({"desk.md": page("desk", "[x](/nowhere)")}) == []
    assert found({"index.md": page("home", "[x](/nowhere)")}) == [("unresolved-inline-link", "/nowhere")]


def test_h21_ha5_the_targets_of_inline_links():
    """H21: MUST 3, HA5, HA6, H3. The message has the number of the conformance point."""
    documents = {
        "index.md": page(
            "home", "[a](/huors) [b](hours?x#open) [c](https://other.example/) [d](#x) `[e](/f)` ![g](/h)\n\n# x\n"
        ),
        "hours.md": page("hours", "[up](.) [away](../../index)\n\n# Open\n"),
    }
    (each,) = checked(documents)
    assert (each.rule, each.severity, each.start.line, each.notes) == (
        "unresolved-inline-link",
        Severity.ERROR,
        7,
        ("did you mean `/hours`?",),
    )
    assert "MUST 3" in each.message


def test_ha5_what_is_there_and_is_no_node_is_information():
    """HA5."""
    documents = {
        "index.md": page("home", "[a](/api/loans/7?x=1) [b](/map.svg) [c](/about) [d](/.git/config)", ACTION),
        "about.md": "# About\n",
        "map.svg": "<svg/>",
        ".git/config": "",
    }
    assert found(documents, "index.md", "about.md") == [
        ("inline-link-to-no-node", "/api/loans/7?x=1"),
        ("inline-link-to-no-node", "/map.svg"),
        ("inline-link-to-no-node", "/about"),
        ("unresolved-inline-link", "/.git/config"),
    ]


ACTION = "actions:\n  - {id: loans.show, method: GET, url: '/api/loans/{loan}', auth: {type: none}}\n"


def test_a_canonical_url_says_which_origin_is_the_site():
    documents = {
        "index.md": page("home", "[a](https://library.example/none) [b](https://library.example/desk)", CANONICAL),
        "desk.md": page("desk", "[c](https://elsewhere.example/x)", "canonical_url: https://elsewhere.example/y\n"),
    }
    assert found(documents) == [("unresolved-inline-link", "https://library.example/none")]


CANONICAL = "canonical_url: https://library.example/\n"


def test_nothing_is_unresolved_while_documents_may_be_missing():
    documents = {"index.md": page("home", "[a](/none)"), "b.md": NODE}
    assert len(list(unresolved_inline_link(corpus(documents)))) == 1
    assert list(unresolved_inline_link(corpus(documents, complete=False))) == []


def test_ha4_ha22_targets_of_front_matter_links():
    """HA4, HA22. A warning; an alias is not an id, and the note says whose it is."""
    links = "links:\n  - {rel: has, target: About b}\n  - {rel: has, target: svc:x}\n  - {rel: has, target: b}\n"
    first, second = checked({"index.md": page("home", "", links), "b.md": page("b")})
    assert (first.rule, first.severity) == ("unresolved-link-target", Severity.WARNING)
    assert "another name of the node `b`" in first.notes[0]
    assert second.source.slice(second.span) == "svc:x"


def test_ha13_h11_the_same_action_may_be_declared_twice():
    """HA13, H11, HW8. The same method and URL: allowed; another: an error; a contract that drifts: a warning."""
    same = {"index.md": page("home", "", ACTION), "b.md": page("b", "", ACTION)}
    assert found(same) == []
    other = {**same, "b.md": page("b", "", ACTION.replace("GET", "POST"))}
    assert found(other) == [("conflicting-action", "loans.show")]
    drift = {**same, "b.md": page("b", "", ACTION.replace("none", "bearer"))}
    assert found(drift) == [("drifting-action", "loans.show")]


def test_h7_h21_two_documents_at_one_url():
    """H7, H21: MUST 1."""
    documents = {"index.md": page("home"), "hours.md": page("hours"), "hours/index.md": page("times")}
    (each,) = checked(documents)
    assert (each.rule, "MUST 1" in each.message) == ("url-collision", True)


def test_ha22_h3_a_wikilink_becomes_a_link_where_one_node_is_meant():
    """HA22, H3. By id, title or alias; never where two nodes have the name."""
    documents = {
        "index.md": page("home", "[[about HOURS|when]] [[both]] ![[hours]]", "aliases: [Both]\n"),
        "hours.md": page("hours", "", "aliases: [Both]\n"),
    }
    fixes = [each.fix for each in checked(documents) if each.rule == "wikilink-in-node"]
    assert [fix.edits[0].replacement if fix else None for fix in fixes] == ["[when](/hours)", None, None]


def test_ha20_ids_of_nodes_are_unique():
    """HA20."""
    rules = [rule for rule, _ in found({"index.md": page("home"), "b.md": page("home")})]
    assert set(rules) == {"duplicate-id"}


def test_ha1_indexes_are_checked_where_they_are_and_never_asked_for():
    """HA1."""
    documents = {"index.md": page("home"), "b.md": page("b")}
    assert found(documents) == []
    index = '{"spec": "mdh/1.0", "nodes": [{"id": "home", "md_url": "/"}, {"id": "b", "md_url": "/c"}]}'
    assert found({**documents, "mdh/nodes.json": index}) == [("site-index-mismatch", "b")]
    assert found({**documents, "mdh/nodes.json": index.replace("/c", "/b")}) == []


@pytest.mark.parametrize("index", ["", "[]", "{}", '{"nodes": 5}', '{"nodes": [5]}', '{"nodes": [{"id": {}}]}', None])
@pytest.mark.parametrize("name", ["nodes", "actions"])
def test_no_index_stops_a_check(index: str | None, name: str):
    rules = {rule for rule, _ in found({"index.md": page("home"), f"mdh/{name}.json": index})}
    assert rules == {"site-index-mismatch"}


@pytest.mark.parametrize(
    ("action", "rules"),
    [
        ("method: GET, url: /a, id: rooms.book", ["state-changing-get"]),
        ("method: GET, url: /a, id: createLoan", ["state-changing-get"]),
        ("method: GET, url: /a, id: x, title: Book a room", ["state-changing-get"]),
        ("method: GET, url: /a, id: x, title: Book details", []),
        ("method: GET, url: /a, id: books.list", []),
        ("method: GET, url: /a, id: order.show", []),
        ("method: GET, url: /a, id: book", []),
        ("method: GET, url: /a, id: cancel-policy", []),
        ("method: POST, url: /a, id: rooms.book", []),
    ],
)
def test_ha19_h17_hw6_a_get_that_says_it_changes_something(action: str, rules: list[str]):
    """HA19, H17, HW6."""
    documents = {"desk.md": node(f"actions:\n  - {{{action}, auth: {{type: none}}}}\n")}
    assert [rule for rule, _ in found(documents)] == rules


@pytest.mark.parametrize(
    ("action", "body", "rules"),
    [
        ("auth: {type: cookie}", "", ["undocumented-csrf"]),
        ("auth: {type: cookie}", "A CSRF token is in the form.", []),
        ("auth: {type: cookie, csrf: X-Token}", "", []),
        ("auth: {type: bearer}", "", []),
        ("auth: {type: oauth2}", "", ["oauth2-without-token-url"]),
        ("title: none", "", ["action-without-auth"]),
    ],
)
def test_h20_ha3_ha14_h12_authentication_says_what_a_client_needs(action: str, body: str, rules: list[str]):
    """H20, HA3, HA14, H12, H21: SHOULD 6."""
    fields = f"actions:\n  - {{id: a, method: POST, url: /a, {action}}}\n"
    assert [rule for rule, _ in found({"desk.md": node(fields, body)})] == rules


def test_ha14_h21_hw8_an_action_without_auth_is_a_warning_with_its_number():
    """HA14, HW8, H21: SHOULD 6. It stays a warning under `--strict`: no form is tolerated here."""
    for strict in (None, True):
        (each,) = checked({"desk.md": node("actions: [{id: a, method: POST, url: /a}]\n")}, strict=strict)
        assert (each.severity, "SHOULD 6" in each.message) == (Severity.WARNING, True)


@pytest.mark.parametrize(
    ("pagination", "rules"),
    [
        ("response: {next_cursor_jsonpath: $.n}, request: {cursor_param: c}", []),
        ("response: {next_link_jsonpath: $.n}", []),
        ("response: {next_cursor_jsonpath: $.n}", ["pagination-without-next"]),
        ("response: {prev_cursor_jsonpath: $.n}, request: {cursor_param: c}", ["pagination-without-next"]),
        ("type: offset", ["unknown-pagination"]),
        ("response: {next_link_jsonpath: $.n}, request: {limit_param: d}", ["undeclared-pagination-parameter"]),
    ],
)
def test_ha17a_h15_pages_can_be_followed(pagination: str, rules: list[str]):
    """HA17a, H15, HA11."""
    fields = (
        f"{{id: a, method: GET, url: /a, auth: {{type: none}}, query: {{optional: [c]}}, pagination: {{{pagination}}}}}"
    )
    assert [rule for rule, _ in found({"desk.md": node(f"actions:\n  - {fields}\n")})] == rules


@pytest.mark.parametrize(
    ("url", "rules"),
    [
        ("https://pay.example/a", ["cross-origin-action"]),
        ("//pay.example/a", ["cross-origin-action"]),
        ("ftp://library.example/a", ["cross-origin-action"]),
        ("https://library.example.evil.example/a", ["cross-origin-action"]),
        ("/a", []),
    ],
)
def test_ha12_an_action_stays_on_its_site(url: str, rules: list[str]):
    """HA12, H11."""
    fields = f"{CANONICAL}actions: [{{id: a, method: POST, url: '{url}', auth: {{type: none}}}}]\n"
    assert [(each.rule, each.severity) for each in checked({"desk.md": node(fields)})] == [
        (rule, Severity.ERROR) for rule in rules
    ]


def test_x4_tolerated_forms_are_warnings_until_strict():
    """X4, HA9."""
    fields = "links: [{rel: a, target: /b}]\naction: {id: a b, method: post, url: a, auth: {type: none}}\n"
    expected = {"bare-url-target", "single-action", "identifier-form", "method-case", "relative-action-url"}
    for strict, severity in ((None, Severity.WARNING), (True, Severity.ERROR)):
        diagnostics = checked({"desk.md": node(fields)}, strict=strict)
        assert {each.rule for each in diagnostics} == expected
        assert {each.severity for each in diagnostics} == {severity}


def test_hw9a_links_ids_and_actions_are_checked():
    """HW9a."""
    documents = {
        "index.md": page("home", "[x](/none)", ACTION),
        "b.md": page("home", "", ACTION.replace("GET", "PUT")),
    }
    assert {rule for rule, _ in found(documents)} == {"unresolved-inline-link", "duplicate-id", "conflicting-action"}


def test_a_large_site_is_checked_in_linear_time():
    """Every rule of sites, over nodes with links that resolve and links that do not."""
    checks = [each.check for each in corpus_checks(frozenset({"mdh"})) if each.rule.dialect == "mdh"]

    def work(count: int) -> None:
        body = "[a](/n1) [b](n2) [c](/none) [[n3]]\n"
        together = corpus({f"n{number}.md": page(f"n{number}", body, ACTION) for number in range(count)})
        assert sum(1 for check in checks for _ in check(together)) > count

    assert is_linear(work, 100, 1500)


def test_sites_are_found_once_for_all_rules():
    together = corpus({"index.md": NODE})
    assert sites(together) is sites(together)
