"""Which documents form a site, and the URL of each (HA2, H4, X5)."""

from __future__ import annotations

import pytest

from prosa.graph.sites import Sites, sites_of
from tests.graph.corpora import bare
from tests.work import is_linear


@pytest.mark.parametrize(
    ("nodes", "given", "roots"),
    [
        ((), True, ()),
        (("a.md",), False, ("",)),
        (("x/a.md", "y/b.md"), False, ("",)),
        (("x/index.md", "x/y/index.md", "z/b.md"), False, ("x",)),
        (("x/index.md", "y/z/index.markdown"), False, ("x", "y/z")),
        (("x/Index.md", "a.md"), False, ("",)),
        (("x/index.md",), True, ("",)),
    ],
)
def test_ha2_the_root_of_a_site_is_that_of_the_corpus_or_the_highest_index(
    nodes: tuple[str, ...], given: bool, roots: tuple[str, ...]
):
    """HA2."""
    assert Sites.of(((path, "mdh") for path in nodes), given=given).roots == frozenset(roots)
    if not given:
        assert sites_of(bare(path, "mdh") for path in nodes).roots == frozenset(roots)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("x/index.md", "/"),
        ("x/a b.md", "/a%20b"),
        ("x/y/index.md", "/y/"),
        ("x/y/z.ymj", "/y/z.ymj"),
        ("x/map.png", ""),
        ("xy/a.md", ""),
        ("a.md", ""),
    ],
)
def test_ha2_every_document_of_a_site_has_a_url(path: str, url: str):
    """HA2. Whatever its dialect; outside a site there is none."""
    assert Sites(frozenset(("x",))).url_of(path) == url


def test_ha5_an_address_is_the_site_when_a_node_says_it_lives_there_at_its_own_url():
    """HA5."""
    documents = [("x/index.md", "mdh"), ("x/a.md", "mdh"), ("b.ymj", "ymj")]
    canonical = [
        ("x/a.md", "https://One.org/a"),
        ("x/index.md", "https://two.org/else"),
        ("b.ymj", "https://three.org/b"),
    ]
    made = Sites.of(documents, canonical)
    assert made.origins_of("x") == {"https://one.org"}
    assert made.origins_of("y") == frozenset()
    assert made == Sites.of(reversed(documents), reversed(canonical))


def _deep(count: int) -> None:
    made = Sites.of((f"{'d/' * (at % 20)}{at}/index.md", "mdh") for at in range(count))
    assert all(made.root_of(f"{'d/' * (at % 20)}{at}/p.md") is not None for at in range(count))


def test_ha2_sites_are_found_in_linear_work():
    """HA2."""
    assert is_linear(_deep, 1000, 4000)
