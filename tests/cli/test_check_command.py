"""`prosa check`, `show` and `explain` as commands: what they print and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prosa
from prosa.cli.main import main
from prosa.rules.registry import all_rules
from tests.cli.desk import desk
from tests.depth import examples
from tests.dialects.test_program import HOSTILE

GOOD = "---\nname: good\ndescription: x\ninput: {type: object}\noutput: {type: object}\n---\nbody\n"
BAD = "---\nname: bad\ndescription: x\ninput: {type: object}\nimports: [./none.md]\n---\nbody\n"
WARNED = "---\nname: warned\ninput: {type: object}\noutput: {type: object}\n---\nbody\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is also the working directory."""
    (tmp_path / "prosa.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run(*argv: str, typed: str = "") -> tuple[int, str, str]:
    at = desk(typed)
    status = main(argv, at.console)
    return status, at.out, at.err


def found(*argv: str, typed: str = "") -> list[tuple[str, str]]:
    """Path and rule of what `check --format json` reports."""
    reported = json.loads(run("check", "--format", "json", *argv, typed=typed)[1])["diagnostics"]
    return [(each["path"], each["rule"]) for each in reported]


def test_all_well_is_exit_0(folder: Path):
    put(folder, good=GOOD)
    assert run("check", "good.md") == (0, "Nothing found in 1 document.\n", "")


def test_errors_are_exit_1_and_shown_with_their_line(folder: Path):
    put(folder, bad=BAD)
    status, out, err = run("check", "bad.md")
    assert (status, err) == (1, "")
    assert out.startswith("bad.md:1:1: ML003 error: `output` is missing")
    assert "5 | imports: [./none.md]\n  |           ^^^^^^^^^\n" in out
    assert out.endswith("Found 2 errors in 1 document.\n")


def test_x4_warnings_are_exit_0_and_errors_when_strict(folder: Path):
    """X4."""
    put(folder, warned=WARNED)
    assert run("check", "warned.md")[0] == 0
    assert run("check", "--permissive", "warned.md")[0] == 0
    assert run("check", "--strict", "warned.md")[0] == 1
    assert run("check", "--strict", "--permissive", "warned.md")[0] == 2


@pytest.mark.parametrize(
    "argv", [["check", "empty"], ["check", "none.md"], ["check"], ["show", "none.md"], ["show", "empty"]]
)
def test_nothing_to_check_is_wrong_use(folder: Path, argv: list[str]):
    (folder / "empty").mkdir()
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")


def test_folders_are_walked_in_order_without_hidden_ones_and_links_to_folders(folder: Path):
    put(folder, b=BAD, a=BAD, sub__c=BAD, _hidden=BAD)
    (folder / "_hidden.md").rename(folder / ".hidden.md")
    put(folder / ".git", bad=BAD)
    (folder / "loop").symlink_to(folder)
    (folder / "again.md").symlink_to(folder / "a.md")
    (folder / "notes.txt").write_text("---\nname: x\ninput: 1\n---\n", encoding="utf-8")
    assert [path for path, rule in found() if rule == "unknown-import"] == ["a.md", "b.md", "sub/c.md"]
    assert json.loads(run("check", "--format", "json")[1])["files"] == 3


def test_x5_a_link_out_of_the_root_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X5. In a folder it is passed over; named, it is opened, and none of its lines is quoted."""
    folder, outside = tmp_path / "project", tmp_path / "outside"
    folder.mkdir()
    (folder / "prosa.toml").touch()
    monkeypatch.chdir(folder)
    put(outside, bad=BAD)
    put(folder, good=GOOD)
    (folder / "link.md").symlink_to(outside / "bad.md")
    assert found(".") == []
    assert ("link.md", "unknown-import") in found("link.md")
    assert " | " not in run("check", "link.md")[1]
    assert ("link.md", "unknown-import") in found("link.md", "--root", "..")
    assert " | " in run("check", "link.md", "--root", "..")[1]


def test_x5_the_root_is_the_nearest_marked_folder(folder: Path):
    """X5. `--root` wins over it."""
    put(folder, sub__main=GOOD.replace("input:", "imports: [../good.md]\ninput:", 1), good=GOOD)
    assert found("sub/main.md") == []
    assert found("sub/main.md", "--root", "sub") == [("sub/main.md", "import-outside-root")]


def test_standard_input_has_the_name_it_is_given(folder: Path):
    put(folder, sub__helper=GOOD)
    text = GOOD.replace("input:", "imports: [./helper.md, ./none.md]\ninput:", 1).replace("good", "main")
    assert found("--stdin-filename", "sub/main.md", "-", typed=text) == [("sub/main.md", "unknown-import")]
    assert found("--stdin-filename", "sub/main.md", typed=text) == [("sub/main.md", "unknown-import")]
    assert found("-", typed=BAD.replace("./none.md", "./sub/helper.md")) == [("<stdin>", "missing-output")]


def test_bytes_and_sizes_that_cannot_be_read_are_diagnostics(folder: Path):
    (folder / "bytes.md").write_bytes(b"\xff\xfe\x00")
    put(folder, large="x" * 2_000)
    assert found(".", "--max-size", "1KB") == [("bytes.md", "unreadable-file"), ("large.md", "unreadable-file")]
    assert run("check", ".", "--max-size", "much")[0] == 2


def test_several_projects_each_have_their_root(folder: Path):
    put(folder, one__a=BAD, two__b=BAD)
    (folder / "one" / "prosa.toml").touch()
    (folder / "two" / "prosa.toml").touch()
    assert [path for path, rule in found("one", "two") if rule == "unknown-import"] == ["one/a.md", "two/b.md"]


def test_select_ignore_and_their_misspellings(folder: Path):
    put(folder, bad=BAD)
    assert found(".", "--select", "ML03,merge-key") == [("bad.md", "unknown-import")]
    assert found(".", "--ignore", "ML003", "--ignore", "unknown-import") == []
    status, _, err = run("check", ".", "--select", "unknown-imprt")
    assert status == 2
    assert "did you mean unknown-import?" in err


def test_x3_as_names_a_dialect_that_can_be_read(folder: Path):
    """X3. Another name is wrong use, with the nearest one."""
    put(folder, plain="text", chat="### @user:\n\nHello\n")
    assert found("plain.md", "--as", "markdownlang") == [("plain.md", "missing-front-matter")]
    assert found("chat.md", "plain.md") == []
    status, _, err = run("check", "plain.md", "--as", "magic")
    assert status == 2
    assert "did you mean magi?" in err


def test_every_format(folder: Path):
    put(folder, bad=BAD)
    assert [json.loads(line)["code"] for line in run("check", ".", "--format", "jsonl")[1].splitlines()] == [
        "ML003",
        "ML030",
    ]
    assert (
        run("check", ".", "--format", "github")[1]
        .splitlines()[1]
        .startswith("::error file=bad.md,line=5,endLine=5,col=11")
    )
    assert run("check", ".", "--statistics")[1].splitlines()[0].split() == ["1", "ML003", "error", "missing-output"]
    assert json.loads(run("check", ".", "--statistics", "--format", "json")[1])[0]["count"] == 1


def test_json_on_stdout_is_one_document_and_nothing_else(folder: Path):
    put(folder, good=GOOD)
    status, out, err = run("check", "good.md", "--format", "json")
    assert (status, json.loads(out), err) == (0, {"files": 1, "diagnostics": []}, "")
    assert run("check", "good.md", "--format", "jsonl") == (0, "", "")


def test_a_program_with_three_mistakes_at_once_reports_all_three(folder: Path):
    put(folder, three=BAD.replace("body", "{{ if .x }}"))
    assert {rule for _, rule in found("three.md")} == {"missing-output", "unknown-import", "template-syntax"}


def test_show_json_has_the_keys_of_the_interface(folder: Path):
    put(folder, good=GOOD.replace("body", "{{ .who }} {{ .what.kind }}"))
    shown = json.loads(run("show", "good.md", "--format", "json")[1])
    assert list(shown)[:4] == ["path", "dialect", "front_matter", "diagnostics"]
    assert shown["front_matter"]["name"] == "good"
    assert (shown["dialect"], shown["variables"], shown["imports"], shown["model"]) == (
        "markdownlang",
        ["who", "what"],
        [],
        None,
    )
    assert shown["input"] == shown["output"] == {"type": "object"}


def test_show_diagnostics_have_no_path_and_belong_to_the_document(folder: Path):
    put(folder, main=GOOD.replace("input:", "imports: [./bad.md]\ninput:", 1), bad=BAD)
    assert json.loads(run("show", "main.md", "--format", "json")[1])["diagnostics"] == []
    (first, _) = json.loads(run("show", "bad.md", "--format", "json")[1])["diagnostics"]
    assert list(first) == ["code", "rule", "severity", "message", "line", "column", "end_line", "end_column", "fix"]


def test_show_of_plain_documents_several_and_none(folder: Path):
    put(folder, a="---\ntitle: T\n---\n", b="text", c=GOOD)
    assert json.loads(run("show", "b.md", "--format", "json")[1])["front_matter"] is None
    lines = [json.loads(line) for line in run("show", ".", "--format", "jsonl")[1].splitlines()]
    assert [(each["path"], each["dialect"]) for each in lines] == [
        ("a.md", "plain"),
        ("b.md", "plain"),
        ("c.md", "markdownlang"),
    ]
    assert run("show", ".", "--format", "json")[0] == 2


def test_show_as_an_outline(folder: Path):
    put(
        folder,
        good=GOOD.replace("{type: object}", "{type: object, properties: {n: {type: integer}}}", 1).replace(
            "body", "{{ .n }}"
        ),
    )
    assert run("show", "good.md")[1].splitlines() == [
        "good.md: markdownlang program",
        "  name         good",
        "  description  x",
        "  model        (the default)",
        "  input        n: integer, optional",
        '  output       {"type": "object"}',
        "  uses         .n",
        "  findings     none",
    ]


def test_show_of_a_folder_shows_what_can_be_read(tmp_path: Path):
    (tmp_path / "good.md").write_text("# Good\n", encoding="utf-8")
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe\x00")
    at = desk()
    assert main(["show", str(tmp_path), "--format", "jsonl"], at.console) == 1
    assert [json.loads(line)["path"] for line in at.out.splitlines()] == [str(tmp_path / "good.md")]
    assert "bad.md" in at.err


def test_show_of_a_file_that_cannot_be_read_is_an_error(folder: Path):
    (folder / "bytes.md").write_bytes(b"\xff")
    status, out, err = run("show", "bytes.md")
    assert (status, out) == (2, "")
    assert "not UTF-8" in err


def test_documents_cannot_drive_the_terminal(folder: Path):
    put(folder, bad='---\nname: "a\\e[31m"\ninput: \x1b[31m{}\n"\\e]0;x": 1\n---\n')
    for argv in (["check", "bad.md"], ["show", "bad.md"], ["check", "bad.md", "--format", "github"]):
        assert "\x1b" not in run(*argv)[1]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_explain_prints_the_page_by_name_and_code(rule):
    page = run("explain", rule.name)[1]
    assert page.startswith(f"# {rule.name}\n")
    assert run("explain", rule.code.lower())[1] == page


def test_explain_lists_everything_and_knows_dialects():
    status, out, _ = run("explain")
    assert status == 0
    assert all(rule.code in out for rule in all_rules())
    assert run("explain", "markdownlang")[1].startswith("# markdownlang\n")


def test_explain_suggests():
    status, _, err = run("explain", "unknown-imprt")
    assert status == 2
    assert "did you mean unknown-import?" in err


@settings(max_examples=examples(60), deadline=None)
@given(st.one_of(HOSTILE, st.text(max_size=120)), st.sampled_from(["text", "json", "jsonl", "github"]))
def test_no_text_stops_the_commands(text: str, form: str):
    """Bad input ends in findings or in a plain sentence, whatever the format."""
    status, out, err = run(
        "check", "--stdin-filename", "/nowhere/p.md", "--as", "markdownlang", "--format", form, typed=text
    )
    assert status in (0, 1) or "not UTF-8" in err
    assert "internal error" not in err
    if form == "json" and status < 2:
        json.loads(out)
    if form != "github":
        status, out, err = run("show", "--stdin-filename", "/nowhere/p.md", "-", "--format", form, typed=text)
        assert status == 0 or "not UTF-8" in err


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "sarif", "junit", "github"])
def test_x8_x30_a_file_that_is_not_there_gives_no_report(form: str, tmp_path: Path):
    """X8, X30. A report says what was found; where nothing was checked there is none, and the status says so."""
    found = desk()
    (tmp_path / "a.md").write_text("# A\n")
    assert main(["check", str(tmp_path / "a.md"), str(tmp_path / "gone.md"), "--format", form], found.console) == 2
    assert found.out == ""
    words = f"{tmp_path / 'gone.md'}: no such file or folder"
    if form in ("json", "jsonl"):
        assert json.loads(found.err)["message"] == words
    else:
        assert found.err == f"error: {words}\n"


def test_x32_a_profile_judges_its_own_documents_alone(folder: Path):
    """Neither other documents nor other rules count; nothing to judge is wrong use."""
    put(folder, notes="[gone](gone.md)\n")
    skill = folder / "a" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: a\ndescription: b\nversion: 1\n---\n\n[gone](gone.md)\n", encoding="utf-8")
    (folder / "prosa.toml").write_text('ignore = ["unknown-field"]\n', encoding="utf-8")
    status, out, _ = run("check", "--profile", "agentskills")
    assert status == 1
    assert "a/SKILL.md:4:1: MD105 error" in out and out.endswith("Found 1 error in 1 document.\n")
    assert [each.rule for each in prosa.check(".", profile="agentskills")] == ["unknown-field"]
    assert run("check", "--profile", "agentskills", "--ignore", "unknown-field")[0] == 0
    status, _, err = run("check", "--profile", "agentskills", "notes.md")
    assert status == 2 and "no SKILL.md in notes.md" in err
    status, _, err = run("check", "--profile", "agentskill")
    assert status == 2 and "agentskills" in err
    with pytest.raises(ValueError, match="agentskill"):
        prosa.check(".", profile="agentskill")
