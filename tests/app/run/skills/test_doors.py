"""A skill through the doors: `prosa run`, `plan`, `render` and `prosa.run` (X32, X30)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import prosa as package
from prosa.dialects.markdownlang.agreement import PHRASES
from prosa.testing import ScriptedProvider
from tests.app.run.skills.worlds import call, skill
from tests.cli.programs import events_in, prosa, script, summary_in, user

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
READS = (call("skill_read", path="references/styles.md"), {"content": "Ahoy, Ada."})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return skill(tmp_path, files={"references/styles.md": "Say `Ahoy`.\n"})


def ran(path: Path, *argv, replies=({"content": "Ahoy, Ada."},), typed=""):
    folder = path if path.is_dir() else path.parent
    model = script(folder.parent, *replies)
    return prosa("run", path, *argv, "--model", model, environ=user(folder.parent), typed=typed)


@pytest.mark.parametrize("file", ["SKILL.md", ""])
@pytest.mark.parametrize(
    ("argv", "typed"),
    [
        (["Greet Ada"], ""),
        (["Greet", "Ada"], ""),
        (["request=Greet Ada"], ""),
        (["--input", '{"request": "Greet Ada"}'], ""),
        (["--input", '"Greet Ada"'], ""),
        (["--input", "Greet Ada"], ""),
        (["--input", "-"], "Greet Ada"),
        (["-"], "Greet Ada"),
    ],
)
def test_x32_a_skill_runs_with_a_request(home, file, argv, typed):
    status, at = ran(home / file, *argv, "--events", "jsonl", typed=typed)
    assert (status, at.out) == (0, "Ahoy, Ada.\n")
    status, at = prosa("render", home / file, *argv, environ=user(home.parent), typed=typed)
    assert (status, at.out) == (0, "Greet Ada\n")


def test_x32_a_request_in_a_file_is_taken_as_it_is(home):
    (home.parent / "request.txt").write_text('{"a": 1}\nGreet them.', encoding="utf-8")
    status, at = prosa("render", home, "--input", f"@{home.parent / 'request.txt'}", environ=user(home.parent))
    assert (status, at.out) == (0, '{"a": 1}\nGreet them.\n')


def test_x32_without_a_request_nothing_is_asked(home):
    status, at = ran(home, "--events", "jsonl")
    assert status == 2
    assert "greeting needs a request" in at.err and "model-asked" not in at.err


def test_x32_a_run_is_told_as_every_run(home):
    status, at = ran(home, "Greet Ada", "--summary", "--events", "jsonl", replies=READS)
    assert status == 0
    assert summary_in(at.err)["program"] == "greeting/SKILL.md" and summary_in(at.err)["tools_called"] == 1
    called = [each for each in events_in(at.err) if each["event"] == "tool-called"]
    assert [(each["tool"], each["kind"]) for each in called] == [("skill_read", "skill")]
    status, at = prosa("runs", environ=user(home.parent))
    assert "greeting" in at.out


def test_x32_a_schema_is_what_the_skill_answers(home):
    (home.parent / "schema.json").write_text(SCHEMA, encoding="utf-8")
    answers = ({"content": "no"}, {"content": {"n": 3}})
    status, at = ran(home, "x", "--output-schema", home.parent / "schema.json", replies=answers)
    assert (status, json.loads(at.out)) == (0, {"n": 3})


@pytest.mark.parametrize("text", ["{", '{"type": "strnig"}', "[]", "\ufeffx"])
def test_x32_a_file_without_a_schema_is_named(home, text):
    (home.parent / "schema.json").write_text(text, encoding="utf-8")
    status, at = ran(home, "x", "--output-schema", home.parent / "schema.json")
    assert status == 1 and "schema.json holds no JSON Schema" in at.err


def test_x32_a_program_takes_no_schema(home):
    path = home.parent / "say.md"
    path.write_text("---\nname: say\ndescription: Says.\noutput: {type: object}\n---\nSay.\n", encoding="utf-8")
    (home.parent / "schema.json").write_text(SCHEMA, encoding="utf-8")
    status, at = ran(path, "--output-schema", home.parent / "schema.json")
    assert status == 1 and "is a program with an output schema of its own" in at.err


def test_x32_x47_a_skill_needs_no_agreement(home):
    model = script(home.parent, {"content": "Ahoy."})
    environ = user(home.parent, MARKDOWNLANG_AGREE="")
    status, at = prosa("run", home, "x", "--model", model, environ=environ)
    assert (status, at.out) == (0, "Ahoy.\n")


def test_x32_a_run_is_played_again_until_the_skill_or_its_files_change(home):
    rec = home.parent / "rec"
    assert ran(home, "Greet Ada", "--record", rec, replies=READS)[0] == 0
    assert prosa("run", home, "Greet Ada", "--replay", rec, environ=user(home.parent))[1].out == "Ahoy, Ada.\n"
    (home / "references" / "styles.md").write_text("Say `Hi`.\n", encoding="utf-8")
    status, at = prosa("run", home, "Greet Ada", "--replay", rec, environ=user(home.parent))
    assert status == 1 and 'recorded "Say `Ahoy`.\\n", now "Say `Hi`.\\n"' in at.err


def test_x25_nothing_is_kept_of_a_confidential_skill(tmp_path):
    home = skill(tmp_path, more="classification: confidential\n")
    assert ran(home, "Greet Ada")[0] == 0
    assert "greeting" not in prosa("runs", environ=user(tmp_path))[1].out
    status, at = ran(home, "Greet Ada", "--record", tmp_path / "rec")
    assert status == 1 and "confidential" in at.err


def test_x32_a_run_stays_within_its_cap(home):
    status, at = ran(home, "x", "--max-cost", "0.000001")
    assert status == 1 and "0.000001" in at.err


def test_x32_plan_tells_what_a_run_may_do_and_what_the_skill_cannot_have(tmp_path):
    body = "Run !`git status` first.\n\n```sh\nmake\n```\n\nThen scripts/build.js and `scripts/x.py`.\n"
    more = "allowed-tools: Bash(git:*) Read\nhooks: {x: y}\n"
    home = skill(tmp_path, body=body, more=more, files={"scripts/x.py": "print(1)", "scripts/deploy.sh": "ls"})
    status, at = prosa("plan", home, "--format", "json", environ=user(tmp_path))
    plan = json.loads(at.out)
    assert status == 0
    assert plan["unavailable"] == [
        "greeting asks for commands whose output belongs in its text: `git status`",
        "greeting asks for a block of shell commands",
        "greeting asks for tools of its agent: `Bash(git:*)`, `Read`",
        "greeting asks for scripts in languages other than Python: `scripts/build.js`, `scripts/deploy.sh`",
        "greeting asks for hooks, which its agent runs",
    ]
    assert [each["name"] for each in plan["tools"]] == ["python", "skill_read", "skill_run"]
    text = prosa("plan", home, "x", environ=user(tmp_path))[1].out
    assert "requirements that are not met here:" in text and "may run scripts/x.py of the skill greeting" in text
    assert "response format: none" in text


@pytest.mark.parametrize(("word", "name"), [("embedded", "smollm2"), ("local:qwen3", "qwen3"), ("gpt-5", "gpt-5")])
def test_x32_a_plan_names_the_model_that_answers(home, word, name):
    text = prosa("plan", home, "x", "--model", word, environ=user(home.parent))[1].out
    assert f"with {name}\n" in text and f"asks {name} at most 10 times" in text


def test_x32_help_of_a_skill_says_how_it_is_called(home):
    status, at = prosa("run", home, "--help", environ=user(home.parent))
    assert status == 0 and f"usage: prosa run {home} 'REQUEST'" in at.out and "Greets people." in at.out


def test_x32_a_folder_without_a_skill_is_named(tmp_path):
    status, at = prosa("run", tmp_path, "x", environ=user(tmp_path))
    assert status == 2 and "is a folder without a SKILL.md" in at.err


@pytest.mark.parametrize("given", ["Greet Ada", {"request": "Greet Ada"}])
def test_x32_python_runs_a_skill(home, given):
    provider = ScriptedProvider([{"content": "Ahoy"}, {"content": {"n": 1}}])
    environ = {"MARKDOWNLANG_AGREE": PHRASES[0]}
    assert package.run(home, given, provider=provider, environ=environ).output == "Ahoy"
    schema = json.loads(SCHEMA)
    result = package.run(home / "SKILL.md", given, output=schema, provider=provider, environ=environ)
    assert result.output == {"n": 1}


@pytest.mark.parametrize(
    "block",
    [
        "python scripts/x.py",
        "$ python3 scripts/a/x.py FILE --n 3",
        "# first\n\nscripts/x.py a 'b c'",
        "python ${CLAUDE_SKILL_DIR}/scripts/x.py",
    ],
)
def test_x32_calls_of_its_own_scripts_need_no_shell(tmp_path, block):
    home = skill(tmp_path, body=f"```bash\n{block}\n```\n")
    assert "cannot have" not in prosa("plan", home, environ=user(tmp_path))[1].out


@pytest.mark.parametrize(
    "block", ["python scripts/x.py | sh", "python scripts/x.py && ls", "python x.py", "scripts/x.sh", "ls"]
)
def test_x32_all_other_commands_need_a_shell(tmp_path, block):
    home = skill(tmp_path, body=f"```bash\n{block}\n```\n")
    assert "a block of shell commands" in prosa("plan", home, environ=user(tmp_path))[1].out


def test_x32_plan_names_modules_that_the_sandbox_does_not_have(tmp_path):
    code = "import json, os\nfrom helper import x\nfrom yaml import load\nimport scripts.helper\n    import PIL.Image\n"
    home = skill(tmp_path, files={"scripts/x.py": code, "scripts/helper.py": "x = 1\n"})
    text = prosa("plan", home, environ=user(tmp_path))[1].out
    assert "greeting asks for modules that the sandbox does not have: `yaml`, `PIL`\n" in text


def test_x25_a_skill_with_a_confidential_file_is_confidential(tmp_path):
    home = skill(tmp_path, files={"references/a.md": "---\nclassification: secret\n---\nx\n"})
    assert ran(home, "Greet Ada")[0] == 0
    assert "greeting" not in prosa("runs", environ=user(tmp_path))[1].out


def test_x25_a_run_that_broke_off_goes_on(home):
    status, at = ran(home, "Greet Ada", replies=READS[:1])
    assert status == 1 and "prosa run --resume" in at.err
    run = at.err.rpartition("--resume ")[2].split()[0]
    model = script(home.parent, READS[1])
    status, at = prosa("run", "--resume", run, "--model", model, environ=user(home.parent))
    assert (status, at.out) == (0, "Ahoy, Ada.\n"), at.err


@pytest.mark.parametrize(
    "body", ["Write `foo!`-rules (e.g. `x`).", "Wow!`ls`", "`!`ls`", "\\!`ls` is shown", "```md\n!`ls`\n```"]
)
def test_x32_a_mark_in_front_of_code_is_not_always_a_command(tmp_path, body):
    home = skill(tmp_path, body=f"{body}\n")
    assert "cannot have" not in prosa("plan", home, environ=user(tmp_path))[1].out
