"""`prosa run` from its arguments to its result, what it refuses, and its help."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prosa.app.options import Environment, Options
from prosa.app.run.jobs import run_program
from prosa.app.run.load import load_program
from prosa.cli.markdownlang import main as markdownlang
from prosa.dialects.markdownlang.agreement import PHRASES
from prosa.settings import Settings
from prosa.testing import ScriptedProvider
from tests.cli.desk import desk
from tests.cli.programs import (
    ANSWER,
    BROKEN,
    events_in,
    look_at,
    program,
    prosa,
    ran,
    rendered,
    script,
    started,
    summary_in,
    user,
)


# ---- the result ----
def test_l43_the_result_is_alone_on_stdout(count: Path):
    status, at = ran(count, "text=two words")
    assert (status, at.out, at.err) == (0, '{\n  "words": 2\n}\n', "")


def test_l35_output_writes_the_file_whole_and_prints_nothing(count: Path, tmp_path: Path):
    target = tmp_path / "result.json"
    target.write_text("old")
    status, at = ran(count, "--output", target)
    assert (status, at.out, at.err) == (0, "", "")
    assert json.loads(target.read_text()) == {"words": 2}
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".tmp")] == []


def test_l35_output_can_be_a_device(count: Path):
    assert ran(count, "--output", "/dev/null")[0] == 0


@pytest.mark.parametrize(
    ("target", "words"),
    [("none/result.json", "the folder"), ("", "is a folder"), ("locked.json", "permission denied")],
)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_asked(
    target: str, words: str, count: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The script has no replies: a model that was asked would be another error."""
    (tmp_path / "locked.json").write_text("mine")
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "locked.json")
    status, at = ran(count, "--output", tmp_path / target, "--summary", replies=({"error": "asked"},))
    assert status == 2
    assert words in at.err and "asked" not in at.err
    assert summary_in(at.err)["success"] is False
    assert (tmp_path / "locked.json").read_text() == "mine"


# ---- what cannot be run ----
def test_a_program_with_three_mistakes_tells_all_three_with_their_lines(tmp_path: Path):
    path = program(tmp_path, text=BROKEN)
    status, at = ran(path)
    assert status == 1
    for line in (4, 5, 8):
        assert f"{path}:{line}:" in at.err
    assert at.err.count(" error: ") == 3
    assert at.err.endswith(f"error: the program has errors and was not run\n  run: prosa check {path}\n")


@pytest.mark.parametrize(
    ("name", "words"),
    [("gone.md", "no such file"), (".", "is a folder"), ("binary.md", "looks like a binary file")],
)
def test_a_file_that_is_no_program_is_wrong_use(name: str, words: str, tmp_path: Path):
    (tmp_path / "binary.md").write_bytes(b"\x7fELF\0\xff\0")
    status, at = prosa("run", tmp_path / name, environ=user(tmp_path))
    assert status == 2
    assert words in at.err


def test_l41_without_the_agreement_nothing_runs(count: Path, tmp_path: Path):
    status, at = ran(count, "--summary", MARKDOWNLANG_AGREE="")
    assert status == 1
    paragraphs = at.err[at.err.index("\nThe markdownlang agreement") :].split("\n\n")
    assert paragraphs[0].strip().startswith("The markdownlang agreement has not been accepted yet.")
    assert paragraphs[1] == "To accept the agreement, run: prosa agree\n"
    assert summary_in(at.err)["error"].startswith("The markdownlang agreement")


@pytest.mark.parametrize(("phrase", "status"), [(PHRASES[15], 0), (PHRASES[15].lower(), 1), ("yes", 1)])
def test_la29_the_variable_holds_a_phrase_exactly(phrase: str, status: int, count: Path):
    found, at = ran(count, MARKDOWNLANG_AGREE=phrase)
    assert found == status
    assert ("holds none of the 16 phrases" in at.err) == bool(status)


def test_x17_without_key_and_base_url_there_are_three_ways_on(count: Path, tmp_path: Path):
    status, at = prosa("run", count, environ=user(tmp_path))
    assert status == 1
    assert at.err == (
        "error: no model to ask: there is no key and no base URL\n"
        "  Three ways on:\n"
        "  - a key: set OPENAI_API_KEY\n"
        "  - another server: --base-url URL, or a model server on this machine: --model local\n"
        "  - fixed replies, without any model: --model scripted:FILE\n"
    )


def test_l12_a_wrong_input_is_told_before_a_missing_key(count: Path, tmp_path: Path):
    status, at = prosa("run", count, "--input", "[]", environ=user(tmp_path))
    assert status == 1
    assert "the input of " in at.err
    assert "Three ways on" not in at.err


