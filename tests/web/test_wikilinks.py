"""What the graph resolved is what a reader sees (Y21, YA21, HA22, X23): wikilinks, embeds, callouts in every form."""

from __future__ import annotations

import json
import re

from prosa.render.page.excerpts import MAX_QUOTES
from prosa.render.page.obsidian import UNRESOLVED
from tests.depth import DEEP
from tests.render.page.elements import Tree, tree
from tests.web.conftest import Serve

PNG = b"\x89PNG\r\n\x1a\n"
VAULT = {".obsidian/app.json": "{}"}
ALPHA = (
    "# Alpha\n\nSee [[Beta|the beta page]], [[Beta#The way]], [[Beta#^b1]], [[beta]] and ![[pic.png|300]].\n\n"
    "`[[Beta]]` and [[Nope|gone]].\n\n```\n[[Beta]]\n```\n"
)
MANY = 10_000 if DEEP else 2_000
"""Embeds of a page that quotes far fewer of them."""

BETA = "# Beta\n\n## The way\n\nThe way is long. ^b1\n"


def page(served: object, url: str) -> Tree:
    """The page at a URL as elements."""
    return tree(served.get(url, "text/html").text)  # type: ignore[attr-defined]


def markdown(served: object, url: str) -> str:
    """The text below the front matter of the Markdown form."""
    text: str = served.get(url, "text/markdown").text  # type: ignore[attr-defined]
    return text.partition("\n---\n")[2]


def test_ya21_wikilinks_are_links_to_pages(serve: Serve) -> None:
    site = serve({**VAULT, "Alpha.md": ALPHA, "notes/Beta.md": BETA, "files/pic.png": PNG})
    article = page(site, "/Alpha")
    hrefs = {each.text: each.get("href") for each in article.all("a") if "article" in each.inside}
    assert hrefs["the beta page"] == "/notes/Beta"
    assert hrefs["Beta > The way"] == "/notes/Beta#the-way"
    assert hrefs["Beta > ^b1"] == "/notes/Beta#%5Eb1"
    picture = article.one("img", src="/files/pic.png")
    assert (picture["width"], picture["alt"]) == ("300", "pic.png")
    gone = article.one("span", class_="missing")
    assert (gone.text, gone["title"]) == ("gone", UNRESOLVED)
    assert [each.text for each in article.all("code")] == ["[[Beta]]", "[[Beta]]\n"]
    assert page(site, "/notes/Beta").one("span", id="^b1").text == ""
    assert "^b1" not in page(site, "/notes/Beta").one("article").text


def test_ha22_agents_get_ordinary_links_and_nothing_else_changes(serve: Serve) -> None:
    site = serve({**VAULT, "Alpha.md": ALPHA, "notes/Beta.md": BETA, "files/pic.png": PNG})
    expected = (
        "# Alpha\n\nSee [the beta page](/notes/Beta), [Beta > The way](/notes/Beta#the-way), "
        "[Beta > ^b1](/notes/Beta#%5Eb1), [beta](/notes/Beta) and ![pic.png](/files/pic.png).\n\n"
        "`[[Beta]]` and gone.\n\n```\n[[Beta]]\n```\n"
    )
    assert markdown(site, "/Alpha") == expected
    assert json.loads(site.get("/Alpha", "application/json").text)["body"] == expected
    assert site.get("/Alpha?raw=1").text == ALPHA


def test_ha22_outside_a_vault_brackets_that_name_nothing_stay_as_written(serve: Serve) -> None:
    text = "# A\n\nCall it `x` or [[nodiscard]], [[0]], [[ -f x ]] or [[B]].\n"
    site = serve({"A.md": text, "B.md": "# B\n"})
    assert markdown(site, "/A") == text.replace("[[B]]", "[B](/B)")
    shown = page(site, "/A")
    assert "[[nodiscard]], [[0]], [[ -f x ]] or B" in shown.one("article").text
    assert [each.text for each in shown.all("span", class_="missing")] == ["[[nodiscard]]"]


