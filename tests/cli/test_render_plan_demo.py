"""`prosa render`, `prosa plan`, `prosa demo`: what a run would do, and the tour, without a model."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prosa as prosa_package
from prosa.cli.agree import agree
from prosa.cli.demo.stage import Folded, fold
from prosa.cli.main import main
from tests.cli.desk import Desk, desk
from tests.cli.programs import (
    BROKEN,
    CACHE,
    configured,
    events_in,
    nested,
    program,
    prosa,
    script,
    started,
    summary_in,
    user,
)

NO_OUTPUT = "---\nname: bare\ndescription: d\ninput: {type: object}\n---\nSay {{ .word | upper }}.\n"


def planned(path: Path, *argv: Any, **environ: str) -> dict[str, Any]:
    status, at = prosa("plan", path, *argv, "--format", "json", environ=user(path.parent, **environ))
    assert (status, at.err) == (0, "")
    found: dict[str, Any] = json.loads(at.out)
    return found


# ---- render ----


def test_la2_render_works_without_an_output_schema_and_without_the_agreement(tmp_path: Path):
    path = program(tmp_path, name="bare", text=NO_OUTPUT)
    status, at = prosa("render", path, "word=hello", environ=user(tmp_path, MARKDOWNLANG_AGREE=""))
    assert (status, at.out, at.err) == (0, "Say HELLO.\n", "")
    status, at = prosa("run", path, "word=hello", environ=user(tmp_path))
    assert (status, at.out) == (1, "")
    assert "output" in at.err and at.err.endswith(
        f"error: the program has errors and was not run\n  run: prosa check {path}\n"
    )


def test_render_prints_what_a_run_would_send(count: Path, tmp_path: Path):
    _, at = prosa("render", count, "text=a b", "--format", "json", environ=user(tmp_path))
    messages = json.loads(at.out)
    assert [each["role"] for each in messages] == ["system", "user"]
    _, at = prosa("render", count, "text=a b", "--messages", environ=user(tmp_path))
    for each in messages:
        assert f"--- {each['role']} ---\n{each['content'].rstrip()}\n" in at.out


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["times=99"], 1, "the input of count is not valid: /times"),
        (["nope=1"], 2, "unknown input `nope`"),
        (["--input", "{"], 2, "not valid JSON"),
    ],
)
def test_render_refuses_an_input_that_a_run_would_refuse(
    argv: list[str], status: int, words: str, count: Path, tmp_path: Path
):
    found, at = prosa("render", count, *argv, environ=user(tmp_path))
    assert (found, at.out) == (status, "")
    assert words in at.err


def test_render_tells_where_a_template_fails(tmp_path: Path):
    text = NO_OUTPUT.replace("{{ .word | upper }}", "{{ index .list 9 }}")
    path = program(tmp_path, name="bare", text=text)
    status, at = prosa("render", path, "--input", '{"list": [1]}', environ=user(tmp_path))
    assert status == 1
    assert at.err.startswith("error: bare.md:6:")


def test_render_refuses_a_broken_program_like_a_run(tmp_path: Path):
    status, at = prosa("render", program(tmp_path, text=BROKEN), environ=user(tmp_path))
    assert (status, at.out) == (1, "")
    assert at.err.count(" error: ") >= 2


# ---- plan ----


def test_a_plan_has_prompts_tools_imports_schema_limits_and_effects(tmp_path: Path):
    path, _ = nested(tmp_path)
    server = "mcp_servers: [{name: files, command: npx, args: [-y, some-server]}, {name: web, url: http://x/mcp}]\n"
    program(tmp_path, more=f"imports: [./inner.md]\n{server}")
    plan = planned(path, "text=a b", "--max-iterations", "4")
    assert (plan["program"], plan["model"], plan["file"]) == ("count", "gpt-4o", "count.md")
    assert [each["role"] for each in plan["messages"]] == ["system", "user"]
    assert [(tool["name"], tool["kind"]) for tool in plan["tools"]] == [
        ("python", "python"),
        ("inner", "program"),
        ("mcp__files__", "mcp"),
        ("mcp__web__", "mcp"),
    ]
    sent = plan["response_format"]
    assert (sent["strict"], sent["schema"]["required"]) == (True, ["words"])
    assert plan["limits"]["iterations"] == 4
    effects = "\n".join(plan["effects"])
    for words in ("at most 4 times", "by running: npx -y some-server", "at http://x/mcp", "may call inner", "sandbox"):
        assert words in effects
    (inner,) = plan["imports"]
    assert (inner["program"], inner["messages"], inner["imports"]) == ("inner", [], [])


def test_l21_a_plan_says_what_the_tools_cost_and_which_are_not_known(tmp_path: Path):
    server = {"name": "files", "command": "file-server"}
    tool = {"name": "read", "description": "Reads a file.", "parameters": {"properties": {"path": {"type": "string"}}}}
    servers = [{**server, "tools": [tool]}, {"name": "web", "url": "http://x/mcp", "tools": [{"name": "get"}]}]
    path = program(tmp_path, more=f"mcp_servers: {json.dumps([*servers, {'name': 'db', 'url': 'http://y/mcp'}])}\n")
    plan = planned(path)
    tools = {each["name"]: each for each in plan["tools"]}
    assert list(tools) == ["python", "mcp__files__read", "mcp__web__get", "mcp__db__"]
    cost = tools["mcp__files__read"]["tokens"]
    assert 15 < cost < 60
    assert [tools[name]["tokens"] for name in ("mcp__web__get", "mcp__db__")] == [None, None]
    assert plan["tool_tokens"] == {
        "known": cost + tools["python"]["tokens"],
        "servers": {"files": cost, "web": None, "db": None},
    }
    starts = [each for each in plan["effects"] if each.startswith("starts")]
    assert starts[0].endswith("file-server, when one of its tools is called")
    assert starts[1:] == [
        "starts the MCP server web at http://x/mcp without a credential",
        "starts the MCP server db at http://y/mcp without a credential",
    ]
    _, at = prosa("plan", path, environ=user(tmp_path))
    assert f"tools: ~{plan['tool_tokens']['known']} tokens in each request, and those that are not known yet" in at.out
    assert f"mcp__files__read: Reads a file. (~{cost} tokens)" in at.out
    assert f"tools of the MCP server files: ~{cost} tokens" in at.out
    assert "tools of the MCP server db: not known before it starts" in at.out


def test_a_plan_starts_nothing_and_asks_nobody(tmp_path: Path):
    mark = tmp_path / "started"
    path = program(tmp_path, more=f"mcp_servers: [{{name: s, command: touch, args: [{mark}]}}]\n")
    plan = planned(
        path, "--base-url", "http://127.0.0.1:1/v1", MARKDOWNLANG_AGREE="", PROSA_CACHE_DIR=str(tmp_path / "c")
    )
    assert plan["messages"] == []
    assert not mark.exists()
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("argv", "environ", "service"),
    [
        (
            [],
            {},
            "no key and no base URL: openai at https://api.openai.com/v1, OPENAI_API_KEY is not set: a run would fail",
        ),
        ([], {"OPENAI_API_KEY": "sk-mine"}, "openai at https://api.openai.com/v1, key from OPENAI_API_KEY"),
        ([], {"OPENAI_BASE_URL": "http://h/v1"}, "http://h/v1, without a key"),
        (
            [],
            {"OPENAI_BASE_URL": "http://me:pw@h/v1", "OPENAI_API_KEY": "sk-mine"},
            "http://h/v1, key from OPENAI_API_KEY",
        ),
        (["--model", "local:tiny"], {"OPENAI_API_KEY": "sk-mine"}, "a model server on this machine"),
        (["--model", "scripted:r.jsonl"], {}, "replies scripted in r.jsonl"),
    ],
    ids=range(6),
)
def test_x7_a_plan_says_who_would_answer_and_shows_no_key(
    argv: list[str], environ: dict[str, str], service: str, count: Path
):
    plan = planned(count, *argv, **environ)
    assert plan["service"] == service
    assert "sk-mine" not in str(plan) and "pw@" not in str(plan)
    assert plan["model"] == ("tiny" if "local:tiny" in argv else "gpt-4o")


def test_a_plan_for_people_names_everything_once(tmp_path: Path):
    path, _ = nested(tmp_path)
    status, at = prosa("plan", path, "text=a b", environ=user(tmp_path))
    assert status == 0
    for words in (
        "effects:",
        "tools:",
        "limits: 10 iterations, 600 s",
        "response format: json_schema",
        "schema as sent:",
    ):
        assert at.out.count(f"\n{words}") == 2, words
    assert at.out.count('\nschema as sent:\n  {\n    "type": "object",\n') == 2
    assert "--- user message, 11 characters ---\nCount a b.\n" in at.out
    assert "\n\nimported: inner (inner.md) with gpt-4o\n" in at.out


def test_a_plan_sends_no_escapes_to_a_terminal(tmp_path: Path):
    text = (
        '---\nname: loud\ndescription: "a\\e[31mb"\ninput: {type: object}\noutput: {type: object}\n---\nSay {{ .a }}\n'
    )
    path = program(tmp_path, name="loud", text=text)
    status, at = prosa("plan", path, "--input", '{"a": "\\u001b]0;title\\u0007\\tend"}', environ=user(tmp_path))
    assert status == 0
    assert "\x1b" not in at.out and "\x07" not in at.out
    assert "a\ufffd[31mb" in at.out and "Say \ufffd]0;title\ufffd    end" in at.out


def test_programs_that_many_import_are_planned_once(tmp_path: Path):
    """X9: twelve layers of three programs that all import the whole next layer are 3^12 ways and 37 programs."""
    for layer in range(12):
        below = ", ".join(f"./p{layer + 1}-{n}.md" for n in range(3)) if layer < 11 else ""
        for n in range(3):
            program(tmp_path, name=f"p{layer}-{n}", more=f"imports: [{below}]\n")
    path = program(tmp_path, more="imports: [./p0-0.md, ./p0-1.md, ./p0-2.md]\n")
    plan = planned(path)
    assert len(plan["imports"]) == 36
    model = script(tmp_path, {"program": "count", "content": {"words": 1}})
    assert prosa("run", path, "--model", model, environ=user(tmp_path))[0] == 0


def test_another_model_reaches_shared_imports_once(tmp_path: Path):
    from prosa.app.options import Options
    from prosa.app.run.load import load_program
    from prosa.runtime.program import reachable, with_model
    from prosa.settings import Settings

    for name, below in (("d", ""), ("b", "./d.md"), ("c", "./d.md")):
        program(tmp_path, name=name, more=f"imports: [{below}]\n")
    loaded = load_program(program(tmp_path, more="imports: [./b.md, ./c.md]\n"), Options(), Settings())
    changed = with_model(loaded, "tiny")
    assert [each.name for each in reachable(changed)] == ["count", "b", "d", "c"]
    assert {each.model_name for each in reachable(changed)} == {"tiny"}
    assert changed.imports[0].imports[0] is changed.imports[1].imports[0]


def test_a_plan_with_an_input_that_a_run_would_refuse_fails(count: Path, tmp_path: Path):
    status, at = prosa("plan", count, "times=99", environ=user(tmp_path))
    assert (status, at.out) == (1, "")
    assert "the input of count is not valid" in at.err


def test_x9_the_settings_of_the_user_are_in_the_plan(count: Path, tmp_path: Path):
    place = configured(tmp_path, 'default-model = "mine"\n[limits]\nretries = 3\n')
    plan = planned(count, PROSA_CONFIG_DIR=place)
    assert (plan["model"], plan["limits"]["retries"]) == ("mine", 3)


# ---- demo ----


def test_the_demo_runs_end_to_end_and_prints_json_alone_on_stdout(tmp_path: Path):
    """LA29: without a terminal the shipped programs run without the agreement, and the tour says so."""
    process = started("demo", environ=user(tmp_path, MARKDOWNLANG_AGREE="", COLUMNS="80"), cwd=tmp_path)
    out, errors = process.communicate(timeout=120)
    told = errors.decode()
    assert process.returncode == 0, told
    result = json.loads(out)
    assert (result["title"], result["share_of_fixes"]) == ("Version 2.4.0", 0.67)
    assert (
        "--replay tapes\n   1  release-notes\n   1.0/1  classify-change\n" in told
    )  # the same from its recording (X27)
    assert "Every reply is scripted or recorded, as there is no real model here: " in told  # and none is fetched
    assert "SCRIPTED" in told and "requires an agreement (`prosa agree`)" in told
    assert "lighthouse.mda:9:5  Keeping the lighthouse" in told  # a hit of the search
    assert "inline    Notes of the watch" in told  # a backlink
    picture = told.partition("open in a browser:\n")[2].splitlines()[0].strip()
    assert "<html" in Path(picture.replace("~", str(tmp_path / "home"))).read_text("utf-8")
    assert "the result of `duties` is stale" in told and "- Clean it on Mondays." in told
    assert "### @assistant:\n\n  High water is at 16:40." in told
    assert "answer not accepted: /share_of_fixes" in told
    assert "python answered" in told and "classify-change: finished" in told
    assert "✓ A new feature" in told and "pass^1 0.83" in told  # the test of the imported program, played
    assert "it leaves at **10:05**" in told  # X32: a skill is run, tested and converted
    assert "lift of delay-notice: +1.00" in told and "delay-notice/evals/evals.json · delay-notice · with the" in told
    assert "name: delay-notice\n" in told.partition("--to program")[2]
    page = told.partition("Its page, with every answer, is yours to open in a browser:\n")[2].splitlines()[0].strip()
    assert "100 of 100 rows done" in Path(page.replace("~", str(tmp_path / "home"))).read_text("utf-8")  # X37
    assert "killed at call 50" in told and "100 of 100 rows done" in told  # X29: a batch that goes on
    assert "prosa run" in told and "--base-url URL or --model local" in told
    assert "8 items on 2 pages" in told and "The server has stopped.\n" in told
    assert told.startswith("A tour of Prosa\n") and told.endswith("lists the commands.\n\n")
    assert "requires an agreement" in told.partition("\n1. ")[0]  # said before it begins
    summary = summary_in(told)
    assert summary["agent_calls"]["calls_by_agent"] == {"classify-change": 3}
    assert (summary["iterations"], summary["tools_called"], summary["errors"]) == (4, 1, 1)
    assert not (tmp_path / "home" / ".markdownlang-agreement.json").exists()
    fits(told + out.decode(), tmp_path)


def fits(told: str, folder: Path) -> None:
    """The whole tour has at most 80 columns, paths that a person would write, and no promise of a duration."""
    told = told.replace(str(Path(prosa_package.__file__).parent), "SHIPPED").replace(str(CACHE), "CACHE")
    assert [line for line in told.splitlines() if len(line) > 80] == []
    named = [
        line
        for line in told.splitlines()
        if any(each in line for each in (str(folder), gettempdir(), str(Path.home())))
    ]
    assert named == []
    prose = told.partition("$ prosa")[0]
    assert not any(word in prose for word in ("second", "minute"))
    assert "compiling the sandbox" not in told or "once for this machine" in told


def toured(typed: str, folder: Path) -> tuple[int, Desk]:
    """The tour at a terminal, as somebody who has not agreed yet."""
    at = desk(typed, user(folder, MARKDOWNLANG_AGREE="", TERM="dumb"), terminal=True)
    return main(["demo"], at.console), at


def test_la29_at_a_terminal_the_demo_shows_the_agreement_and_stops_without_it(tmp_path: Path):
    status, at = toured("no\nno\nno\n", tmp_path)
    assert (status, at.out) == (1, "")
    assert "markdownlang Trans Rights Agreement" in at.err
    assert "You are asked now" in at.err.partition("markdownlang Trans")[0]  # said before it is asked
    assert "$ prosa" not in at.err  # nothing else stops the tour


def test_la29_at_a_terminal_the_demo_goes_on_after_the_agreement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(agree.__kwdefaults__, "choose", lambda count: 0)
    status, at = toured("Trans rights are human rights\n", tmp_path)
    assert status == 0
    assert json.loads(at.out)["title"] == "Version 2.4.0"
    assert "Agreement accepted." in at.err.partition("$ prosa")[0]  # before the first stop; then nothing is asked
    assert (tmp_path / "home" / ".markdownlang-agreement.json").exists()


def test_the_events_of_a_run_with_imports_are_those_of_the_demo(tmp_path: Path):
    folder = Path(__file__).parents[2] / "src" / "prosa" / "demo"
    argv = [folder / "release-notes.md", "--input", f"@{folder / 'input.json'}", "--events", "jsonl"]
    status, at = prosa("run", *argv, "--model", f"scripted:{folder / 'replies.jsonl'}", environ=user(tmp_path))
    assert status == 0
    ends = [each for each in events_in(at.err) if each["event"] == "run-finished"]
    assert [each["program"] for each in ends] == ["classify-change"] * 3 + ["release-notes"]
    assert len({each["scope"] for each in ends}) == 4


# ---- lines of the tour ----

STYLED = st.sampled_from(["word", "a", "\x1b[31mred\x1b[0m", "x" * 30, "  ", "│", "├─", "'two words'", "é"])


@given(st.lists(STYLED, max_size=40), st.integers(20, 100), st.integers(0, 6))
def test_folding_loses_no_word_and_cuts_none(words: list[str], width: int, indent: int):
    line = " " * indent + " ".join(words)
    folded = list(fold(line, width))
    assert " ".join(folded).split() == line.split()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", each) for each in folded]
    assert all(len(each) <= width or len(each.split()) == 1 for each in plain)


@given(st.lists(st.sampled_from(["word", "--flag", "'two words'", "x" * 30, "a='b c'"]), max_size=30))
def test_a_folded_command_is_the_same_command(words: list[str]):
    line = "$ prosa " + " ".join(words)
    assert shlex.split("\n".join(fold(line, 40)).replace(" \\\n", " ")) == shlex.split(line)


def test_what_is_no_line_is_written_as_it_is():
    stream = io.StringIO()
    folding = Folded(stream, 40)
    for piece in (
        "Type it: ",
        "\r\x1b[Kstatus",
        "\n",
        "a " * 30,
        "b\n",
        "x" * 60 + "\n",
        f"3 | {'y' * 50}\n  | {'^' * 50}\n",
    ):
        folding.write(piece)
    lines = stream.getvalue().split("\n")
    assert lines[0] == "Type it: \r\x1b[Kstatus" and "x" * 60 in lines
    assert lines[-2] == f"  | {'^' * 36}"


SENT = {
    "a.md": NO_OUTPUT.replace("Say {{ .word | upper }}.", "# One\n\nSay {{ .word }}.\n\n{{- /* x */}}\nEnd"),
    "SKILL.md": "---\nname: skill\ndescription: Says something in lines.\n---\n# Skill\n\nFirst.\n\n- Second.\n",
    "a.mda": '# D\n\nText.\n\nMore.\n\n```ai-script\n{"script-id": "s", "prompt": "p"}\n```\n',
}


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_x2_a_prompt_has_line_feeds_whatever_line_ends_its_document_has(name: str, end: str, tmp_path: Path):
    """X2. Programs, skills and ai-scripts, as chats: a prompt is the same however git checks it out. Input keeps its
    own."""
    found = []
    for ends in ("\n", end):
        folder = tmp_path / ends.encode().hex() / "skill"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(SENT[name].replace("\n", ends).encode())
        words = (
            ["--input", '{"word": "a\\r\\nb"}'] if name == "a.md" else ["--input", "Go."] if name == "SKILL.md" else []
        )
        status, at = prosa("render", folder / name, *words, environ=user(tmp_path))
        assert status == 0, at.err
        found.append(at.out)
    assert found[0] == found[1]
    assert ("a\r\nb" in found[0]) == (name == "a.md")
