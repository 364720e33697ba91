"""Documents like another one: shared rare words, and links."""

from __future__ import annotations

from prosa.adapters.sqlite.similar import similar_in
from prosa.corpus.query import Term
from prosa.corpus.search import Search
from prosa.corpus.similar import MAX_TERMS, telling_terms
from tests.corpus.search.memory import index_of

COMMON = "The usual words of every page stand here.\n"
PAGES = {
    "kettle.md": f"# Kettle\n\n{COMMON}\nA samovar boils water for infusion.\n",
    "samovar.md": f"# Urn\n\n{COMMON}\nThe samovar keeps its infusion warm.\n",
    "cup.md": f"# Cup\n\n{COMMON}\nSee [the kettle](kettle.md).\n",
    "far.md": f"# Far\n\n{COMMON}\nNothing about it.\n",
    **{f"page{number}.md": f"# Page {number}\n\n{COMMON}\nNumber {number}.\n" for number in range(10)},
}


def linked(pages: dict[str, str], links: list[tuple[str, str]]):
    index = index_of(pages)
    for source, target in links:
        ids = [
            index.execute("SELECT id FROM document WHERE path = ?", (path,)).fetchone()[0] for path in (source, target)
        ]
        index.execute("UPDATE edge SET target_document = ? WHERE document = ?", ids[::-1])
    return index


def test_documents_that_share_rare_words_or_links_are_found():
    index = linked(PAGES, [("cup.md", "kettle.md")])
    hits = similar_in(index, "kettle.md", Search(""))
    assert sorted(hit.path for hit in hits) == ["cup.md", "samovar.md"]
    assert [hit.path for hit in similar_in(index, "cup.md", Search(""))] == ["kettle.md"]
    (shown,) = [hit for hit in hits if hit.path == "samovar.md"]
    assert [shown.snippet[start:end] for start, end in shown.marks] == ["samovar", "infusion"]


def test_filters_and_limit_hold():
    index = linked(PAGES, [("cup.md", "kettle.md")])
    assert [hit.path for hit in similar_in(index, "kettle.md", Search("", path_glob="c*.md"))] == ["cup.md"]
    assert len(similar_in(index, "kettle.md", Search("", limit=1))) == 1
    assert similar_in(index, "kettle.md", Search("", tags=("none",))) == []
    assert similar_in(index, "nowhere.md", Search("")) == []


def test_documents_that_point_at_the_same_are_alike():
    pages = {name: f"# {name}\n\n[t](t.md)\n" for name in ("a", "b", "t")}
    index = linked({f"{name}.md": text for name, text in pages.items()}, [("a.md", "t.md"), ("b.md", "t.md")])
    assert [hit.path for hit in similar_in(index, "a.md", Search(""))] == ["t.md", "b.md"]


def test_japanese_documents_are_alike_by_names():
    pages = {**PAGES, "a.md": "# 甲\n\nコンピュータの歴史資料館\n", "b.md": "# 乙\n\n歴史資料館は遠い\n"}
    assert [hit.path for hit in similar_in(index_of(pages), "b.md", Search(""))] == ["a.md"]


def test_telling_terms_are_rare_and_shared():
    spread = {"rare": 3, "common": 90, "alone": 1, "other": 5}
    terms = telling_terms(["rare common alone", "Rare other 12 x"], lambda term: spread.get(term.text, 0), 100)
    assert terms == (Term("rare"), Term("other"))
    many = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))
    assert len(telling_terms([many], lambda _: 2, 1_000)) == MAX_TERMS
