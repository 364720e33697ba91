"""`markdownlang`: the command line of the specification, exactly (L34–L37, LA16, LA32, LW4, X7, X16, X17)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.cli.console import Console
from prosa.cli.markdownlang import Flag, main, parse
from prosa.cli.parser import WrongUse
from prosa.cli.run.command import Job
from prosa.dialects.markdownlang.agreement import PHRASES
from tests.cli.desk import desk
from tests.depth import examples

NAMED = "the program is named by -program, its input by -input; see: markdownlang -help"
NO_SUCH = "the commands are run and agree; see: markdownlang -help"
SWITCH, TEXT = Flag("debug", "a boolean"), Flag("program", "a text", "PATH")


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[Console, Job]]:
    """The runs that were asked for; none happens. The working directory holds `p.md`."""
    asked: list[tuple[Console, Job]] = []

    def execute(console: Console, job: Job) -> int:
        asked.append((console, job))
        return 0

    monkeypatch.setattr("prosa.cli.run.command.execute", execute)
    (tmp_path / "p.md").write_text("")
    (tmp_path / "folder.md").mkdir()
    monkeypatch.chdir(tmp_path)
    return asked


@pytest.mark.parametrize(
    ("argv", "texts", "switches", "words"),
    [
        ([], {}, {}, ()),
        (["-program", "a"], {"program": "a"}, {}, ()),
        (["--program", "a"], {"program": "a"}, {}, ()),
        (["-program=a=b"], {"program": "a=b"}, {}, ()),
        (["--program="], {"program": ""}, {}, ()),
        (["-program", "-debug"], {"program": "-debug"}, {}, ()),
        (["-program", "a", "-program", "b"], {"program": "b"}, {}, ()),
        (["-debug"], {}, {"debug": True}, ()),
        (["-debug=false"], {}, {"debug": False}, ()),
        (["--debug=T"], {}, {"debug": True}, ()),
        (["-debug=0", "-program", "x"], {"program": "x"}, {"debug": False}, ()),
        (["-debug", "false"], {}, {"debug": True}, ("false",)),
        (["x", "-debug"], {}, {}, ("x", "-debug")),
        (["--", "-debug"], {}, {}, ("-debug",)),
        (["-", "x"], {}, {}, ("-", "x")),
    ],
)
def test_l34_la32_flags_are_read_as_go_reads_them(argv, texts, switches, words):
    found = parse((SWITCH, TEXT), argv)
    assert (found.texts, found.switches, found.words) == (texts, switches, words)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-progam", "x"], "unknown flag: -progam"),
        (["-"*3 + "debug"], "unknown flag: --debug"),
        (["-program"], "flag needs a value: -program PATH"),
        (["-debug=maybe"], "-debug is true or false, not 'maybe'"),
        (["-=x"], "unknown flag: -"),
    ],
)  # fmt: skip
def test_l34_bad_flags_are_wrong_use(argv: list[str], message: str):
    with pytest.raises(WrongUse) as caught:
        parse((SWITCH, TEXT), argv)
    assert caught.value.message == message


@pytest.mark.parametrize("argv", [[], ["-h"], ["-help"], ["--help"], ["run", "-h"], ["agree", "-help"], ["help"]])
def test_la32_no_arguments_and_help_print_the_usage_and_exit_0(argv: list[str]):
    at = desk()
    assert main(argv, at.console) == 0
    assert at.out.startswith("usage: markdownlang <command> [flags]\n")
    assert at.err == ""


def test_l34_l35_the_usage_names_every_command_flag_and_default():
    at = desk()
    main([], at.console)
    for word in ("run ", "agree ", "-program PATH", "-input JSON", "-output PATH", "-model NAME", "-api-key KEY"):
        assert f"  {word}" in at.out
    for word in ("-base-url URL", "-debug", "-summary", "-agree", "(default {})", "(default gpt-4o)", "(required)"):
        assert word in at.out
    assert "$OPENAI_API_KEY" in at.out and "$OPENAI_BASE_URL" in at.out


@pytest.mark.parametrize("lead", [[], ["run"]])
@pytest.mark.parametrize("dash", ["-", "--"])
def test_l34_l35_lw4_every_flag_arrives_with_run_implied_or_not(lead: list[str], dash: str, jobs):
    at = desk(terminal=True)
    given = ["program", "p.md", "input", '{"a": [1]}', "output", "out.json", "model", "m", "base-url", "http://x/v1"]
    flags = [f"{dash}{word}" if position % 2 == 0 else word for position, word in enumerate(given)]
    assert main([*lead, *flags, f"{dash}debug", f"{dash}summary=true"], at.console) == 0
    ((_, job),) = jobs
    assert (job.program, job.input_text, job.output) == (Path("p.md"), '{"a": [1]}', Path("out.json"))
    assert (job.debug, job.summary) == (True, True)
    assert (job.options.model, job.options.default_model, job.options.base_url) == (None, "m", "http://x/v1")
    assert at.err == ""


def test_l35_the_defaults_of_the_specification(jobs):
    assert main(["-program", "p.md"], desk().console) == 0
    ((_, job),) = jobs
    assert (job.input_text, job.output, job.debug, job.summary) == ("{}", None, False, False)
    assert (job.options.base_url, job.options.api_key, job.options.api) == (None, None, None)


def test_la16_x16_model_is_the_global_default_and_overrides_no_program(jobs):
    main(["-program", "p.md"], desk().console)
    main(["-program", "p.md", "-model", "mine"], desk().console)
    assert [(job.options.default_model, job.options.model) for _, job in jobs] == [("gpt-4o", None), ("mine", None)]


def test_x17_nobody_is_asked_about_a_local_server(jobs):
    assert main(["-program", "p.md", "-model", "local"], desk(terminal=True).console) == 0
    ((console, job),) = jobs
    assert console.interactive is False
    assert job.options.model is None


def test_x7_lw13_a_key_on_the_command_line_is_warned_about_and_never_shown(jobs):
    at = desk()
    assert main(["-program", "p.md", "-api-key", "sk-secret"], at.console) == 0
    ((_, job),) = jobs
    assert job.options.api_key == "sk-secret"
    assert "warning: -api-key can be seen by other users" in at.err
    assert "sk-secret" not in at.out + at.err + repr(job)


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["-input", "{}"], "-program is missing: which .md file should run?", "see: markdownlang -help"),
        (["run"], "-program is missing: which .md file should run?", "see: markdownlang -help"),
        (["-program", "p.txt"], "p.txt: -program is a .md file", "Programs are Markdown files that end in .md."),
        (["-program", "none.md"], "none.md: no such file", "-program is relative to the folder you are in."),
        (["-program", "nul\0.md"], "nul\ufffd.md: no such file", "-program is relative to the folder you are in."),
        (["-program", "folder.md"], "folder.md: is a folder, not a program", ""),
        (["-program", "p.md", "more"], "unexpected argument 'more'", NAMED),
        (["-program", "p.md", "-sumary"], "unknown flag: -sumary", "did you mean -summary?"),
        (["-program", "p.md", "-zzz"], "unknown flag: -zzz", "see: markdownlang -help"),
        (["rum", "-program", "p.md"], "unknown command 'rum'", NO_SUCH),
        (["agre"], "unknown command 'agre'", "did you mean agree?"),
    ],
)  # fmt: skip
def test_l37_wrong_use_says_what_to_do_and_exits_2(argv: list[str], message: str, hint: str, jobs):
    at = desk()
    assert main(argv, at.console) == 2
    assert (at.out, at.err) == ("", f"error: {message}\n" + (f"  {hint}\n" if hint else ""))
    assert jobs == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{a: 1}",
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": 1,}',
        '{"a": 1} x',
        "@file.json",
        "[" * 100_000,
        '{"a":1,"a":2}',
    ],
    ids=range(10),
)
def test_l37_an_input_that_is_no_json_is_wrong_use(text: str, jobs):
    at = desk()
    assert main(["-program", "p.md", "-input", text], at.console) == 2
    assert at.err.startswith("error: -input is not valid JSON: ")
    assert jobs == []


def test_l37_an_input_need_not_be_an_object(jobs):
    assert main(["-program", "p.md", "-input", "[1, null]"], desk().console) == 0
    assert jobs[0][1].input_text == "[1, null]"


def test_l35_the_deprecated_agree_flag_runs_the_flow_and_then_the_program(jobs, tmp_path: Path):
    home = {"HOME": str(tmp_path), "MARKDOWNLANG_AGREE": PHRASES[3]}
    at = desk(environ=home)
    assert main(["-agree", "-program", "p.md"], at.console) == 0
    assert (at.out, len(jobs)) == ("", 1)
    assert "warning: -agree is deprecated" in at.err and "Agreement accepted." in at.err
    at = desk(environ=home)
    assert main(["-agree"], at.console) == 0
    assert "already accepted" in at.out and len(jobs) == 1


def test_l35_a_refused_agree_flag_stops_before_the_run(jobs, tmp_path: Path):
    at = desk("no\nno\nno\n", {"HOME": str(tmp_path)}, terminal=True)
    assert main(["-agree", "-program", "p.md"], at.console) == 1
    assert jobs == []


@settings(max_examples=examples(80), deadline=None)
@given(
    st.lists(st.sampled_from(["-", "--", "-debug", "-debug=x", "-program", "--program=", "-x", "=", "a", "---", "-="]))
)
def test_l34_any_arguments_are_read_or_refused_with_a_hint(argv: list[str]):
    try:
        found = parse((SWITCH, TEXT), argv)
    except WrongUse as wrong:
        assert wrong.message and wrong.hint
    else:
        assert list(found.words) == argv[len(argv) - len(found.words) :]