def test_y21_a_record_keeps_its_text_which_its_hash_is_of(serve: Serve) -> None:
    text = "---\nymj_spec: 1.0.0\ndoc_summary: x\n---\nSee [[Beta]].\n"
    site = serve({"a.ymj": text, "Beta.md": BETA})
    assert "See [[Beta]]." in markdown(site, "/a.ymj")
    links = [each.text for each in page(site, "/a.ymj").all("a", href="/Beta") if "article" in each.inside]
    assert links == ["Beta"]


def test_ya21_an_embedded_note_is_quoted(serve: Serve) -> None:
    site = serve(
        {
            **VAULT,
            "A.md": "# A\n\nBefore ![[B]] after\n\n- ![[B#Two]]\n\n![[B#^x]]\n\n[![[B]]](/B)\n\n# H ![[B]]\n",
            "B.md": "# B\n\nFirst *text* with [[C]] and [up](sub/D.md).\n\n## Two\n\nSecond. ^x\n\n%% hidden %%\n",
            "C.md": "# C\n",
            "sub/D.md": "# D\n",
        }
    )
    shown = page(site, "/A")
    quotes = shown.all("blockquote", class_="embed")
    assert len(quotes) == 3
    assert "First text with C" in quotes[0].text and "Second." in quotes[0].text and "^x" not in quotes[0].text
    assert "First" not in quotes[1].text and "Second." in quotes[1].text
    assert quotes[2].text.split() == ["B", "Second."]
    assert "hidden" not in shown.one("article").text
    assert {each.get("href") for each in shown.all("a") if "blockquote" in each.inside} >= {"/B", "/C", "/sub/D"}
    ids = [each["id"] for each in shown.elements if each.get("id")]
    assert len(ids) == len(set(ids))
    assert [each.text for each in shown.all("h1")] == ["A #", "H B #"]
    assert [each.text for each in shown.elements if each.tag in ("h3", "h4")] == ["B", "Two", "Two"]


def test_x23_what_is_not_published_cannot_be_told_from_what_is_not_there(serve: Serve) -> None:
    text = "# A\n\n[[N]] ![[N]] [[N#x|l]] ![[N#^b]] ![[N.png]] [[N.pdf]] ![[notes/N|300]]\n"
    site = serve(
        {
            **VAULT,
            "A.md": text.replace("N", "Hidden"),
            "B.md": text.replace("N", "Absent").replace("# A", "# B"),
            "notes/Hidden.md": "---\nvisibility: private\n---\n# Secret word\n\ntext ^b\n",
            ".x/Hidden.png": PNG,
            "Hidden.pdf": PNG,
            ".gitignore": "*.pdf\n",
        }
    )
    hidden, absent = (site.get(url, "text/html").text for url in ("/A", "/B"))
    assert hidden.count('class="missing"') == 7
    assert "Secret" not in hidden
    assert _article(hidden).replace("Hidden", "Absent").replace("A", "B") == _article(absent).replace("A", "B")
    assert markdown(site, "/A").replace("Hidden", "Absent").replace("# A", "# B") == markdown(site, "/B")
    assert markdown(site, "/B").startswith("# B\n\nAbsent Absent l Absent > ^b Absent.png Absent.pdf notes/Absent")


def _article(page_html: str) -> str:
    found = re.search(r'<div class="text">.*?</article>', page_html, re.DOTALL)
    assert found is not None
    return found[0]


def test_x23_a_quoted_document_that_is_hidden_later_is_gone_at_once(serve: Serve) -> None:
    site = serve({"A.md": "# A\n\n![[B]]\n", "B.md": "# B\n\nquoted word\n"})
    assert "quoted word" in site.get("/A", "text/html").text
    assert "quoted word" in site.get("/A", "text/html").text
    (site.root / "B.md").write_text("---\nclassification: secret\n---\n# B\n\nquoted word\n")
    assert "quoted word" not in site.get("/A", "text/html").text


def test_embeds_in_circles_and_by_the_thousand_are_bounded(serve: Serve) -> None:
    ring = {f"r{at}.md": f"# R{at}\n\nring {at}\n\n![[r{(at + 1) % 3}]] ![[r{(at + 2) % 3}]]\n" for at in range(3)}
    site = serve({**ring, "many.md": "![[leaf]]\n\n" * MANY, "leaf.md": "# Leaf\n\nleaf\n"})
    shown = page(site, "/r0")
    assert 1 < len(shown.all("blockquote", class_="embed")) <= 8
    many = page(site, "/many")
    assert len(many.all("blockquote", class_="embed")) == MAX_QUOTES < MANY / 4
    assert len([each for each in many.all("a", href="/leaf") if "article" in each.inside]) == MANY