@pytest.mark.parametrize(("answer", "words"), [("y\n", "no local model server"), ("n\n", "Three ways"), ("", "Three")])
def test_x17_on_a_terminal_a_person_is_asked_for_a_local_server(
    answer: str, words: str, count: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    look_at(monkeypatch)
    status, at = prosa("run", count, environ=user(tmp_path), typed=answer, terminal=True)
    assert status == 1
    assert "Look for a model server on this machine? [y/N] " in at.err
    assert words in at.err


def test_x17_model_local_tells_where_it_looked(count: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ports = {"Ollama": 1, "vLLM": 2}
    look_at(monkeypatch, **ports)
    status, at = prosa("run", count, "--model", "local:tiny", environ=user(tmp_path))
    assert status == 1
    assert "no local model server offers `tiny`; tried Ollama on port 1: nothing listens; vLLM on port 2" in at.err


def test_an_unreachable_server_fails_in_words(count: Path, tmp_path: Path):
    status, at = prosa("run", count, "--base-url", "http://127.0.0.1:1/v1", "--retries", 0, environ=user(tmp_path))
    assert status == 1
    assert "error: the model service at http://127.0.0.1:1/v1 cannot be reached: connection refused" in at.err
    assert "Traceback" not in at.err


@pytest.mark.parametrize("url", ["http://x:99999", "ftp://x/v1", "x", "http://[1", "http://user:secret@x:99999"])
def test_x7_a_base_url_that_is_none_is_an_error_that_shows_no_secret(url: str, count: Path, tmp_path: Path):
    status, at = prosa("run", count, "--base-url", url, environ=user(tmp_path, OPENAI_API_KEY="sk-mine"))
    assert status == 1
    assert "is not an http address" in at.err
    assert "secret" not in at.err and "sk-mine" not in at.err


def test_x16_a_script_that_is_not_there_is_named(count: Path, tmp_path: Path):
    status, at = prosa("run", count, "--model", f"scripted:{tmp_path / 'gone.jsonl'}", environ=user(tmp_path))
    assert status == 2
    assert "gone.jsonl: no such file of scripted replies" in at.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--max-iterations", "0"], "at least 1"),
        (["--timeout", "soon"], "expected a time"),
        (["--python-memory", "lots"], "expected a size"),
        (["--retries", "-1"], "whole number"),
        (["--root", "/no/such/folder"], "no such folder"),
        (["--api", "grpc"], "--api grpc: expected one of chat, responses"),
        (["--events", "xml"], "--events knows jsonl and jsonl:FILE, not 'xml'"),
        (["--sumary"], "did you mean --summary?"),
    ],
)
def test_x9_a_flag_that_makes_no_sense_is_wrong_use(flags: list[str], words: str, count: Path):
    status, at = ran(count, *flags)
    assert status == 2
    assert words in at.err


@pytest.mark.parametrize("command", ["run", "render", "plan"])
def test_what_is_missing_is_the_file_and_not_the_input(command: str, tmp_path: Path):
    status, at = prosa(command, environ=user(tmp_path))
    assert status == 2
    assert at.err == f"error: FILE is missing\n  see: prosa {command} --help\n"


def test_x5_with_a_root_an_import_outside_is_not_opened(tmp_path: Path):
    inside = tmp_path / "inside"
    inside.mkdir()
    program(tmp_path, name="far")
    path = program(inside, more="imports: [../far.md]\n")
    assert prosa("run", path, "--model", script(inside), environ=user(tmp_path))[0] == 0
    status, at = prosa("run", path, "--model", script(inside), "--root", inside, environ=user(tmp_path))
    assert status == 1
    assert "import-outside-root" in at.err


def test_x9_memory_that_no_sandbox_can_keep_is_refused_before_a_model_is_asked(count: Path):
    status, at = ran(count, "--python-memory", "1MB", "--events", "jsonl")
    assert status == 1
    assert "error: count gives Python 1 MB of memory; the sandbox needs 40 MB" in at.err
    assert "model-asked" not in at.err


