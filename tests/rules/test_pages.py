"""Every rule has its page, every page is a test, and every declaration is one that runs (style 8, 15)."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from prosa.cli.explain import page as explained
from prosa.diagnostics import Severity
from prosa.document import parse
from prosa.rules.engine import check_text
from prosa.rules.project import read_project
from prosa.rules.registry import (
    FOLDERS,
    REMOVED,
    all_rules,
    find_rule,
    is_selector,
    known_rules,
    rule_named,
    rule_set,
    selected,
    selects,
)
from prosa.rules.rule import RuleSet
from prosa.source import SourceText
from tests.house.tree import modules, nodes
from tests.rules.literate import examples, line, pages, rewritten

RULES = all_rules()
PAGES = {page.stem: page for page in pages()}


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.stem)
def test_x4_a_page_is_a_test_of_its_rule(page: Path):
    """X4. The expected diagnostics stand beside each example; one shows the rule, another one passes it."""
    text = page.read_text(encoding="utf-8")
    if os.environ.get("PROSA_UPDATE") == "1":
        page.write_text(rewritten(text), encoding="utf-8")
        text = page.read_text(encoding="utf-8")
    shown = list(examples(text))
    found: list[set[str]] = []
    for example in shown:
        checked = example.checked()
        assert "".join(f"{line(each)}\n" for each in checked.diagnostics) == example.expected
        found.append({each.rule for each in checked.diagnostics})
    assert page.stem in set().union(*found)
    assert any(page.stem not in rules for rules in found)
    headings = [(heading.level, heading.text) for heading in parse(SourceText(text)).headings]
    assert headings[:4] == [(1, page.stem), (2, "Why"), (2, "Example"), (2, "What to do")]
    assert headings[4:] in ([], [(2, "Further examples")])
    assert text.index("## Example") < shown[0].fence.span.start < text.index("## What to do")
    assert page.stem in found[0]
    explanation = explained(page.stem)
    assert text.startswith(explanation)
    assert [example.expected for example in examples(explanation)] == [shown[0].expected]
    assert "## What to do" in explanation and "## Further examples" not in explanation


def test_x4_a_removed_rule_may_be_named_to_no_effect():
    """X4. A setting, a flag or a comment that names it stays as it is; its code is not given again."""
    assert not {each.code for each in REMOVED} & {rule.code for rule in RULES}
    for each in REMOVED:
        assert is_selector(each.name) and is_selector(each.code) and known_rules([each.name]) == (each.name,)
        assert each.instead in explained(each.name) and explained(each.code.lower())
        for name in (each.name, each.code):
            text = f"<!-- prosa-ignore-file {name} -->\n\ntext\n"
            assert check_text(SourceText(text, "a.md")).diagnostics == ()
            settings, found = read_project(f'ignore = ["{name}"]\n', "prosa.toml")
            assert (settings.ignore, found) == ((name,), ())


def test_every_named_document_of_a_page_belongs_to_an_example():
    """A document without expected diagnostics would join the next example unseen."""
    for page in PAGES.values():
        fences = [fence.info.split() for fence in parse(SourceText(page.read_text("utf-8"))).fences]
        named = [words[0] for words in fences if len(words) > 1 or words[0] in ("diagnostics", "generate")]
        assert named[-1] == "diagnostics", page.stem


def test_pages_belong_to_rules():
    assert set(PAGES) == {rule.name for rule in RULES}


def test_x4_codes_and_names_are_stable_and_unique():
    """X4. No code and no name is given twice; both find the rule."""
    assert len({rule.code for rule in RULES}) == len(RULES) == len({rule.name for rule in RULES})
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
    assert selects(selector, rule_named(name)) is selected


def test_a_selector_that_names_nothing_is_none():
    assert not is_selector("ZZ")
    assert not is_selector("unknown-imports")
    assert not is_selector("../docs/custom-tag")


def test_a_selector_is_valid_as_soon_as_it_names_a_rule():
    for rule in RULES:
        assert selected(rule.name) == (rule,)
        assert selected(rule.code.lower()) == (rule,)
        assert is_selector(rule.name) and is_selector(rule.code)
    assert selected("ALL") == RULES
    assert {rule.code[:2] for rule in selected("M")} == {"MA", "MD", "MG", "ML", "MH"}


Nodes = tuple[ast.AST, ...]


@cache
def texts() -> dict[Path, str]:
    """The modules of the package, by their files."""
    return {path: path.read_text(encoding="utf-8") for path in modules()}


def trees(pattern: str) -> dict[Path, Nodes]:
    """The nodes of the syntax trees of the modules in which something stands, by their files: there are hundreds of
    others, and parsing them takes seconds."""
    return {path: nodes(path) for path, text in texts().items() if re.search(pattern, text)}


@cache
def topics_of_rules() -> dict[Path, Nodes]:
    return {p: nodes(p) for p in texts() if "rules" in p.parts[-4:-2] and p.name != "__init__.py"}


def imports(tree: Nodes, module: str, name: str) -> bool:
    found = (node for node in tree if isinstance(node, ast.ImportFrom) and node.module == module)
    return any(alias.name == name for node in found for alias in node.names)


def test_every_problem_that_a_reader_names_is_a_rule():
    """A name that no rule has would be a crash in the first document that has the problem."""
    written = {
        node.args[0].value
        for tree in trees(r"\bProblem\b").values()
        if imports(tree, "prosa.diagnostics", "Problem")
        for node in tree
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem" and node.args
        if isinstance(node.args[0], ast.Constant)
    }
    assert written <= {rule.name for rule in RULES}
    assert len(written) > 20


def test_every_rule_that_readers_report_is_named_by_one():
    reported = {rule.name for rule in RULES if rule.scope == "reader"}
    named = {
        node.value
        for path, tree in trees("|".join(reported)).items()
        if path not in topics_of_rules()
        for node in tree
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert reported <= named


CODE = "(CX|MA|MD|MG|MH|ML|PR|SE|SK|TS|YM)[0-9]{3}"


def test_a_rule_stands_in_the_module_of_its_topic_alone():
    """Adding one touches that module and its page: nothing lists rules again."""
    written = [
        (node.value, path)
        for path, tree in trees(CODE).items()
        for node in tree
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(CODE, node.value)
        if node.value not in {each.code for each in REMOVED}
    ]
    assert sorted(code for code, _ in written) == [rule.code for rule in RULES]
    assert {path for _, path in written} <= set(topics_of_rules())


def test_what_a_rule_yields_has_no_name():
    assert [path for path, tree in topics_of_rules().items() if imports(tree, "prosa.diagnostics", "Problem")] == []


def test_a_rule_is_called_as_it_is_named():
    functions = {
        (call.args[1].value, node.name)
        for tree in topics_of_rules().values()
        for node in tree
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
    }
    assert {(name, name.replace("-", "_")) for name, _ in functions} == functions
    assert {name for name, _ in functions} == {rule.name for rule in RULES if rule.scope != "reader"}


def test_every_module_with_rules_is_loaded_as_a_topic():
    """Without it a rule would be declared and never run."""
    for folder in FOLDERS:
        rules = rule_set(folder)
        declaring = {path.stem for path, tree in topics_of_rules().items() if imports(tree, rules.package, "RULES")}
        assert declaring == {*rules.topics, *rules.corpus_topics}


LOADING = """
import os, sys
from prosa.rules.registry import corpus_checks, document_checks, rule_named
for folder in {folders!r}:
    if not os.fork():
        document_checks(folder), corpus_checks(frozenset({{folder}})), rule_named('custom-tag')
        print(folder, *(name for name in sys.modules if name.startswith('prosa.rules.')), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@cache
def loaded_by_folder() -> dict[str, set[str]]:
    """What a check of one dialect loads of the rules: each in a process of its own, forked where none is loaded yet."""
    code = LOADING.format(folders=FOLDERS[1:])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {folder: set(names) for folder, *names in map(str.split, done.stdout.splitlines())}


@pytest.mark.parametrize("folder", FOLDERS[1:])
def test_a_check_loads_the_rules_of_its_dialect_only(folder: str):
    """Another dialect's rules load its reader too: a check of one document would start later for nothing."""
    loaded = loaded_by_folder()[folder]
    sets = {each: rule_set(each) for each in FOLDERS if each not in (folder, "document")}
    topics = {f"{rules.package}.{topic}" for rules in sets.values() for topic in (*rules.topics, *rules.corpus_topics)}
    assert loaded & {f"{rule_set(folder).package}.{topic}" for topic in rule_set(folder).topics}
    assert topics.isdisjoint(loaded)


def test_no_rule_is_loaded_to_know_a_name():
    statement = (
        "import sys\nfrom prosa.rules.registry import is_selector\n"
        "assert is_selector('unknown-selector') and not is_selector('unknown-sellector')\n"
        "print(*(name for name in sys.modules if name.startswith('prosa.rules.')))"
    )
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)
    assert {name.split(".")[2] for name in done.stdout.split()}.isdisjoint(FOLDERS)


def test_a_rule_is_declared_once():
    rules: RuleSet[object] = RuleSet("here", "XX", None, ())
    rules.reported("XX001", "some-name", Severity.ERROR)
    for code, name in (("XX002", "some-name"), ("YY001", "other-name")):
        with pytest.raises(ValueError, match=name):
            rules.reported(code, name, Severity.ERROR)


def test_x2_a_line_ends_at_lf_crlf_and_cr_only():
    """X2. U+2028 and a form feed do not end a line."""
    text = "---\r\nname: a\u2028b\rdescription: c\x0cd\nbase: 1\r\noutput: 5\r\ninput: {type: object}\r\n---\r\n"
    places = {
        each.rule: each.start.line for each in check_text(SourceText(text, "p.md"), dialect="markdownlang").diagnostics
    }
    assert places["wrong-type"] == 5
