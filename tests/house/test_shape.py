"""The habits of the house that a machine can see: size, names, docstrings."""

from __future__ import annotations

import ast
import re

from tests.house.tree import PACKAGE, files, modules, named, nodes_saying, outline, parsed, source

MOST_LINES = 600
MOST_FUNCTION_LINES = 60
FORBIDDEN_STEMS = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "misc"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_no_source_file_is_long():
    sources = (".py", ".js", ".css", ".sh")
    lengths = {named(file): source(file).count("\n") for file in files() if file.suffix in sources}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_no_function_is_long():
    lengths = {
        f"{named(module)}:{line} {name}": length
        for module in files()
        if module.suffix == ".py"
        for line, name, length in outline(module).functions
    }
    assert {name: length for name, length in lengths.items() if length > MOST_FUNCTION_LINES} == {}


def test_no_module_is_named_after_nothing():
    assert [
        named(file) for file in modules() if file.stem in FORBIDDEN_STEMS or file.parent.name in FORBIDDEN_STEMS
    ] == []


def test_every_module_opens_with_a_docstring():
    assert [named(file) for file in modules() if not outline(file).docstring] == []


def test_every_public_function_and_class_is_documented():
    missing = [
        f"{named(module)}:{node.lineno} {node.name}"
        for module in modules()
        for node in parsed(module).body
        if isinstance(node, Function | ast.ClassDef)
        if not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert missing == []


def test_every_public_method_is_documented():
    missing = [
        f"{named(module)}:{method.lineno} {owner.name}.{method.name}"
        for module in modules()
        for owner in parsed(module).body
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_")
        for method in owner.body
        if isinstance(method, Function) and not method.name.startswith("_") and not ast.get_docstring(method)
    ]
    assert missing == []


def test_every_module_beside_the_package_opens_with_a_docstring():
    others = [file for file in files() if file.suffix == ".py" and file.name != "__init__.py"]
    assert [named(file) for file in others if not outline(file).docstring] == []


def test_every_file_is_text():
    assert [named(file) for file in files() if b"\0" in file.read_bytes()] == []


def test_every_folder_of_modules_is_a_package():
    folders = {file.parent for file in modules()}
    assert [named(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").read_text() == ""


def test_no_work_is_left_for_later_in_a_comment():
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X:")
    written = (".py", ".js", ".css", ".md", ".toml", ".yml", ".in")
    left = [named(file) for file in files() if file.suffix in written and any(m in source(file) for m in marks)]
    assert left == []


def test_lw14_no_test_is_skipped_or_expected_to_fail():
    """LW14."""
    marks = {"skip", "skipif", "xfail", "importorskip"}
    skipped = [
        f"{named(file)}:{node.lineno}"
        for file in files()
        if file.suffix == ".py" and "tests" in file.parts
        for node in nodes_saying(file, *marks)
        if isinstance(node, ast.Attribute) and node.attr in marks and _is_pytest(node.value)
    ]
    assert skipped == []


def _is_pytest(node: ast.expr) -> bool:
    return ast.unparse(node) in {"pytest", "pytest.mark"}


def test_no_two_public_classes_of_a_layer_have_one_name():
    """A name such as `Place` or `Found` says nothing where there are three of it."""
    found: dict[tuple[str, str], list[str]] = {}
    for module in modules():
        for node in parsed(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                layer = module.relative_to(PACKAGE).parts[0]
                found.setdefault((layer, node.name), []).append(named(module))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_retired_words_name_nothing():
    """Each has a term of the field: analyzer, cache, suppressions, connection limits, environment, progress, filter."""
    retired = {"Looker", "Crowd", "Wish", "Shelf", "Surroundings", "Course", "Means", "Settling", "Lending"}
    modules_named = {"looking", "keeping", "quiet", "settling", "lending", "shelf", "cold", "crowd", "course", "wish"}
    assert [named(each) for each in modules() if each.stem in modules_named | {"told", "means", "surroundings"}] == []
    classes = [node.name for each in modules() for node in parsed(each).body if isinstance(node, ast.ClassDef)]
    assert retired.isdisjoint(classes)


CLOCKS = re.compile(
    r"process_time|perf_counter|thread_time|assert\b.*(?:monotonic|time)\(\) - |assert\b.*\b(?:took|elapsed) <"
)
"""Ways to judge by a clock; `tests/work.py` holds the one that a busy machine does not decide."""


def test_x9_no_test_judges_by_a_clock():
    """X9. Durations belong into bench; a test counts, orders, compares, or asks `tests/work.py`."""
    tests = [file for file in files() if file.suffix == ".py" and named(file).startswith("tests/")]
    here = {"tests/work.py", "tests/house/test_shape.py"}
    found = {named(file) for file in tests if CLOCKS.search(source(file))} - here
    assert len(tests) > 100 and found == set()


def test_x23_doors_reach_files_of_a_site_through_its_one_view():
    """X23, X30. What a door gives of a site comes from `LiveSite`: none asks for a file by its path alone, and none
    asks the index, which knows what is not published."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for door in ("web", "mcp_server", "cli")
        for path in sorted((PACKAGE / door).rglob("*.py"))
        for node in nodes_saying(path, "files", "ask")
        if isinstance(node, ast.Attribute) and node.attr in ("files", "ask")
        if ast.unparse(node).endswith(("site.files", "site.index.ask"))
    ]
    assert found == []