def test_la18_x10_without_a_safe_place_for_its_cache_the_python_tool_is_withheld(count: Path, tmp_path: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    status, at = ran(count, "--events", "jsonl", PROSA_CACHE_DIR=str(shared))
    assert status == 0
    assert "warning: the python tool is not offered" in at.err
    offered = next(each for each in events_in(at.err) if each["event"] == "tools-offered")
    assert offered["tools"] == []


def test_la17_a_withheld_tool_is_not_recommended_either(tmp_path: Path):
    path = program(tmp_path, more="mcp_servers: [{name: python-interpreter}]\n")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert "Prefer the `python` tool" in rendered(path, "--messages")[1].out

    provider = ScriptedProvider([ANSWER])
    around = Environment(user(tmp_path, PROSA_CACHE_DIR=str(shared)), Settings())

    loaded = load_program(path, Options(), around.settings)
    asyncio.run(run_program(loaded, {}, Options(), around, provider=provider))
    assert "Prefer the `python` tool" not in provider.requests[0].messages[0].content


# ---- the help of a program ----
def test_a_programs_help_lists_its_inputs_and_runs_nothing(tmp_path: Path):
    path = program(tmp_path)
    status, at = prosa("run", path, "--help", environ=user(tmp_path, MARKDOWNLANG_AGREE=""))
    assert (status, at.err) == (0, "")
    assert at.out.startswith("count: Counts the words of a text.\n")
    assert f"usage: prosa run {path} [text=…] [times=…]" in at.out
    assert "default 'nothing'" in at.out
    assert "  words  integer" in at.out


@pytest.mark.parametrize(
    "argv", [["--help", "{}", "text=a.md"], ["--input", "{{}}", "{}", "-h"], ["--output", "old.json", "{}", "--help"]]
)
def test_a_programs_help_works_wherever_the_flag_stands(argv: list[str], tmp_path: Path):
    path = program(tmp_path)
    (tmp_path / "old.json").write_text("{}")
    status, at = prosa("run", *(item.format(path) for item in argv), environ=user(tmp_path))
    assert (status, at.out.splitlines()[0]) == (0, "count: Counts the words of a text.")


def test_la2_a_programs_help_needs_no_output_schema_and_sends_no_escapes(tmp_path: Path):
    text = '---\nname: loud\ndescription: "a\\e[31mb"\ninput: {type: object}\n---\nAnswer.\n'
    path = program(tmp_path, name="loud", text=text)
    status, at = prosa("run", path, "--help", environ=user(tmp_path))
    assert status == 0
    assert at.out.startswith("loud: a\ufffd[31mb\n")


def test_help_without_a_program_is_that_of_the_command(tmp_path: Path):
    status, at = prosa("run", "--help", environ=user(tmp_path))
    assert status == 0
    assert at.out.startswith("usage: prosa run")
    assert prosa("run", tmp_path / "gone.md", "--help", environ=user(tmp_path))[0] == 2


# ---- real processes ----
def test_a_closed_pipe_ends_the_command_quietly(count: Path, tmp_path: Path):
    command = [sys.executable, "-c", "from prosa.cli.main import entry; entry()", "run", str(count)]
    environ = {"PYTHONPATH": os.environ["PYTHONPATH"], **user(tmp_path)}
    line = [*command, "--model", script(tmp_path), "--summary"]
    done = subprocess.run(
        ["sh", "-c", '"$@" | true', "sh", *line], env=environ, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stderr)["success"] is True


def test_l35_x16_markdownlang_runs_a_program_with_its_own_flags(count: Path, tmp_path: Path):
    at = desk("", user(tmp_path))
    assert markdownlang(["-program", str(count), "-input", '{"text": "a b"}', "-summary"], at.console) == 1
    assert "no model to ask" in summary_in(at.err)["error"]
    assert "another server: -base-url URL\n" in at.err and "prosa run FILE --model local" in at.err


def test_a_process_prints_the_result_and_exits_with_0(count: Path, tmp_path: Path):
    done = started("run", count, "--model", script(tmp_path), environ=user(tmp_path))
    out, errors = done.communicate(timeout=120)
    assert (done.returncode, json.loads(out), errors) == (0, {"words": 2}, b"")


def test_standard_input_of_a_process_larger_than_the_limit_is_refused(count: Path, tmp_path: Path):
    done = started(
        "run", count, "--input", "-", "--model", script(tmp_path), environ=user(tmp_path), stdin=subprocess.PIPE
    )
    out, errors = done.communicate(b" " * (10 * 1024 * 1024 + 1), timeout=120)
    assert (done.returncode, out) == (2, b"")
    assert b"standard input is larger than 10,485,760 bytes" in errors


def test_a_process_without_streams_still_runs(count: Path, tmp_path: Path):
    target = tmp_path / "out.json"
    closed = 'exec 0<&- 1>&- 2>&-; exec "$@"'
    command = [sys.executable, "-c", "from prosa.cli.main import entry; entry()", "run", str(count)]
    line = [*command, "--model", script(tmp_path), "--output", str(target)]
    done = subprocess.run(
        ["sh", "-c", closed, "sh", *line], env={"PYTHONPATH": os.environ["PYTHONPATH"], **user(tmp_path)}
    )
    assert (done.returncode, json.loads(target.read_text())) == (0, {"words": 2})


def test_stdout_is_utf_8_whatever_the_locale_says(tmp_path: Path):
    path = program(tmp_path, text="---\nname: any\ndescription: d\ninput: {type: object}\noutput: {}\n---\nx\n")
    model = script(tmp_path, {"content": '"ümlaut 漢字"'})
    done = started("run", path, "--model", model, environ=user(tmp_path, LC_ALL="C", PYTHONIOENCODING="ascii"))
    out, _ = done.communicate(timeout=120)
    assert out.decode("utf-8") == '"ümlaut 漢字"\n'


@pytest.mark.parametrize("name", ["scripted", "scripted:"])
def test_x16_scripted_replies_need_a_file(name: str, count: Path, tmp_path: Path):
    status, at = prosa("run", count, "--model", name, environ=user(tmp_path, MARKDOWNLANG_AGREE=PHRASES[0]))
    assert status == 2
    assert f"--model {name}: the model `scripted` plays replies from a file, and none is named" in at.err
    assert "scripted:FILE" in at.err
