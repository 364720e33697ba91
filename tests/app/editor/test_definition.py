"""A definition is where what stands at the cursor is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.app.editor.definition import definitions
from tests.app.editor.marked import marked, opened

GUIDE = "---\naliases: [Handbook]\n---\n# The guide\n\ntext\n\n## Two parts\n\nA line. ^mark\n\n## Twice\n\n## Twice\n"
NOTE = "---\ndoc-id: id-one\ntitle: One\n---\n# One\n"
PROGRAM = """---
name: triage
description: sorts
imports: [./other.md]
input:
  type: object
  required: [name]
  properties:
    name: {type: string}
    sub: {type: object, properties: {deep: {type: string}}}
    all: {type: array, items: {type: object, properties: {label: {type: string}}}}
---
BODY
"""
OTHER = "---\nname: helper\ndescription: x\ninput: {}\n---\ntext\n"

CASES = {
    "link": ({"a.md": "see [the gu|ide](guide.md)"}, ["guide.md:1"]),
    "destination with a heading": ({"a.md": "see [x](gui|de.md#two-parts)"}, ["guide.md:8 Two parts"]),
    "second of two headings": ({"a.md": "[x](guide.md#twice-1|)"}, ["guide.md:14 Twice"]),
    "page of a site": ({"sub/a.md": "[x](../gui|de.html)"}, ["guide.md:1"]),
    "link in a list in a quotation": ({"a.md": "> - [x](gu|ide.md)"}, ["guide.md:1"]),
    "image": ({"a.md": "![x](pic|.png)", "pic.png": ""}, ["pic.png:1"]),
    "html": ({"a.md": '<a href="gu|ide.md">x</a>'}, ["guide.md:1"]),
    "wikilink": ({"a.md": "[[gui|de]]"}, ["guide.md:1"]),
    "wikilink by another name": ({"a.md": "[[Hand|book]]"}, ["guide.md:1"]),
    "heading of a wikilink": ({"a.md": "[[guide#Two par|ts]]"}, ["guide.md:8 Two parts"]),
    "block of a wikilink": ({"a.md": "[[guide#^ma|rk]]"}, ["guide.md:10 A line. ^mark"]),
    "embed": ({"a.md": "![[gu|ide]]"}, ["guide.md:1"]),
    "attachment anywhere": ({"a.md": "![[pi|c.png]]", "deep/pic.png": ""}, ["deep/pic.png:1"]),
    "own heading": ({"a.md": "# Here\n\n[x](#he|re)"}, ["a.md:1 Here"]),
    "own heading in a wikilink": ({"a.md": "# Here\n\n[[#He|re]]"}, ["a.md:1 Here"]),
    "id of a relationship": (
        {"n.mda": '---\ntitle: N\n---\nx[^1]\n\n[^1]: `{"rel-type": "cites", "doc-id": "id-|one", "rel-desc": "x"}`\n'},
        ["one.mda:2 id-one"],
    ),
    "footnote": ({"a.md": "x[^no|te]\n\n[^note]: text\n"}, ["a.md:3 note"]),
    "label": ({"a.md": "[text][la|bel]\n\n[Label]: guide.md\n"}, ["a.md:3 Label"]),
    "text of a labelled link": ({"a.md": "[te|xt][label]\n\n[label]: guide.md#two-parts\n"}, ["guide.md:8 Two parts"]),
    "destination of a label": ({"a.md": "[text][label]\n\n[label]: gu|ide.md\n"}, ["guide.md:1"]),
    "import": ({"p.md": PROGRAM.replace("./other", "./oth|er")}, ["other.md:1"]),
    "imported tool by its name": ({"p.md": PROGRAM.replace("BODY", "call `hel|per` now")}, ["other.md:1"]),
    "input": ({"p.md": PROGRAM.replace("BODY", "{{ .na|me }}")}, ["p.md:9 name"]),
    "input inside another": ({"p.md": PROGRAM.replace("BODY", "{{ .sub.de|ep }}")}, ["p.md:10 deep"]),
    "input of an element": (
        {"p.md": PROGRAM.replace("BODY", "{{ range $n, $x := .all }}{{ $x.lab|el }}{{ end }}")},
        ["p.md:11 label"],
    ),
    "required input": ({"p.md": PROGRAM.replace("required: [name]", "required: [na|me]")}, ["p.md:9 name"]),
    "variable": ({"p.md": PROGRAM.replace("BODY", "{{ $x := .name }}{{ $|x }}")}, ["p.md:13 $x"]),
    "inner variable": (
        {"p.md": PROGRAM.replace("BODY", "{{ $x := 1 }}\n{{ if true }}\n{{ $x := 2 }}{{ $|x }}{{ end }}")},
        ["p.md:15 $x"],
    ),
    "outer variable again": (
        {"p.md": PROGRAM.replace("BODY", "{{ $x := 1 }}\n{{ if true }}\n{{ $x := 2 }}{{ end }}{{ $|x }}")},
        ["p.md:13 $x"],
    ),
    "reference of a schema to a file": (
        {"p.md": PROGRAM.replace("sub: {type: object, ", "sub: {$ref: './s|ub.json', "), "sub.json": "{}"},
        ["sub.json:1"],
    ),
    "file of a skill": (
        {
            "skills/x/SKILL.md": "---\nname: x\ndescription: y\n---\nRun `scripts/ru|n.py`.\n",
            "skills/x/scripts/run.py": "",
        },
        ["skills/x/scripts/run.py:1"],
    ),
    "include of a chat": ({"c.md": "### @user:\n\n% include gui|de.md\n\nhi\n"}, ["guide.md:1"]),
    "node by its id": (
        {
            "index.md": "---\nid: home\ntype: page\ntitle: H\nlinks: [{rel: up, target: sec|ond}]\n---\n",
            "second.md": "---\nid: second\ntype: page\ntitle: S\n---\n",
        },
        ["second.md:2 second"],
    ),
    "node by its url": (
        {
            "index.md": "---\nid: home\ntype: page\ntitle: H\n---\n[x](/sec|ond)",
            "second.md": "---\nid: second\ntype: page\ntitle: S\n---\n",
        },
        ["second.md:1"],
    ),
    "action of a node": (
        {
            "index.md": "---\nid: home\ntype: page\ntitle: H\n"
            "actions:\n  - {id: find, method: GET, url: /api/find}\n---\n[x](/api/fi|nd)",
        },
        ["index.md:6 find"],
    ),
    "script of a result": (
        {
            "n.mda": '---\ntitle: N\n---\n```ai-script\n{"script-id": "s1", "prompt": "p"}\n```\n\n'
            '<!-- ai-result {"script-id": "s|1", "sha256": "x"} -->\nt\n<!-- /ai-result -->\n',
        },
        ['n.mda:5 "s1"'],
    ),
    "who is spoken to in a chat": (
        {"c.md": "### @assistant/Ann:\n\nhi\n\n### @user:\n\nDear @a|nn.\n\n### @assistant/Ann:\n\nyes\n"},
        ["c.md:1 Ann"],
    ),
    "field that the project names": (
        {"a.md": "---\nup: Hand|book\n---\n", "prosa.toml": '[relations]\nup = "parent"\n'},
        ["guide.md:1"],
    ),
    "stem in a record": (
        {"t.ymj": "---\nkind: note\ndoc_summary: x\n---\n[[gu|ide]]\n"},
        ["guide.md:1"],
    ),
    "ambiguous": (
        {"z/a.md": "[[tw|in]]", "x/twin.md": "# T\n", "y/twin.md": "# T\n"},
        ["x/twin.md:1", "y/twin.md:1"],
    ),
    "outside the root": ({"a.md": "[x](../../../etc/pas|swd)"}, []),
    "nowhere": ({"a.md": "[x](go|ne.md)"}, []),
    "address": ({"a.md": "[x](https://exam|ple.org/guide.md)"}, []),
    "plain text": ({"a.md": "not|hing"}, []),
}


@pytest.mark.parametrize("name", CASES)
def test_x30_the_definition_of_what_stands_at_the_cursor(name: str, tmp_path: Path) -> None:
    texts, expected = CASES[name]
    at = marked(tmp_path, {"guide.md": GUIDE, "one.mda": NOTE, "other.md": OTHER, **texts})
    found = definitions(at.workspace, at.path, at.offset)
    assert [at.show(each.name) for each in found] == expected
    assert all(each.origin.path == at.path and each.origin.start <= each.origin.end for each in found)


def test_a_link_says_its_own_place_and_the_section_that_it_means(tmp_path: Path) -> None:
    at = marked(tmp_path, {"guide.md": GUIDE, "a.md": "see [x](gui|de.md#two-parts)"})
    (found,) = definitions(at.workspace, at.path, at.offset)
    assert at.show(found.origin) == "a.md:1 guide.md#two-parts"
    assert at.show(found.whole) == "guide.md:8 ## Two parts⏎⏎A line. ^mark⏎⏎"


def test_names_within_a_document_are_known_before_the_corpus_is(tmp_path: Path) -> None:
    opened(tmp_path, {"a.md": "x[^note]\n\n[^note]: [x](b.md)\n", "b.md": "# B\n"})
    workspace = Workspace.begin(tmp_path.resolve(), CheckOptions(), {})
    path = workspace.root / "a.md"
    assert [each.name.start for each in definitions(workspace, path, 3)] == [12]
    assert [each.name.path.name for each in definitions(workspace, path, 24)] == ["b.md"]