def test_notes_that_embed_one_another_many_times_make_no_large_page(serve: Serve) -> None:
    tree_of = {f"n{at}.md": f"![[n{at + 1}]]\n\n" * 20 for at in range(6)}
    site = serve({**tree_of, "n6.md": "word " * 20_000})
    assert len(site.get("/n0", "text/html").body) < 2_000_000


def test_embeds_that_cannot_be_quoted_are_not_looked_for_without_end(serve: Serve) -> None:
    """Thousands of embeds of parts that are not there, of a large document, are links."""
    headings = "".join(f"## Part {at}\n\nx\n\n" for at in range(5_000))
    site = serve({"A.md": "".join(f"![[big#none {at}]]\n\n" for at in range(MANY)), "big.md": headings})
    shown = page(site, "/A")
    assert len([each for each in shown.all("a") if "article" in each.inside]) == MANY
    assert shown.all("blockquote") == []


def test_h8_static_files_lead_to_files_of_their_form(serve: Serve) -> None:
    from prosa.web.static import built_files

    site = serve({**VAULT, "Alpha.md": ALPHA, "notes/Beta.md": BETA, "files/pic.png": PNG})
    files = {each.path: each.content.decode("utf-8", "replace") for each in built_files(site.app.web)}
    assert "notes/Beta.html#the-way" in files["Alpha.html"]
    assert "notes/Beta.md#the-way" in files["Alpha.md"]
    assert "notes/Beta.md#the-way" in json.loads(files["Alpha.json"])["body"]
    assert "files/pic.png" in files["Alpha.html"]
    assert files["Alpha.md"].count("[[") == ALPHA.count("`[[") + ALPHA.count("\n[[") == 2


def test_ya21_a_wikilink_leads_to_the_heading_that_obsidian_means(serve: Serve) -> None:
    """YA21: Obsidian writes a heading without its marks and with the target of a wikilink in it."""
    beta = "## _corollary:_ [[Alpha|the _deep_ one]]\n\nDeep.\n\n## A: b/c\n\n## Same\n\n## Same\n"
    links = "[[Beta#_corollary _ Alpha the _deep_ one]] [[#Own: *one*]] [[Beta#A b c]] [[Beta#Same]] [[Beta#None]]"
    embed = "![[Beta#_corollary _ Alpha the _deep_ one]]"
    site = serve({**VAULT, "Alpha.md": f"{links}\n\n{embed}\n\n## Own: *one*\n", "Beta.md": beta})
    found = page(site, "/Alpha")
    hrefs = [each.get("href") for each in found.all("a") if each.get("class") == "" and "p" in each.inside]
    assert hrefs[:5] == ["/Beta#corollary-the-deep-one", "#own-one", "/Beta#a-bc", "/Beta#same", "/Beta#none"]
    assert found.one("blockquote", class_="embed").text.strip().endswith("Deep.")
    assert {each.get("id") for each in page(site, "/Beta").all("h2")} >= {"corollary-the-deep-one", "a-bc", "same"}


def test_agents_get_addresses_mathematics_tags_and_files_as_they_were_written(serve: Serve) -> None:
    text = (
        "See https://a.example and me@b.example, $a_{1}\\,b$ #tag.\n\n$$\n- c\n$$\n\n"
        "```json a.jsonl\n{}\n```\n\n<table><tr><td>x</td></tr></table>\n"
    )
    site = serve({**VAULT, "A.md": text})
    assert markdown(site, "/A") == text
    assert json.loads(site.get("/A", "application/json").text)["body"] == text
    shown = page(site, "/A")
    assert [each["href"] for each in shown.all("a") if each.get("href").startswith(("https:", "mailto:"))][:2] == [
        "https://a.example",
        "mailto:me@b.example",
    ]
    assert [each.text for each in shown.all("li", class_="tag")] == ["tag"]
