"""Hover, one line per case: `¦` marks the offset; the range that is explained and the words about it are expected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.app.editor.hover import Hover, hover, preview
from prosa.dialects.markdownlang.fields import PROGRAM as FIELDS
from tests.app.editor.test_complete import FILES, PROGRAM
from tests.depth import examples


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("corpus").resolve()
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Workspace.open(root, CheckOptions(), {})


def hovered(workspace: Workspace, name: str, marked: str) -> tuple[Hover | None, str]:
    offset, text = marked.index("¦"), marked.replace("¦", "")
    path = workspace.root / name
    before = workspace.texts.get(path)
    workspace.put(path, text)
    try:
        return hover(workspace, path, offset), text
    finally:
        workspace.put(path, before)


NODE = "---\nid: a\ntype: page\nactions:\n  - id: find\n    title: Find books\n    method: GET\n    url: /api\n---\n"


@pytest.mark.parametrize(
    ("name", "marked", "span", "words"),
    [
        ("p.md", "---\nname: p\noutput: {}\nim¦ports: []\n---\n", "imports", "a list of paths to other programs"),
        ("p.md", "---\nname: p\ninput: {}\nlimits:\n  retr¦ies: 1\n---\n", "retries", "further attempts"),
        ("p.md", "---\nname: p\ninput: {ty¦pe: object}\n---\n", "type", "string, number, integer"),
        ("p.md", "---\nname: p\ninput: {properties: {a: {format: da¦te}}}\n---\n", "date", "a date: 2026"),
        ("p.md", "---\nname: p\nbroken: [\ninput:\n  ty¦pe: object\n---\n", "type", "string, number, integer"),
        ("x.mda", "---\ndoc-¦id: x\n---\n", "doc-id", "the name by which other documents point here"),
        ("x.ymj", "---\nclassification: pub¦lic\n---\n", "public", "`classification`"),
        ("posts/a.md", "---\nti¦tle: x\n---\n", "title", "What it is called"),
        ("x.mda", '```ai-script\n{"pri¦ority": "low"}\n```\n', "priority", "high, medium"),
        ("x.mda", '```ai-script\n{"script-id": "su¦m", "prompt": "x"}\n```\n', '"sum"', "it has no result yet"),
        ("p.md", f"{PROGRAM}{{{{ .na¦me }}}}", "name", "`name` · string, required"),
        ("p.md", f"{PROGRAM}{{{{ range .items }}}}{{{{ .i¦d }}}}{{{{ end }}}}", "id", "The number"),
        ("p.md", f"{PROGRAM}{{{{ range $e := .items }}}}{{{{ $¦e }}}}{{{{ end }}}}", "e", "`.items.[]`"),
        ("p.md", f"{PROGRAM}{{{{ .name | up¦per }}}}", "upper", "the text in upper case"),
        ("p.md", f"{PROGRAM}{{{{ ra¦nge .items }}}}{{{{ end }}}}", "range", "once for each item"),
        ("x.md", "See [[Set¦up]].", "[[Setup]]", "**Setting up** · Markdown document · `guide/Setup.md`"),
        ("x.md", "See [[Setup#First st¦eps]].", "[[Setup#First steps]]", "A step"),
        ("x.md", "See [a](guide/Set¦up.md#first-steps).", "guide/Setup.md#first-steps", "**First steps**"),
        ("x.md", "# Own\n\nText.\n\n[a](#o¦wn)", "#own", "**Own**"),
        ("x.md", "![a](img/pl¦ug.png)", "img/plug.png", "`img/plug.png`"),
        ("p.md", "---\nname: p\ninput: {}\nimports: [./tri¦age.md]\n---\n", "./triage.md", "Takes:\n\n- `text` string"),
        ("plan.mda", "Text[^¦a].\n\n" + '[^a]: `{"rel-type": "parent", "doc-id": "other-2", "rel-desc": "Why"}`\n',
         "a",         "`parent` **The other** (`other.mda`)\n\nWhy"),
        ("x.md", "Text[^¦n].\n\n[^n]: Words.\n", "n", "Words."),
        ("x.mda", 'A[^a]\n\n[^a]: `{"rel-type": "parent", "doc-id": "oth¦er-2", "rel-desc": "x"}`\n',
         '"other-2"', "**The other**"),
        ("x.md", "<!-- prosa-ignore unresolved-¦wikilink -->\n", "unresolved-wikilink",
         "names a document that does not exist"),
        ("prosa.toml", 'ignore = ["MD0¦24"]\n', "MD024", "**unresolved-wikilink** · MD024"),
        ("prosa.toml", "stri¦ct = true\n", "strict", "tolerated forms are errors"),
        ("x.md", f"{NODE}".replace("id: find", "id: fi¦nd"), "find", "GET `/api`\n\nFind books"),
        ("site/x.md", "---\nid: a\ntype: page\nlinks:\n  - {rel: x, target: bo¦oks}\n---\n", "books", "**Books**"),
        ("x.md", "% temp¦erature = 0.5\n\n### @user:\n", "temperature", "In effect: `0.5`"),
        ("x.md", "% incl¦ude a.md\n\n### @user:\n", "include", "puts the text of a file here"),
    ],
)  # fmt: skip
def test_x30_hover_says_what_a_thing_is(workspace: Workspace, name: str, marked: str, span: str, words: str):
    found, text = hovered(workspace, name, marked)
    assert found is not None
    assert text[found.place.start : found.place.end] == span
    assert words in found.text


@pytest.mark.parametrize(
    ("name", "marked"),
    [("x.md", "Wo¦rds."), ("x.md", "[[nobody-kno¦ws]]"), ("x.md", "```\n[[Set¦up]]\n```"), ("x.md", "¦")],
)  # fmt: skip
def test_of_other_text_nothing_is_said(workspace: Workspace, name: str, marked: str):
    assert hovered(workspace, name, marked)[0] is None


def test_what_an_author_wrote_is_text_alone(tmp_path: Path):
    root = tmp_path.resolve()
    (root / "a.md").write_text(
        "---\ntitle: '![x](https://evil.example/p.png)'\nsummary: '<img src=x> [y](command:run)'\n---\n\n"
        "![z](https://evil.example/q.png) <script>1</script> and `code`.\n",
        encoding="utf-8",
    )
    (root / "b.md").write_text("[[a]]\n", encoding="utf-8")
    workspace = Workspace.open(root, CheckOptions(), {})
    found = hover(workspace, root / "b.md", 3)
    assert found is not None
    assert re.search(r"(?<!\\)(?:\]\(|<)", found.text) is None


def test_a_preview_of_what_is_not_there_is_empty(workspace: Workspace):
    assert preview(workspace, workspace.root / "nothing.md") == ""
    assert "First steps" in preview(workspace, workspace.root / "guide/Setup.md", "first-steps")


def test_before_the_corpus_is_read_fields_and_own_headings_are_told(tmp_path: Path):
    (tmp_path / "x.md").write_text("", encoding="utf-8")
    workspace = Workspace.begin(tmp_path.resolve(), CheckOptions(), {})
    found, _ = hovered(workspace, "x.md", "---\nname: p\nin¦put: {}\n---\n")
    assert found is not None and next(each.about for each in FIELDS if each.name == "input")[:20] in found.text


_PIECES = st.sampled_from(
    [
        *(
            "---\n",
            "\n",
            "\r\n",
            "a: ",
            "name: p\n",
            "input:\n",
            "  ",
            "- ",
            "[",
            "]",
            "{",
            "}",
            "{{",
            "}}",
            "[[Setup",
            "]]",
        ),
        *("](", ")", "#", "^", "|", "```json\n", "```ai-script\n", "```", '"', "'", ".", "$x", "% ", "### @", "/", ":"),
        *(
            "<!-- prosa-ignore ",
            "-->",
            "[^a]: ",
            "[^a]",
            "rel-type",
            "id: a\n",
            "type: page\n",
            "é",
            "😀",
            "\ufeff",
            "\0",
            "`",
        ),
    ]
)


@pytest.mark.parametrize("name", ["x.md", "x.mda", "x.ymj", "x.test.md", "SKILL.md", "prosa.toml"])
@given(st.lists(_PIECES, max_size=30).map("".join), st.integers(0, 150))
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_text_and_no_offset_fail(workspace: Workspace, name: str, text: str, offset: int):
    offset = min(offset, len(text))
    found, plain = hovered(workspace, name, f"{text[:offset]}¦{text[offset:]}")
    if found is not None:
        assert 0 <= found.place.start <= offset <= found.place.end <= len(plain)
        assert found.text.strip()
