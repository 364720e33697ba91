"""Which page of another generator belongs to which document: by the pages that are there (X40)."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.site.beside import beside

MKDOCS = {
    "index.md": ("index.html", "/"),
    "guide/README.md": ("guide/index.html", "/guide/"),
    "guide/pier.md": ("guide/pier/index.html", "/guide/pier/"),
}
FLAT = {
    "index.md": ("index.html", "/"),
    "guide/index.md": ("guide/index.html", "/guide/"),
    "guide/pier.md": ("guide/pier.html", "/guide/pier"),
}
DOCUSAURUS = {
    "intro.md": ("docs/index.html", "/docs/", {"slug": "/"}),
    "01-basics/02-first_steps.md": ("docs/basics/first_steps/index.html", "/docs/basics/first_steps/"),
    "01-basics/index.md": ("docs/basics/index.html", "/docs/basics/"),
    "guides/guides.md": ("docs/guides/index.html", "/docs/guides/"),
    "guides/a.md": ("docs/guides/other/index.html", "/docs/guides/other/", {"slug": "other"}),
    "guides/b.md": ("docs/guides/own.html", "/docs/guides/own", {"id": "own"}),
    "7.0-notes.md": ("docs/7.0-notes/index.html", "/docs/7.0-notes/"),
}
HUGO = {
    "_index.md": ("index.html", "/"),
    "Posts/_index.md": ("posts/index.html", "/posts/"),
    "Posts/My First.md": ("posts/my-first/index.html", "/posts/my-first/"),
    "Posts/bundle/index.md": ("posts/bundle/index.html", "/posts/bundle/"),
    "Posts/x.md": ("posts/y/index.html", "/posts/y/", {"slug": "y"}),
    "methods/page/Page.md": ("methods/page/page/index.html", "/methods/page/page/"),
    "methods/page/_index.md": ("methods/page/index.html", "/methods/page/"),
    "z.md": ("old/place/index.html", "/old/place/", {"url": "/old/place/"}),
}


@pytest.mark.parametrize("site", [MKDOCS, FLAT, DOCUSAURUS, HUGO], ids=["mkdocs", "flat", "docusaurus", "hugo"])
def test_x40_each_document_has_the_page_that_was_made_of_it(site: dict[str, tuple[Any, ...]]) -> None:
    documents = {path: each[2] if len(each) > 2 else {} for path, each in site.items()}
    pages = [*(each[0] for each in site.values()), "404.html", "tags/index.html", "search/index.html"]
    found = beside(documents, pages)
    assert found.urls == {path: each[1] for path, each in site.items()}
    assert found.missing == {}


def test_x40_what_has_no_page_of_its_own_is_named() -> None:
    documents: dict[str, dict[str, Any]] = {"index.md": {}, "README.md": {}, "draft.md": {"draft": True}}
    found = beside(documents, ["index.html", "other/index.html"])
    assert found.urls == {"index.md": "/"}
    assert found.missing == {
        "README.md": "its page 'index.html' is that of 'index.md'",
        "draft.md": "no page of the site is made of it",
    }
    assert beside(documents, []).urls == {}
    odd: dict[str, dict[str, Any]] = {"a.md": {"slug": "../../etc", "url": 5, "id": ["x"]}}
    assert beside(odd, ["etc/index.html", "a.html"]).urls == {"a.md": "/a"}
