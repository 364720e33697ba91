"""The engine: severities, selection, order, what stops a run, and that no text stops a check."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files import RootedFiles
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.diagnostics import Diagnostic, Severity
from prosa.rules import engine
from prosa.rules.engine import check_documents, check_text
from prosa.rules.programs import check_program
from prosa.rules.registry import rule_named
from prosa.source import FileProblem, SourceText
from tests.depth import examples
from tests.dialects.test_program import HOSTILE
from tests.rules.literate import MemoryFiles

GOOD = "---\nname: {name}\ndescription: x\ninput: {{type: object}}\noutput: {{type: object}}\n{more}---\nbody\n"


def files(**programs: str) -> MemoryFiles:
    return MemoryFiles({f"/project/{name}.md": text for name, text in programs.items()})


def rules(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [each.rule for each in diagnostics]


def good(name: str, more: str = "") -> str:
    return GOOD.format(name=name, more=more)


@pytest.mark.parametrize(
    ("rule", "text", "usual", "strict"),
    [
        (
            "missing-description",
            "---\nname: a\noutput: {type: object}\ninput: {type: object}\n---\n",
            "warning",
            "error",
        ),
        (
            "schema-without-type",
            "---\nname: a\ndescription: b\noutput: {type: object}\ninput: {}\n---\n",
            "warning",
            "error",
        ),
        ("merge-key", "---\nshared: {}\n<<: {}\n---\n", "warning", "error"),
        ("missing-output", "---\nname: a\ndescription: b\ninput: {type: object}\n---\n", "error", "error"),
        ("unknown-field", good("a", "author: Ada\n"), "info", "info"),
    ],
)
def test_x4_la1_la2_tolerated_forms_are_warnings_until_strict(rule: str, text: str, usual: str, strict: str):
    """X4, LA1, LA2."""
    for mode, expected in ((None, usual), (False, usual), (True, strict)):
        found = {each.rule: each.severity for each in check_text(SourceText(text, "p.md"), strict=mode).diagnostics}
        assert found == {rule: Severity(expected)}


def test_x4_every_diagnostic_carries_what_the_model_promises():
    """X4."""
    for each in check_text(SourceText("---\nname: [a]\nimports: [x.md, stdlib:y]\n---\n{{ end }}", "p.md")).diagnostics:
        rule = rule_named(each.rule)
        assert each.code == rule.code
        assert each.message and "\n" not in each.message
        assert each.span.end <= len(each.source.text)


def test_diagnostics_come_in_reading_order_and_once():
    everything = files(
        b=good("b", "imports: [a.md, none.md]\n"),
        a=good("a", "imports: [c.md, gone.md]\n"),
        c=good("c c"),
    )
    checked = check_documents([Path(f"/project/{name}.md") for name in "bac"], everything)
    places = [(each.path, each.span.start, each.code) for each in checked.diagnostics]
    assert places == sorted(set(places))
    assert rules(checked.diagnostics) == ["unknown-import", "unknown-import", "program-name-form"]


def test_la15_a_cycle_is_reported_once_however_many_of_its_programs_are_checked():
    """LA15."""
    circle = files(a=good("a", "imports: [b.md]\n"), b=good("b", "imports: [c.md]\n"), c=good("c", "imports: [a.md]\n"))
    paths = [Path(f"/project/{name}.md") for name in "cab"]
    for given_paths in (paths, paths[:1], sorted(paths)):
        cycles = [each for each in check_documents(given_paths, circle).diagnostics if each.rule == "import-cycle"]
        assert [each.path for each in cycles] == [str(given_paths[0])]


def test_select_and_ignore_choose_by_name_and_by_code():
    text = SourceText("---\nname: a a\nimput: 1\n---\n", "/project/p.md")
    one = MemoryFiles({"/project/p.md": text.text})

    def found(**chosen) -> set[str]:
        return set(rules(check_documents([Path("/project/p.md")], one, dialect="markdownlang", **chosen).diagnostics))

    everything = found()
    assert {
        "missing-field",
        "missing-output",
        "missing-description",
        "unknown-field",
        "program-name-form",
    } == everything
    assert found(select=["ML"]) == {"missing-output", "missing-description", "program-name-form"}
    assert found(select=["ML", "unknown-field"], ignore=["ML003"]) == {
        "missing-description",
        "program-name-form",
        "unknown-field",
    }
    assert found(ignore=["ALL"]) == set()


def test_la2_x13_what_stops_a_run_and_what_stops_rendering():
    """LA2, X13. A missing output stops a run alone; an undeclared name stops nothing, an impossible one everything."""
    open_input = "{type: object, properties: {a: {type: string}}}"
    closed = open_input[:-1] + ", additionalProperties: false}"
    head, output = "---\nname: a\ndescription: b\ninput: ", "output: {type: object}\n---\n{{ .b }}"
    texts = {
        "missing-output": f"{head}{open_input}\n---\n",
        "undeclared-name": f"{head}{open_input}\n{output}",
        "impossible-name": f"{head}{closed}\n{output}",
    }
    stops = {}
    for rule, text in texts.items():
        checked = check_program(Path("/project/p.md"), MemoryFiles({"/project/p.md": text}))
        assert rules(checked.errors) == [rule]
        stops[rule] = [verb for verb in ("render", "run") if checked.stopping(verb)]
    assert stops == {"missing-output": ["run"], "undeclared-name": [], "impossible-name": ["render", "run"]}


def test_x5_an_import_that_the_root_keeps_out_stops_a_run_though_it_is_no_error():
    """X5. With `--root` the run would miss a tool; a check only says so."""
    main = files(main=good("main", "imports: [outside/sub.md]\n"))
    checked = check_program(Path("/project/main.md"), main)
    assert not checked.errors
    assert rules(checked.stopping("run")) == ["import-outside-root"]
    assert checked.stopping("render") == ()


def test_errors_of_imported_programs_stop_a_run():
    broken = files(main=good("main", "imports: [sub.md]\n"), sub="---\nname: sub\n---\n")
    checked = check_program(Path("/project/main.md"), broken)
    assert {each.path for each in checked.stopping("run")} == {"/project/sub.md"}


def test_check_program_reads_any_file_as_a_program_and_raises_for_one_it_cannot_read():
    plain = files(plain="text")
    assert rules(check_program(Path("/project/plain.md"), plain).errors) == ["missing-front-matter"]
    with pytest.raises(FileProblem):
        check_program(Path("/project/none.md"), plain)


def test_x3_as_and_the_command_decide_the_dialect():
    """X3."""
    plain = files(plain="text")
    path = [Path("/project/plain.md")]
    assert check_documents(path, plain).documents[0].dialect == "plain"
    assert check_documents(path, plain, dialect="markdownlang").documents[0].program is not None
    assert check_documents(path, plain, forced="markdownlang").documents[0].dialect == "markdownlang"


def test_x6_checking_runs_nothing_and_opens_no_file_but_the_programs(tmp_path: Path):
    """X6. A server's command is not started, a `$ref` is not fetched, a file named in the body is not read."""
    ran = tmp_path / "ran"
    server = f"mcp_servers:\n  - {{name: a, command: touch, args: ['{ran}']}}\n"
    text = good("a", server).replace(
        "input: {type: object}", "input: {type: object, $ref: 'http://127.0.0.1:9/s.json'}"
    )
    (tmp_path / "p.md").write_text(text, encoding="utf-8")
    checked = check_documents([tmp_path / "p.md"], RootedFiles(tmp_path))
    assert not ran.exists()
    assert len(checked.documents) == 1


