"""Every rule has its fixture, page, row and file, and every fixture says what is found (style 8, 14)."""

from __future__ import annotations

import ast
import os
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from prosa.document import parse
from prosa.rules.engine import check_documents, check_text
from prosa.rules.project import project_diagnostics
from prosa.rules.table import BY_NAME, RULES, Rule, find_rule, is_selector, selects
from prosa.source import SourceText
from tests.rules.literate import NOW, MemoryFiles, examples, pages, rewritten

PAGES = {page.stem: page for page in pages()}
DOCS = Path(str(files("prosa.rules"))) / "docs"


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.stem)
def test_x4_fixtures_say_what_is_found(page: Path):
    """X4. The expected diagnostics stand beside each example."""
    text = page.read_text(encoding="utf-8")
    if os.environ.get("PROSA_UPDATE") == "1":
        page.write_text(rewritten(text), encoding="utf-8")
        text = page.read_text(encoding="utf-8")
    for example in examples(text):
        assert example.actual() == example.expected


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_shown_by_its_fixture(rule: Rule):
    found = [
        each.rule for example in examples(PAGES[rule.name].read_text("utf-8")) for each in example.checked().diagnostics
    ]
    assert rule.name in found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_fixture_has_an_example_that_the_rule_lets_pass(rule: Rule):
    passes = [
        rule.name not in {each.rule for each in example.checked().diagnostics}
        for example in examples(PAGES[rule.name].read_text("utf-8"))
    ]
    assert any(passes)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_a_page_of_one_form(rule: Rule):
    text = (DOCS / f"{rule.name}.md").read_text(encoding="utf-8")
    document = parse(SourceText(text))
    assert [(heading.level, heading.text) for heading in document.headings] == [
        (1, rule.name),
        (2, "Why"),
        (2, "Example"),
        (2, "What to do"),
    ]
    assert document.fences


# Examples that need further files, or a file larger than a page.
UNSHOWN = {
    *("front-matter-too-large", "unreadable-file", "unreadable-import", "import-cycle", "import-too-deep"),
    *("too-many-imports", "tool-name-collision"),
    *("long-skill", "bad-schema-file"),
    *("byte-order-mark", "byte-order-mark-in-record", "costly-selector", "crlf-in-record", "mixed-line-ends"),
}
REST = {"name": "main", "description": "x", "input": "{type: object}", "output": "{type: object}"}


SHOWN = [rule for rule in RULES if rule.name not in UNSHOWN and rule.scope != "corpus"]


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_example_of_a_page_breaks_the_rule(rule: Rule):
    """The first fence: a document, named where its name decides its dialect (`markdown page.mda`), or in `yaml` the
    fields of a program."""
    text = (DOCS / f"{rule.name}.md").read_text(encoding="utf-8")
    example = parse(SourceText(text)).fences[0]
    code = "".join(piece.of(text) for piece in example.content)
    if example.language == "toml":
        assert rule.name in {each.rule for each in project_diagnostics(SourceText(code, "prosa.toml"))[1]}
        return
    name = f"/project/{[*example.info.split(), 'main.md'][1]}"
    files = MemoryFiles({name: completed(code, rule) if example.language == "yaml" else code})
    found = {
        each.rule
        for dialect in (None, *(rule.dialects or ("markdownlang",)))
        for each in check_documents([Path(name)], files, dialect=dialect, now=NOW).diagnostics
    }
    assert rule.name in found


def completed(fields: str, rule: Rule) -> str:
    """A program with these fields and, where the rule is about none of them, the other required ones."""
    if fields.startswith("-"):
        return f"---\n{fields}---\n"
    present = {line.split(":")[0] for line in fields.splitlines()}
    absent = "" if rule.name.startswith("missing") else rest(present)
    return f"---\n{absent}{fields}---\n"


def rest(present: set[str]) -> str:
    return "".join(f"{name}: {value}\n" for name, value in REST.items() if name not in present)


def test_pages_and_fixtures_belong_to_rules():
    names = {rule.name for rule in RULES}
    assert {page.stem for page in DOCS.glob("*.md")} == names
    assert set(PAGES) == names


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.module], ids=lambda rule: rule.name)
def test_every_rule_with_logic_has_a_file_that_names_it(rule: Rule):
    module = import_module(rule.module)
    assert callable(module.check_corpus if rule.scope == "corpus" else module.check)
    assert rule.scope != "both" or callable(module.check_corpus)
    assert module.__doc__.startswith(f"`{rule.name}`: ")


def test_every_module_with_a_check_is_in_the_table():
    package = Path(str(files("prosa.rules")))
    checks = {
        path.relative_to(package).with_suffix("").as_posix()
        for path in package.glob("*/*.py")
        if any(
            isinstance(node, ast.FunctionDef) and node.name in ("check", "check_corpus")
            for node in ast.parse(path.read_text("utf-8")).body
        )
    }
    assert checks == {
        rule.module.removeprefix("prosa.rules.").replace(".", "/") for rule in RULES if rule.module is not None
    }


def test_x4_codes_and_names_are_stable_and_unique():
    """X4. No code and no name is given twice; both find the rule."""
    assert len({rule.code for rule in RULES}) == len(RULES) == len(BY_NAME)
    assert [rule.code for rule in RULES] == sorted(rule.code for rule in RULES)
    for rule in RULES:
        assert find_rule(rule.code.lower()) is find_rule(rule.name) is rule


@pytest.mark.parametrize(
    ("selector", "name", "selected"),
    [
        ("ML0", "unknown-import", True),
        ("ml030", "unknown-import", True),
        ("unknown-import", "unknown-import", True),
        ("ALL", "yaml-syntax", True),
        ("MD", "unknown-import", False),
        ("", "unknown-import", False),
        ("unknown", "unknown-import", False),
    ],
)
def test_x4_selectors_name_rules_and_code_prefixes(selector: str, name: str, selected: bool):
    """X4."""
    assert selects(selector, BY_NAME[name]) is selected


def test_a_selector_that_names_nothing_is_none():
    assert not is_selector("ZZ")
    assert not is_selector("unknown-imports")


def test_the_problems_of_readers_are_in_the_table():
    """Every rule name written down in the package has a row, so that no problem is lost."""
    package = Path(str(files("prosa")))
    folders = [package / name for name in ("data", "dialects", "rules")]
    written = {
        node.args[0].value
        for folder in folders
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem" and node.args
        if isinstance(node.args[0], ast.Constant)
    }
    assert written <= set(BY_NAME)
    assert len(written) > 20


def test_x2_a_line_ends_at_lf_crlf_and_cr_only():
    """X2. U+2028 and a form feed do not end a line."""
    text = "---\r\nname: a\u2028b\rdescription: c\x0cd\nbase: 1\r\noutput: 5\r\ninput: {type: object}\r\n---\r\n"
    places = {
        each.rule: each.start.line for each in check_text(SourceText(text, "p.md"), dialect="markdownlang").diagnostics
    }
    assert places["wrong-type"] == 5
