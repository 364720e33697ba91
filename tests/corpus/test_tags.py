"""Tags in the text of notes (YA21): what Obsidian calls one, in a vault and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.cli.main import main
from prosa.document import parse
from prosa.document.tags import inline_tags
from prosa.source import SourceText
from tests.cli.desk import desk
from tests.render.page.elements import tree
from tests.render.page.sample import html_of
from tests.work import is_quick


def tags(text: str) -> list[str]:
    return [*inline_tags(parse(SourceText(text)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#travel and #travel/2026, #to-do. #snake_case!", ["travel", "travel/2026", "to-do", "snake_case"]),
        ("(#bracket) **#bold** _#i_ \"#quoted\" '#single'", ["bracket", "bold", "i_", "quoted", "single"]),
        ("#a\n#b\n\n- #c\n> #d\n\n| #e |\n|---|\n\n## On #f", ["a", "b", "c", "d", "e", "f"]),
        ("#1984 and #y1984 and #1-2 and #1/a", ["y1984", "1-2", "1/a"]),
        ("#café #日本語 #हिन्दी #標籤，後 #Ünï/códe", ["café", "日本語", "हिन्दी", "標籤", "Ünï/códe"]),
        ("#a.b #c,d #e:f #g#h #i's #j@k", ["a", "c", "e", "g", "i", "j"]),
        ("x#y a/#b \\#c &#35; ##d # e #", []),
        ("#tag #tag #Tag", ["tag", "Tag"]),
        ("`#a` ``#b``\n\n```\n#c\n```\n\n    #d\n", []),
        ("[#a](x) [x](#b) [[#c]] [[n#d]] <a href='#e'>x</a> <!-- #f --> ![#g](h)", []),
        ("https://a.example/#b and www.c.example/ #d", ["d"]),
        ("[e]: #f\n\n$\\#a$ $$\n#b\n$$ %% #c %% #d", ["d"]),
        ("#a/ #b/c/", ["a", "b/c"]),
    ],
)
def test_ya21_tags_are_those_of_obsidian(text: str, expected: list[str]):
    assert tags(text) == expected


@given(st.text(alphabet="#ab1/-_ .,`$%[](){}\n\\é", max_size=60))
def test_ya21_a_tag_stands_in_the_text_with_its_sign_in_front(text: str):
    for name in tags(text):
        assert f"#{name}" in text
        assert not name.isdecimal() and not any(each.isspace() for each in name)
        assert not {*name} & {*"#.,`$%[](){}\\"}


@pytest.mark.parametrize("sign", ["#", "#a ", "#a", "%%", "%% #a ", "#1", "#/"])
def test_x2_tags_are_found_in_linear_time(sign: str):
    document = parse(SourceText(sign * 50_000))
    assert is_quick(lambda: inline_tags(document), 3)


FILES = {
    "Boat.md": "---\ntags: [travel]\n---\nSlow, but #cheap/really. #travel\n",
    "Train.md": "Fast. #travel\n\n```\n#code\n```\n",
    "Prices.md": "Ten euros. #1984\n",
}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_text(text)
    monkeypatch.chdir(root)
    return root


def said(*words: str) -> str:
    found = desk(environ={"PROSA_CACHE_DIR": str(Path.cwd().parent / "cache")})
    assert main([*words], found.console) == 0, found.err
    return found.out


def test_ya21_a_search_finds_notes_by_the_tags_in_their_text(vault: Path):
    assert said("search", "--tag", "travel", "--files", "").split() == ["Boat.md", "Train.md"]
    assert said("search", "--tag", "cheap/really", "--files", "").split() == ["Boat.md"]
    assert said("search", "--where", "tag = travel", "--files", "").split() == ["Boat.md", "Train.md"]
    rows = json.loads(
        said("query", "SELECT path, text FROM metadata WHERE key = 'tag' ORDER BY 1, 2", "--format", "json")
    )
    assert [(each["path"], each["text"]) for each in rows["rows"]] == [
        ("Boat.md", "cheap/really"),
        ("Boat.md", "travel"),
        ("Train.md", "travel"),
    ]


def test_ya21_outside_of_a_vault_a_number_sign_is_no_tag(vault: Path):
    (vault / ".obsidian").rmdir()
    (vault / ".git").mkdir()
    assert said("search", "--tag", "travel", "--files", "").split() == ["Boat.md"]


def test_ya21_pages_list_the_tags_in_the_text_beside_those_of_the_front_matter(vault: Path):
    said("build", ".", "../out")
    page = tree((vault.parent / "out/Boat.html").read_text())
    assert [each.text for each in page.all("li", class_="tag")] == ["travel", "cheap/really"]
    assert "#cheap/really" in page.one("article").text
    assert (vault.parent / "out/Boat.md").read_text().endswith(FILES["Boat.md"].split("---\n")[2])


def test_a_tag_on_a_served_page_leads_to_what_has_it():
    page = tree(html_of("---\ntags: [a b, '#c\"d']\n---\nText.\n"))
    links = [each.get("href") for each in page.all("a") if each.inside[-1] == "li" and "tag%3A" in each.get("href")]
    assert links == ["/mdh/search?q=tag%3A%22a%20b%22", "/mdh/search?q=tag%3A%22c%20d%22"]
