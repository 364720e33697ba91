"""What is offered is right: each item of these places, applied, is nothing that a rule complains of (X30)."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.app.check.workspace import Workspace
from prosa.app.editor.complete import complete
from tests.app.editor.marked import opened
from tests.app.editor.test_complete import FILES, PROGRAM

UNKNOWN = {
    *("unknown-field", "unknown-value", "wrong-form", "wrong-type", "unknown-schema-keyword", "bad-schema"),
    *("template-syntax", "undeclared-name", "impossible-name", "unknown-role", "unknown-action", "unknown-include"),
    *("unresolved-wikilink", "ambiguous-wikilink", "unresolved-link", "unresolved-anchor", "undefined-footnote"),
    *("unknown-doc-id", "unresolved-link-target", "unresolved-inline-link", "unresolved-relation", "unknown-rule"),
    *("schema-mismatch", "unknown-import", "unreadable-import", "unknown-record", "unknown-tested-program"),
    *("relationship-syntax", "script-syntax", "footer-syntax", "yaml-syntax", "field-name-case", "unknown-matcher"),
}

HEAD = "---\nname: p\ndescription: d\ninput: {type: object}\noutput: {type: object}\n"

PLACES = {
    "values of a server": ("p.md", f"{HEAD}mcp_servers:\n  - name: a\n    command: x\n    transport: ¦\n---\n"),
    "types": ("p.md", "---\nname: p\ndescription: d\ninput:\n  type: ¦\noutput: {type: object}\n---\n"),
    "formats": (
        "p.md",
        "---\nname: p\ndescription: d\ninput: {}\noutput:\n  properties: {a: {type: string, format: ¦}}\n---\n",
    ),
    "imports": ("guide/p.md", f"{HEAD}imports:\n  - ¦\n---\n"),
    "names of a template": ("p.md", f"{PROGRAM}{{{{ .¦ }}}}"),
    "names in a loop": ("p.md", f"{PROGRAM}{{{{ range .items }}}}{{{{ .¦ }}}}{{{{ end }}}}"),
    "wikilinks": ("guide/x.md", "[[¦]]\n"),
    "headings of a wikilink": ("guide/x.md", "[[Setup#¦]]\n"),
    "blocks of a wikilink": ("guide/x.md", "[[Setup#^¦]]\n"),
    "embeds": ("guide/x.md", "![[¦]]\n"),
    "links": ("guide/x.md", "[a](¦)\n"),
    "links from the folder above": ("guide/x.md", "[a](../¦)\n"),
    "links from the root": ("x.md", "[a](/¦)\n"),
    "links of a site": ("site/x.md", "---\nid: x\ntype: page\ntitle: X\n---\n[a](/¦)\n"),
    "images": ("guide/x.md", "![a](¦)\n"),
    "anchors": ("x.md", "[a](guide/Setup.md#¦)\n"),
    "own anchors": ("x.md", "# Own `code` & more\n\n## Own\n\n[a](#¦)\n"),
    "labels": ("x.md", "[a][¦]\n\n[foo]: guide/Setup.md\n"),
    "footnotes": ("x.md", "A[^¦]\n\n[^note]: Words.\n"),
    "ids": ("x.mda", '---\ndoc-id: x\n---\nA[^b]\n\n[^b]: `{"rel-type": "parent", "doc-id": "¦", "rel-desc": "x"}`\n'),
    "relations": (
        "x.mda",
        '---\ndoc-id: x\n---\nA[^b]\n\n[^b]: `{"rel-type": "¦", "doc-id": "plan-1", "rel-desc": "x"}`\n',
    ),
    "values of a script": ("x.mda", '```ai-script\n{"script-id": "a", "prompt": "b", "priority": "¦"}\n```\n'),
    "formats of a script": ("x.mda", '```ai-script\n{"script-id": "a", "prompt": "b", "output-format": ¦}\n```\n'),
    "targets": ("site/x.md", "---\nid: x\ntype: page\ntitle: X\nlinks:\n  - {rel: a, target: ¦}\n---\n"),
    "urls as targets": ("site/x.md", "---\nid: x\ntype: page\ntitle: X\nlinks:\n  - {rel: a, target: 'url:/¦'}\n---\n"),
    "methods": (
        "x.md",
        "---\nid: x\ntype: page\ntitle: X\nactions:\n  - {id: a, url: /a, auth: {type: none}, method: ¦}\n---\n",
    ),
    "classes of a record": ("x.ymj", "---\ndoc_summary: a\nclassification: ¦\n---\n"),
    "modes of a record": ("x.ymj", "---\ndoc_summary: a\nvalidation_mode: '¦'\n---\n"),
    "versions of a record": ("x.ymj", "---\ndoc_summary: a\nymj_spec: ¦\n---\n"),
    "directives": (
        "x.ymj",
        '---\nkind: a\n---\nText\n\n```json\n{"schema": "1", "index": {}, "ops": {"body_format": "¦"}}\n```\n',
    ),
    "values of a schema": ("posts/x.md", "---\ntitle: a\nstatus: ¦\n---\n"),
    "items of a schema": ("posts/x.md", "---\ntitle: a\ntags:\n  - ¦\n---\n"),
    "relations of the project": ("x.md", "---\nparent-note: ¦\n---\n"),
    "rules": ("x.md", "<!-- prosa-ignore unresolved-¦ -->\n"),
    "the program of a test": ("x.test.md", "---\ntests: ¦\n---\n\n## A\n\n```yaml input\ntext: a\n```\n"),
    "values of an output": ("x.test.md", "---\ntests: triage.md\n---\n\n## A\n\n```yaml expect\nkind: ¦\n```\n"),
    "settings of a chat": ("x.md", "% stream = ¦\n\n### @user:\n"),
    "roles": ("x.md", "### @user:\n\nA\n\n### @¦\n"),
}  # fmt: skip

KEYS = {
    "a program": ("p.md", f"{HEAD}¦\n---\n"),
    "limits": ("p.md", f"{HEAD}limits:\n  ¦\n---\n"),
    "keywords": ("p.md", "---\nname: p\ndescription: d\ninput:\n  type: object\n  ¦\noutput: {type: object}\n---\n"),
    "a MAGI document": ("x.mda", "---\n¦\n---\n"),
    "a script": ("x.mda", '```ai-script\n{"script-id": "a", "prompt": "b", "¦": null}\n```\n'),
    "a relationship": ("x.mda", 'A[^b]\n\n[^b]: `{"rel-type": "parent", "¦": null}`\n'),
    "a record": ("x.ymj", "---\ndoc_summary: a\n¦\n---\n"),
    "a footer": ("x.ymj", '---\nkind: a\n---\nText\n\n```json\n{"schema": "1", "¦": null}\n```\n'),
    "directives": ("x.ymj", '---\nkind: a\n---\nText\n\n```json\n{"schema": "1", "ops": {"¦": null}}\n```\n'),
    "a node": ("x.md", "---\nid: x\ntype: page\n¦\n---\n"),
    "an action": ("x.md", "---\nid: x\ntype: page\nactions:\n  - id: a\n    ¦\n---\n"),
    "a skill": ("x/SKILL.md", "---\nname: x\n¦\n---\n"),
    "a test": ("x.test.md", "---\ntests: triage.md\n¦\n---\n"),
    "a case": ("x.test.md", "---\ntests: triage.md\n---\n\n## A\n\n```yaml run\n¦\n```\n"),
    "a bound schema": ("posts/x.md", "---\n¦\n---\n"),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return opened(tmp_path_factory.mktemp("corpus"), FILES)


def complaints(workspace: Workspace, name: str, marked: str) -> tuple[int, list[str]]:
    """How many items are offered at the mark, and what is wrong on their lines once they are applied."""
    path, offset, text = workspace.root / name, marked.index("¦"), marked.replace("¦", "")
    workspace.update(path, text)
    items = complete(workspace, path, offset).items
    found: list[str] = []
    for item in items:
        if item.label.endswith(":"):
            continue  # a beginning
        applied = text[: item.edit.start] + item.edit.text + text[item.edit.end :]
        line = applied.count("\n", 0, item.edit.start) + 1
        wrong = workspace.update(path, applied)[path]
        found += [f"{item.label}: {each.rule}: {each.message}" for each in wrong if each.start.line == line]
    workspace.update(path, None)
    return len(items), [each for each in found if each.split(": ")[1] in UNKNOWN]


@pytest.mark.parametrize("place", PLACES)
def test_x30_no_rule_complains_of_a_value_that_was_offered(workspace: Workspace, place: str):
    count, found = complaints(workspace, *PLACES[place])
    assert count > 0
    assert found == []


@pytest.mark.parametrize("place", KEYS)
def test_x30_no_rule_calls_a_name_unknown_that_was_offered(workspace: Workspace, place: str):
    count, found = complaints(workspace, *KEYS[place])
    assert count > 0
    assert [each for each in found if ": unknown" in each or "is not a field" in each] == []


def test_the_rules_that_are_looked_for_exist_and_the_places_are_apart(tmp_path: Path):
    from prosa.rules.registry import all_rules

    names = {each.name for each in all_rules()}
    assert {each for each in UNKNOWN if each not in names} == set()
    assert complaints(opened(tmp_path, {"a.md": "[[b]]\n", "b.md": ""}), "a.md", "[[b]] [[¦]]\n") == (1, [])