def test_a_text_without_a_file_opens_nothing():
    checked = check_text(SourceText(good("a", "imports: [/etc/hostname.md]\n")))
    assert rules(checked.diagnostics) == ["import-outside-root"]
    assert checked.documents[0].dialect == "markdownlang"


@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(HOSTILE, st.text(max_size=120)), st.booleans())
def test_no_text_stops_a_check(text: str, strict: bool):
    """Whatever the text says, the answer is diagnostics with spans inside it."""
    source = SourceText(text, "p.md")
    for dialect in (None, "markdownlang"):
        first = check_text(source, dialect=dialect, strict=strict).diagnostics
        assert all(each.span.end <= len(text) for each in first)
        assert first == check_text(source, dialect=dialect, strict=strict).diagnostics


def test_h7_a_link_to_a_node_under_another_name_ends_no_check(tmp_path: Path):
    """H7, X5. The node is in a file whose name is that of no document, and its folder has no other one."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "node.env").write_text("---\nid: n\ntype: page\ntitle: T\n---\n# T\n", encoding="utf-8")
    (tmp_path / "front.md").write_text("# Front\n", encoding="utf-8")
    (tmp_path / "pages/x.md").symlink_to("../node.env")
    (group,) = gather([tmp_path], root=tmp_path)
    assert rules(Checker.of(CheckOptions(), {}).check(group).diagnostics) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ["unreadable-file"]),
        ("x\n", []),
        ("longer text than before\n\n[x](gone.md#part)\n\n[[y]](\n\n![z](no.png)\n", []),
        ("---\nname: [\n---\n", ["yaml-syntax"]),
    ],
    ids=["gone", "shorter", "longer", "broken"],
)
def test_x4_a_file_that_changes_while_it_is_checked_is_judged_as_it_stands_at_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, expected: list[str]
):
    """X4. No finding points into another text than the one it was found in, so that no fix changes it."""
    (tmp_path / ".git").mkdir()
    page = tmp_path / "a.md"
    page.write_text("# One\n\n[x](gone.md)\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("[y](also-gone.md)\n", encoding="utf-8")
    groups = engine.check_groups

    def meanwhile(*args: object, **options: object) -> object:
        if text is None:
            page.unlink()
        else:
            page.write_text(text, encoding="utf-8")
        return groups(*args, **options)

    monkeypatch.setattr(engine, "check_groups", meanwhile)
    (group,) = gather([tmp_path])
    found = Checker.of(CheckOptions(), {}).check(group).diagnostics
    assert [each.rule for each in found if each.path == str(page)] == expected
    assert [each.rule for each in found if each.path != str(page)] == ["unresolved-link"]
