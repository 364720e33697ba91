"""Completion, one line per case: `¦` marks the offset, and the labels are expected in this order."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.app.editor.candidates import MOST, Completion, Completions
from prosa.app.editor.complete import complete
from tests.depth import examples

FILES = {
    "prosa.toml": '[schemas]\n"posts/*.md" = "post.json"\n\n[relations]\nparent-note = "parent"\n',
    "post.json": json.dumps(
        {
            "type": "object",
            "required": ["title"],
            "properties": {
                "title": {"type": "string", "description": "What it is called"},
                "status": {"enum": ["draft", "published", "no"]},
                "author": {"type": "object", "properties": {"name": {"type": "string"}, "team": {"const": "docs"}}},
                "weight": {"type": "integer", "default": 3},
                "tags": {"type": "array", "items": {"enum": ["x", "y: z"]}},
            },
        }
    ),
    "guide/Setup.md": "---\ntitle: Setting up\naliases: [Install, Get started]\n---\n# Setting up\n\n## First steps\n\n"
    "A step. ^one\n\n## Next `code` & more\n",
    "guide/deep/Notes.md": "# Notes\n",
    "other/Notes.md": "# Other notes\n",
    "other/a b.md": "# Blank\n",
    "img/plug.png": "",
    "triage.md": "---\nname: triage\ndescription: Sorts.\ninput:\n  properties:\n    text: {type: string}\n"
    "output:\n  type: object\n  properties:\n    kind: {enum: [bug, wish]}\n---\n{{ .text }}\n",
    "plan.mda": "---\ndoc-id: plan-1\ntitle: The plan\n---\n# Plan\n\nText[^a].\n\n"
    '[^a]: `{"rel-type": "inspired-by", "doc-id": "other-2", "rel-desc": "x"}`\n',
    "other.mda": "---\ndoc-id: other-2\ntitle: The other\n---\n# Other\n",
    "site/index.md": "---\nid: home\ntype: page\ntitle: Home\nlinks:\n  - {rel: leads_to, target: books}\n---\n",
    "site/books.md": "---\nid: books\ntype: page\ntitle: Books\nactions: [{id: find, method: GET, url: /api}]\n---\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("corpus").resolve()
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Workspace.open(root, CheckOptions(), {})


def completed(workspace: Workspace, name: str, marked: str) -> tuple[Completions, str]:
    """The completions at the mark of a text that is not saved, and the text without it."""
    offset = marked.index("¦")
    text = marked.replace("¦", "")
    path = workspace.root / name
    before = workspace.texts.get(path)
    workspace.put(path, text)
    try:
        return complete(workspace, path, offset), text
    finally:
        workspace.put(path, before)


def labels(workspace: Workspace, name: str, marked: str) -> list[str]:
    return [each.label for each in completed(workspace, name, marked)[0].items]


def applied(workspace: Workspace, name: str, marked: str, label: str) -> str:
    found, text = completed(workspace, name, marked)
    (item,) = [each for each in found.items if each.label == label]
    return text[: item.edit.start] + item.edit.text + text[item.edit.end :]


PROGRAM = (
    "---\nname: p\ndescription: d\ninput:\n  type: object\n  properties:\n    name: {type: string}\n"
    "    items: {type: array, items: {type: object, properties: {id: {type: integer, description: The number}}}}\n"
    "  required: [name]\noutput: {type: object}\n---\n"
)


@pytest.mark.parametrize(
    ("name", "marked", "expected"),
    [
        # front matter by dialect
        ("p.md", "---\nname: p\noutput: {}\nin¦\n---\n", ["input"]),
        ("p.md", "---\nname: p\noutput: {}\nimports: []\nli¦\n---\n", ["limits"]),
        ("p.md", "---\nname: p\noutput: {}\nlimits:\n  to¦\n---\n", ["tool_result", "tool_calls", "output_tokens"]),
        ("p.md", "---\nname: p\nimports: []\nmcp_servers:\n  - name: a\n    tr¦\n", ["transport"]),
        (
            "p.md",
            "---\nname: p\nimports: []\nmcp_servers:\n  - name: a\n    transport: ¦\n",
            ["auto", "stdio", "streamable-http", "sse"],
        ),
        ("p.md", "---\nname: p\nimports: []\nmcp_servers: [{name: a, disabled: ¦}]\n---\n", ["true", "false"]),
        ("p.md", "---\nname: p\nimports: []\nmcp_servers:\n  - name: ¦\n---\n", ["python-interpreter"]),
        ("p.md", "---\nname: p\noutput: {}\nmail¦\n---\n", ["mailbox"]),
        ("p.md", "---\nname: p\noutput: {}\nmailbox: ¦\n---\n", ["true", "false"]),
        ("p.md", "---\nname: p\noutput: {}\nmailbox:\n  ¦\n---\n", ["name", "send", "expires"]),
        ("p.md", "---\nname: p\nimports:\n  - {path: x.md, wa¦}\n---\n", ["wait"]),
        ("p.md", "---\nname: p\nimports:\n  - path: tri¦\n---\n", ["./triage.md"]),
        ("p.md", "---\nname: p\ninput:\n  ty¦\noutput: {}\n---\n", ["type", "contentMediaType", "propertyNames"]),
        ("p.md", "---\nname: p\ninput:\n  type: obj¦\noutput: {}\n---\n", ["object"]),
        ("p.md", "---\nname: p\ninput:\n  properties:\n    a: {format: da¦}\n---\n", ["date", "date-time"]),
        ("p.md", "---\nname: p\ninput:\n  properties:\n    a: {}\n    b: {}\n  required: [¦]\n---\n", ["a", "b"]),
        ("p.md", "---\nname: p\ninput:\n  $defs:\n    c: {}\n  items: {$ref: ¦}\n---\n", ["#/$defs/c"]),
        ("p.md", "---\nname: p\ninput:\n  properties:\n    ¦\n---\n", []),
        ("p.md", "---\nname: p\nbroken: [\ninput:\n  properties:\n    a:\n      typ¦\n---\n",
         ["type", "contentMediaType"]),
        ("x.mda", "---\npub¦\n---\n", ["published-date"]),
        ("x.md", "---\nid: a\ntype: page\ntitle: A\nactions:\n  - id: b\n    method: p¦\n---\n",
         ["POST", "PUT", "PATCH"]),
        ("x.md", "---\nid: a\ntype: page\nactions:\n  - auth: {type: ¦}\n---\n",
         ["none", "bearer", "api_key", "cookie", "oauth2"]),
        ("site/x.md", "---\nid: a\ntype: page\nlinks:\n  - rel: le¦\n---\n", ["leads_to"]),
        ("site/x.md", "---\nid: a\ntype: page\nactions:\n  - id: ¦\n---\n", ["find"]),
        ("x.mda", '```ai-script\n{"provider": "ant¦"}\n```\n', ["anthropic"]),
        ("site/x.md", "---\nid: a\ntype: page\nlinks:\n  - target: ¦\n---\n", ["books", "home", "url:"]),
        ("site/x.md", "---\nid: a\ntype: page\nlinks:\n  - target: url:/b¦\n---\n", ["url:/books"]),
        ("x.ymj", "---\ndoc_summary: a\nclassification: ¦\n---\n", ["public", "internal", "confidential", "secret"]),
        ("x.ymj", '---\nkind: note\n---\nText\n\n```json\n{"ops": {"priority": "¦"}}\n```\n',
         ["low", "normal", "high"]),
        ("x.ymj", '---\nkind: note\n---\nText\n\n```json\n{"sch¦"}\n```\n', ["schema", "schema_uri"]),
        ("skills/x/SKILL.md", "---\nname: x\nall¦\n---\n", ["allowed-tools"]),
        ("skills/x/SKILL.md", "---\nname: x\narg¦\n---\n", ["argument-hint"]),
        (".claude/agents/x.md", "---\nto¦\n---\n", ["tools", "disallowedTools"]),
        ("x.instructions.md", "---\nap¦\n---\n", ["applyTo"]),
        ("x.test.md", "---\ntests: ¦\n---\n", ["./triage.md"]),
        ("x.test.md", "---\ntests: triage.md\n---\n## A\n\n```yaml input\nte¦\n```\n", ["text"]),
        ("x.test.md", "---\ntests: triage.md\n---\n## A\n\n```yaml expect\nkind: ¦\n```\n", ["bug", "wish"]),
        ("x.test.md", "---\ntests: triage.md\n---\n## A\n\n```yaml expect\nkind: {one¦}\n```\n", ["one-of"]),
        ("x.test.md", "---\ntests: triage.md\n---\n## A\n\n```yaml run\ntools: {c¦}\n```\n", ["called", "not-called"]),
        ("x.md", "---\nname: x\ndescription: y\noutp¦\n---\n", ["output"]),
        # cases and requests of skills
        ("s/evals/evals.json", '{"skill_name": "s", "ev¦"}', ["evals"]),
        ("s/evals/evals.json", '{"evals": [{"id": 1, "pro¦"}]}', ["prompt"]),
        ("s/evals/evals.json", '{"evals": [{"assertions": [{"not¦"}]}]}', ["not-contains"]),
        ("s/evals/triggers.json", '[{"query": "x", "¦"}]', ["should_trigger", "expected_skill"]),
        ("s/evals/triggers.json", '[{"should_trigger": ¦}]', ["true", "false"]),
        # a bound schema, relations of the project
        ("posts/a.md", "---\nsta¦\n---\n", ["status"]),
        ("posts/a.md", "---\n¦\n---\n", ["title", "status", "author", "weight", "tags", "aliases", "parent-note"]),
        ("posts/a.md", "---\nstatus: ¦\n---\n", ["draft", "published", "no"]),
        ("posts/a.md", "---\nauthor:\n  ¦\n---\n", ["name", "team"]),
        ("posts/a.md", "---\nauthor: {team: ¦}\n---\n", ["docs"]),
        ("posts/a.md", "---\ntags:\n  - ¦\n---\n", ["x", "y: z"]),
        ("x.md", "---\nparent-note: Se¦\n---\n", ["Setup"]),
        # MAGI
        ("x.mda", '# A\n\n```ai-script\n{"pri¦"}\n```\n', ["priority"]),
        ("x.mda", '# A\n\n```ai-script\n{"priority": "¦"}\n```\n', ["high", "medium", "low"]),
        ("x.mda", 'A[^b]\n\n[^b]: `{"rel-type": "¦"}`\n',
         ["citation", "parent", "child", "related", "contradicts", "supports", "extends", "inspired-by"]),
        ("x.mda", 'A[^b]\n\n[^b]: `{"rel-type": "parent", "doc-id": "¦"}`\n', ["other-2", "plan-1"]),
        ("x.mda", 'A[^b]\n\n[^b]: `{"doc-id": "the pl¦"}`\n', ["plan-1"]),
        ("x.mda", 'A[^b]\n\n[^b]: {"rel¦\n', ["rel-type", "rel-desc", "rel-strength"]),
        ("x.mda", 'A[^b]\r\n\r\n[^b]: {"rel-type": "parent",\r\n  "rel-d¦\r\n', ["rel-desc"]),
        ("x.mda", 'A[^b]\n\n[^b]: {"rel-type": "parent"}\n\n"rel-d¦\n', []),
        ("x.mda", "```¦\n", ["ai-script"]),
        # templates
        ("p.md", f"{PROGRAM}{{{{ .na¦", ["name"]),
        ("p.md", f"{PROGRAM}{{{{ .¦ }}}}", ["name", "items"]),
        ("p.md", f"{PROGRAM}{{{{ range .items }}}}{{{{ .¦", ["id"]),
        ("p.md", f"{PROGRAM}{{{{ range $i, $e := .items }}}}{{{{ $e.¦", ["id"]),
        ("p.md", f"{PROGRAM}{{{{ range $i, $e := .items }}}}{{{{ $¦", ["$e", "$i"]),
        ("p.md", f"{PROGRAM}{{{{ .name | up¦", ["upper"]),
        ("p.md", f"{PROGRAM}{{{{ ra¦", ["range"]),
        ("p.md", f"{PROGRAM}{{{{ define \"row\" }}}}{{{{ end }}}}{{{{ template \"¦\" }}}}", ["row"]),
        ("p.md", f"{PROGRAM}```\n{{{{ .na¦ }}}}\n```\n", ["name"]),
        ("p.md", PROGRAM.replace("output: {", "output: [") + "{{ .na¦", ["name"]),
        # wikilinks
        ("x.md", "[[set¦", ["Setup"]),
        ("x.md", "[[inst¦", ["Install"]),
        ("x.md", "[[not¦", ["other/Notes", "guide/deep/Notes"]),
        ("other/x.md", "[[not¦", ["other/Notes", "guide/deep/Notes"]),
        ("x.md", "[[Setup#¦]]", ["Setting up", "First steps", "Next code & more"]),
        ("x.md", "[[Setup#Fi¦", ["First steps"]),
        ("x.md", "[[Setup#^¦", ["one"]),
        ("x.md", "[[Setup^¦]]", ["one"]),
        ("x.md", "# Own\n\n[[#¦", ["Own"]),
        ("x.md", "![[plu¦", ["plug.png"]),
        ("x.md", "```\n[[set¦\n```\n", []),
        # links
        ("x.md", "[a](gui¦", ["guide/Setup.md", "guide/deep/Notes.md"]),
        ("guide/x.md", "[a](../other/¦)", ["../other/Notes.md", "../other/a b.md"]),
        ("guide/x.md", "[a](./de¦)", ["./deep/Notes.md"]),
        ("x.md", "[a](guide/Setup.md#fi¦)", ["First steps"]),
        ("x.md", "# Own\n\n[a](#¦)", ["Own"]),
        ("x.md", "![a](img/¦)", ["img/plug.png"]),
        ("x.md", "[a](/gui¦)", ["/guide/Setup.md", "/guide/deep/Notes.md"]),
        ("site/x.md", "---\nid: a\ntype: page\n---\n[a](/bo¦)", ["/books"]),
        ("x.md", "[a]: gui¦", ["guide/Setup.md", "guide/deep/Notes.md"]),
        ("x.md", "[a][b¦]\n\n[bar]: x\n[foo]: y\n", ["bar"]),
        ("x.md", "A[^n¦\n\n[^note]: Words.\n", ["note"]),
        ("x.md", "[a](https://exa¦)", []),
        # programs, tools
        ("p.md", "---\nname: p\nimports:\n  - ¦\n---\n", ["./triage.md"]),
        ("guide/p.md", "---\nname: p\nimports: [../tr¦]\n---\n", ["../triage.md"]),
        ("p.md", "---\nname: p\nimports: []\nmcp_servers: [{name: git, command: x}]\n---\nUse mcp__¦", ["mcp__git__"]),
        ("p.md", "---\nname: p\nimports: []\nmcp_servers: [{name: git, tools: [{name: log}]}]\n---\nUse mcp__¦",
         ["mcp__git__log"]),
        ("p.md", "---\nname: p\nimports: []\nmcp_servers:\n  - name: a\n    tools:\n      - des¦\n", ["description"]),
        ("p.md", "---\nname: p\nimports: [./triage.md]\n---\nUse `¦", ["python", "triage"]),
        ("p.md", "---\nname: p\nimports: [./triage.md]\n---\nUse `tri¦`", ["triage"]),
        ("x.md", "Use `¦", []),
        # suppressions and settings
        ("x.md", "<!-- prosa-ignore unresolved-w¦ -->\n", ["unresolved-wikilink"]),
        ("x.md", "---\na: 1 # prosa-ignore unresolved-w¦\n---\n", ["unresolved-wikilink"]),
        ("x.md", "<!-- pro¦", ["prosa-ignore", "prosa-ignore-file"]),
        ("prosa.toml", 'ignore = ["unresolved-w¦"]\n', ["unresolved-wikilink"]),
        ("prosa.toml", "str¦\n", ["strict"]),
        ("prosa.toml", '[dialects]\n"a/*.md" = "ma¦"\n', ["magi", "markdownlang"]),
        ("prosa.toml", '[schemas]\n"a/*.md" = "¦"\n', ["post.json"]),
        ("prosa.toml", '[per-glob."a/*.md"]\nsel¦\n', ["select"]),
        ("prosa.toml", "[rel¦\n", ["relations"]),
        # chats
        ("x.md", "### @user:\n\nHi\n\n### @as¦\n", ["assistant"]),
        ("x.md", "### @user/Ada:\n\nHi\n\n### @user/¦\n", ["Ada"]),
        ("x.md", "% tem¦\n\n### @user:\n", ["temperature"]),
        ("x.md", "% stream = ¦\n\n### @user:\n", ["true", "false"]),
        ("x.md", "% include gui¦\n\n### @user:\n", ["guide/Setup.md", "guide/deep/Notes.md"]),
        ("x.md", "% responder.new me ko¦\n\n### @user:\n", ["koboldcpp.text"]),
        # nothing
        ("x.md", "Words ¦\n", []),
        ("x.md", "¦", []),
    ],
)  # fmt: skip
def test_x30_completion_offers_what_may_stand_there(workspace: Workspace, name: str, marked: str, expected: list[str]):
    assert labels(workspace, name, marked) == expected


@pytest.mark.parametrize(
    ("name", "marked", "label", "expected"),
    [
        ("p.md", "---\nname: p\noutput: {}\nin¦\n---\n", "input", "---\nname: p\noutput: {}\ninput:\n---\n"),
        ("p.md", "---\nname: p\noutput: {}\nmo¦: x\n---\n", "model", "---\nname: p\noutput: {}\nmodel: x\n---\n"),
        ("x.ymj", "---\nclassification:¦\n---\n", "secret", "---\nclassification: secret\n---\n"),
        ("x.ymj", "---\nclassification: 'se¦'\n---\n", "secret", "---\nclassification: 'secret'\n---\n"),
        ("x.ymj", "---\nclassification: pub¦lic # why\n---\n", "public", "---\nclassification: public # why\n---\n"),
        ("posts/a.md", "---\nstatus: ¦\n---\n", "no", '---\nstatus: "no"\n---\n'),
        ("posts/a.md", "---\ntags: [¦]\n---\n", "y: z", '---\ntags: ["y: z"]\n---\n'),
        ("x.mda", '```ai-script\n{¦}\n```\n', "prompt", '```ai-script\n{"prompt": }\n```\n'),
        ("x.mda", '```ai-script\n{"pr¦"}\n```\n', "prompt", '```ai-script\n{"prompt": }\n```\n'),
        ("x.mda", '```ai-script\n{"pr¦": 1}\n```\n', "prompt", '```ai-script\n{"prompt": 1}\n```\n'),
        ("x.mda", '```ai-script\n{"pr¦, "a": 1}\n```\n', "prompt", '```ai-script\n{"prompt": , "a": 1}\n```\n'),
        ("x.mda", '```ai-script\n{"priority": ¦}\n```\n', "low", '```ai-script\n{"priority": "low"}\n```\n'),
        ("x.mda", '```ai-script\n{"priority": "l¦\n```\n', "low", '```ai-script\n{"priority": "low"\n```\n'),
        ("x.md", "[[se¦ and", "Setup", "[[Setup]] and"),
        ("x.md", "[[se¦t and [[b]]", "Setup", "[[Setup]] and [[b]]"),
        ("x.md", "[[se¦t up]] and", "Setup", "[[Setup]] and"),
        ("x.md", "[[se¦]] and", "Setup", "[[Setup]] and"),
        ("x.md", "[[se¦|label]]", "Setup", "[[Setup|label]]"),
        ("x.md", "[[inst¦]]", "Install", "[[Setup|Install]]"),
        ("x.md", "[[Setup#fi¦", "First steps", "[[Setup#First steps]]"),
        ("x.md", "[a](guide/Setup.md#fi¦)", "First steps", "[a](guide/Setup.md#first-steps)"),
        ("x.md", "[a](oth¦er/x.md)", "other/a b.md", "[a](other/a%20b.md)"),
        ("p.md", f"{PROGRAM}{{{{ .na¦me }}}}", "name", f"{PROGRAM}{{{{ .name }}}}"),
        ("p.md", f"{PROGRAM}{{{{ ¦ }}}}", ".name", f"{PROGRAM}{{{{ .name }}}}"),
        ("x.md", "### @as¦\n\n### @user:\n", "assistant", "### @assistant:\n\n### @user:\n"),
        ("x.md", "A[^n¦\n\n[^note]: Words.\n", "note", "A[^note]\n\n[^note]: Words.\n"),
        ("prosa.toml", "ignore = [¦]\n", "unresolved-wikilink", 'ignore = ["unresolved-wikilink"]\n'),
    ],
)  # fmt: skip
def test_a_completion_takes_the_place_of_what_is_typed(
    workspace: Workspace, name: str, marked: str, label: str, expected: str
):
    assert applied(workspace, name, marked, label) == expected


def test_an_item_says_what_it_is(workspace: Workspace):
    (item,) = completed(workspace, "posts/a.md", "---\ntit¦\n---\n")[0].items[:1]
    assert (item.kind, item.detail, item.documentation) == ("field", "string, required", "What it is called")
    (item,) = completed(workspace, "p.md", f"{PROGRAM}{{{{ range .items }}}}{{{{ .i¦")[0].items
    assert (item.kind, item.detail, item.documentation) == ("input", "integer", "The number")
    (item,) = completed(workspace, "x.md", "[[Setu¦")[0].items
    assert (item.detail, item.about) == ("Setting up · guide/Setup.md", workspace.root / "guide/Setup.md")
    assert item.filter.startswith("Setup")


def test_before_the_corpus_is_read_the_document_itself_speaks(tmp_path: Path):
    path = tmp_path.resolve() / "x.md"
    path.write_text("", encoding="utf-8")
    (tmp_path / "other.md").write_text("# Other\n", encoding="utf-8")
    workspace = Workspace.begin(tmp_path, CheckOptions(), {})
    assert labels(workspace, "x.md", "# Own\n\n[[#¦") == ["Own"]
    assert labels(workspace, "x.md", "---\nname: p\ninput: {}\noutpu¦\n---\n") == ["output"]
    assert labels(workspace, "x.md", "[[¦") == []


def test_never_more_than_two_hundred_items_and_then_there_are_more(tmp_path: Path):
    root = tmp_path.resolve()
    for number in range(MOST + 20):
        (root / f"note{number:03}.md").write_text(f"# Note {number}\n", encoding="utf-8")
    workspace = Workspace.open(root, CheckOptions(), {})
    found, _ = completed(workspace, "note000.md", "[[¦")
    assert len(found.items) == MOST and found.incomplete
    found, _ = completed(workspace, "note000.md", "[[note01¦")
    assert len(found.items) == 10 and not found.incomplete


def test_a_document_that_is_called_otherwise_is_offered_so_at_once(tmp_path: Path):
    root = tmp_path.resolve()
    (root / "a.md").write_text("---\ntitle: One\n---\n", encoding="utf-8")
    (root / "b.md").write_text("", encoding="utf-8")
    workspace = Workspace.open(root, CheckOptions(), {})
    assert labels(workspace, "b.md", "[[two¦") == []
    workspace.update(root / "a.md", "---\ntitle: Two\n---\n")
    assert labels(workspace, "b.md", "[[two¦") == ["a"]


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
            "[[",
            "]]",
        ),
        *("](", ")", "#", "^", "|", "```json\n", "```ai-script\n", "```", '"', "'", ".", "$x", "% ", "### @", "/", ":"),
        *(
            "<!-- prosa-ignore ",
            "-->",
            "[^a]: ",
            "rel-type",
            "id: a\n",
            "type: page\n",
            "é",
            "😀",
            "\ufeff",
            "\0",
            "=",
            "(",
        ),
    ]
)


@pytest.mark.parametrize("name", ["x.md", "x.mda", "x.ymj", "x.test.md", "SKILL.md", "prosa.toml"])
@given(st.lists(_PIECES, max_size=30).map("".join), st.integers(0, 150))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_text_and_no_offset_fail_and_what_is_around_stays(workspace: Workspace, name: str, text: str, offset: int):
    offset = min(offset, len(text))
    found, plain = completed(workspace, name, f"{text[:offset]}¦{text[offset:]}")
    assert len(found.items) <= MOST
    start, end = _line_of(plain, offset)
    for item in found.items:
        _check(item, offset, start, end, workspace.root / posixpath.normpath(name))


def _line_of(text: str, offset: int) -> tuple[int, int]:
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    ends = [at for at in (text.find("\n", offset), text.find("\r", offset)) if at >= 0]
    return start, min(ends, default=len(text))


def _check(item: Completion, offset: int, start: int, end: int, path: Path) -> None:
    """A change of one line, around the offset, of this document, by text on one line."""
    assert item.edit.path == path
    assert start <= item.edit.start <= offset <= item.edit.end <= end
    assert not {"\n", "\r"} & set(item.edit.text)
    assert item.label and item.sort
