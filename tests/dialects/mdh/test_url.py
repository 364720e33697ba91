"""Where documents live and where links lead, as text alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.mdh.url import Destination, md_url, names_of, resolve
from prosa.source.url import http_origin
from tests.depth import examples


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("index.md", "/"),
        ("hours.md", "/hours"),
        ("hours.markdown", "/hours"),
        ("branches/index.md", "/branches/"),
        ("branches/north.md", "/branches/north"),
        ("my index.md", "/my%20index"),
        ("öffnung.md", "/%C3%B6ffnung"),
        ("a+b=c,d;e.md", "/a+b=c,d;e"),
        ("100%.md", "/100%25"),
        ("what?.md", "/what%3F"),
        ("notes.mda", "/notes.mda"),
        (".md", "/.md"),
    ],
)
def test_ha2_the_url_of_a_document(path: str, url: str):
    """HA2."""
    assert md_url(path) == url


def test_ha2_every_name_of_a_document():
    """HA2. An index is its folder too."""
    assert names_of("hours.md") == ("/hours", "/hours.md", "/hours.json")
    assert names_of("index.md") == ("/", "/index", "/index.md", "/index.json")
    assert names_of("a/index.md")[:3] == ("/a/", "/a", "/a/index")


@pytest.mark.parametrize(
    ("base", "href", "path"),
    [
        ("/branches/north", "south", "/branches/south"),
        ("/branches/", "south", "/branches/south"),
        ("/branches", "south", "/south"),
        ("/a/b/c", "../d", "/a/d"),
        ("/a/b/c", "..", "/a/"),
        ("/a/b/c", ".", "/a/b/"),
        ("/a/b", "../../../d", "/d"),
        ("/a", "/b/./c/../d", "/b/d"),
        ("/a", "/hours?day=1#now", "/hours"),
        ("/a/b", "?x=1", "/a/b"),
        ("/a/b", "#c", "/a/b"),
        ("/a%20b", "", "/a b"),
        ("/a", "/d%65sk", "/desk"),
        ("/a", "//other.example/b", None),
        ("/a", "https://other.example", None),
        ("/a", "mailto:a@b.example", None),
        ("/a", "tel:1", None),
        ("/a", "b:c", None),
        ("/a", "./b:c", "/b:c"),
    ],
)
def test_ha6_links_are_resolved_against_the_url_of_the_node(base: str, href: str, path: str | None):
    """HA6, HA5: RFC 3986 section 5.2, then without query and fragment."""
    found = resolve(base, href)
    assert (None if found.origin else found.path) == path


def test_an_absolute_url_keeps_its_origin():
    assert resolve("/", "HTTPS://Library.example/a/../b?c") == Destination("https://library.example", "/b")
    assert resolve("/", "https://library.example") == Destination("https://library.example", "/")
    assert http_origin("https://Library.example:8080/a") == "https://library.example:8080"
    assert http_origin("/a") == ""


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=40), st.text(max_size=60))
def test_resolving_never_fails_and_gives_absolute_paths(base: str, href: str):
    found = resolve(md_url(base), href)
    assert found.origin or found.path.startswith("/")
    assert resolve(md_url(base), href) == found


@settings(max_examples=examples(100), deadline=None)
@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_ha2_the_url_of_a_document_leads_to_it(stem: str):
    """HA2. Whatever the file is called."""
    name = f"folder/{stem}.md"
    if stem not in (".", ".."):
        assert resolve("/", md_url(name)).path in names_of(name)
