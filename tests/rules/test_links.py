"""The links and the anchors of a document, on input that means harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.document import parse
from prosa.rules.analyse import anchors, local_links
from prosa.source import SourceText
from tests.cli.programs import prosa, user
from tests.work import is_quick

HOSTILE = {
    "attribute lists": "# {#a" + "#a" * 100_000 + "\n",
    "attribute lists with words": "# " + "{ a #b" * 50_000 + "\n",
    "escaped labels": "{#" + "\\_" * 150_000 + "\n",
    "comments that do not end": "{/*" * 100_000 + "\n",
    "comments and links": "{/**/}[a](b.md) " * 15_000 + "\n",
    "shortcodes": "# " + ":a" * 100_000 + "\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_x2_hostile_links_and_anchors_are_found_in_linear_time(text: str) -> None:
    document = parse(SourceText(text))
    assert is_quick(lambda: (anchors(document), local_links(document)), 2)
    assert len(local_links(document)) == text.count("](")


def test_anchors_are_those_of_headings_and_of_attribute_lists() -> None:
    text = "# One :star:\n\nA ^b^{#\\_fn} c {: .x #y }\n\n```css\na {b: #c}\n```\n"
    assert anchors(parse(SourceText(text))) >= {"one-star", "one", "_fn", "y"}


def test_a_document_is_no_folder(tmp_path: Path) -> None:
    """A link that ends in a slash leads nowhere, before the document is renamed as after it."""
    for name, text in {"prosa.toml": "", "a.mda": "# A\n", "b.md": "[x](a.mda/) [y](a.mda)\n"}.items():
        (tmp_path / name).write_text(text)
    _, it = prosa("check", tmp_path, "--no-cache", "--format", "json", environ=user(tmp_path))
    found = json.loads(it.out)["diagnostics"]
    assert [(each["rule"], each["message"]) for each in found] == [("unresolved-path", "`a.mda/` does not exist")]


def test_x4_a_file_is_no_folder(tmp_path: Path) -> None:
    """X4: a name with a slash at its end is a folder, whatever names it."""
    (tmp_path / "shots").mkdir()
    record = "---\nsubject: s\nattachments:\n  - uri: a.png/\n  - uri: shots/\n---\n# S\n"
    texts = {"prosa.toml": "", "a.png": "x", "empty.txt": "", "shots/c.png": "x", "r.ymj": record}
    texts["b.md"] = "![x](a.png/) [y](empty.txt/) [z](shots/) [w](a.png) [v](shots)\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    _, it = prosa("check", tmp_path, "--no-cache", "--format", "json", environ=user(tmp_path))
    found = [each["message"] for each in json.loads(it.out)["diagnostics"] if "exist" in each["message"]]
    assert found == [
        "`a.png/` does not exist",
        "`empty.txt/` does not exist",
        "the attached file `a.png/` does not exist",
    ]


def test_x4_a_name_in_another_unicode_form_is_said_to_be_one(tmp_path: Path) -> None:
    """X4: macOS and other systems write `é` as one character or as two; the message shows no difference."""
    texts = {"prosa.toml": "", "cafe\u0301.md": "# C\n", "\u00e9.md": "# E\n"}
    texts["a.md"] = "[x](caf\u00e9.md) [y](caf%C3%A9.md) [z](e\u0301.md)\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    _, it = prosa("check", tmp_path, "--no-cache", environ=user(tmp_path))
    assert it.out.count("there is `cafe\u0301.md`, which looks alike") == 2 and it.out.count("Unicode form NFD") == 2
    assert (
        it.out.count("there is `\u00e9.md`, which looks alike: its letters with marks are in the Unicode form NFC") == 1
    )


def test_x6_l28_an_import_of_an_address_is_said_to_be_no_file(tmp_path: Path) -> None:
    """X6, L28: the message does not look for the address as a file of the folder."""
    program = "---\nname: p\ndescription: d\ninput: {type: object}\noutput: {type: object}\nimports: [{}]\n---\nHi.\n"
    (tmp_path / "p.md").write_text(program.replace("{}", '"https://example.org/x.md"'))
    _, it = prosa("check", tmp_path, "--no-cache", environ=user(tmp_path))
    assert "unknown-import" in it.out and "nothing is fetched" in it.out and "looked for" not in it.out


def test_a_name_in_several_front_matters_is_told_apart_by_the_name_of_a_file(tmp_path: Path) -> None:
    """More of a path would lead nowhere: no file is called so."""
    alias = "---\naliases: [Jo]\n---\n# A\n"
    texts = {"prosa.toml": "", "a.md": alias, "b.md": alias, "x/c.md": "# C\n", "y/c.md": "# C\n"}
    texts["d.md"] = "[[a]] [[Jo]] [[c]]\n"
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    _, it = prosa("check", tmp_path, "--no-cache", environ=user(tmp_path))
    assert [line.partition("= help: ")[2] for line in it.out.splitlines() if "= help: " in line] == [
        "each of them has this as another name: write the name of a file: `[[a]]`",
        "write as much of the path as makes it one: `[[folder/name]]`",
    ]
