"""Scripts of skills in the sandbox: what they are given, what they may do, and what ends them (X32, L22, X9)."""

from __future__ import annotations

import json

import pytest

from prosa.app.options import Options
from prosa.app.run.skills import skills_program
from prosa.runtime.limits import Limits
from prosa.runtime.skill import Skill, skill_tools
from prosa.settings import Settings
from tests.adapters.sandbox.conftest import cache, runner  # noqa: F401 - the sandbox that all tests share
from tests.app.run.skills.worlds import call, skill, write
from tests.runtime.worlds import FakeSandbox
from tests.runtime.worlds import run as run_in

NORMAL = Limits()
COUNT = """\
import json, sys
from pathlib import Path
from helper import shout
print(shout(" ".join(sys.argv[1:])), sys.argv[0], __name__, Path(__file__).parent)
print(sys.stdin.read().upper(), end="")
Path("out.txt").write_text(Path("in.txt").read_text() * 2)
Path("raw.bin").write_bytes(b"\\xff")
print(Path("/skill/references/a.md").read_text(), end="")
"""


@pytest.fixture(scope="module")
def sandbox(runner, cache):  # noqa: F811
    from prosa.adapters.sandbox import WasmSandbox

    sandbox = WasmSandbox(cache, workers=1)
    runner.run(sandbox.warm())
    yield sandbox
    runner.run(sandbox.aclose())


@pytest.fixture
def start(tmp_path, runner, sandbox):  # noqa: F811
    """Runs a script of a skill whose folder is `tmp_path/greeting`, which has further files."""

    def start(code, more=None, *, limits=NORMAL, **arguments):
        home = skill(tmp_path, files={"scripts/x.py": code, **(more or {})})
        value = Skill("greeting", "", "", str(home), ("scripts/x.py",), ("scripts/x.py",), chosen=True)
        (tool,) = skill_tools([value], None, sandbox, limits)
        result = runner.run(tool.call({"script": "scripts/x.py", **arguments}, "1.0"))
        return json.loads(result.content) | {"is_error": result.is_error}

    return start


def test_x32_a_script_has_arguments_input_files_and_its_folder_to_read(start):
    more = {"scripts/helper.py": "def shout(text): return text.upper()\n", "references/a.md": "a\n"}
    ran = start(COUNT, more, arguments=["ada", "bob"], stdin="hi\n", files={"in.txt": "in "})
    assert ran["error"] is None, ran["stderr"]
    said = "ADA BOB scripts/x.py __main__ /skill/scripts\nHI\na\n"
    assert ran["stdout"] == f"{said}[wrote out.txt:]\nin in \n[wrote raw.bin, which is no text]\n"


@pytest.mark.parametrize(
    "code",
    [
        "open('/skill/SKILL.md', 'a')",
        "open('/skill/new.md', 'w')",
        "import os; os.remove('/skill/SKILL.md')",
        "import os; os.mkdir('/skill/new')",
        "import os; os.rename('/skill/SKILL.md', '/skill/X.md')",
        "import os; os.rename('/skill/SKILL.md', '/tmp/X.md')",
    ],
)
def test_x32_the_folder_of_a_skill_can_only_be_read(start, tmp_path, code):
    assert start(code)["error"]
    assert sorted(each.name for each in (tmp_path / "greeting").iterdir()) == ["SKILL.md", "scripts"]
    assert (tmp_path / "greeting" / "SKILL.md").read_text().startswith("---\nname: greeting")


@pytest.mark.parametrize("path", ["/skill/link.md", "/skill/folder/secret.md", "/skill/../secret.md", "SECRET"])
def test_x32_a_script_reads_nothing_outside_of_the_folder(start, tmp_path, path):
    write(tmp_path / "secret.md", "the secret")
    home = skill(tmp_path)
    (home / "link.md").symlink_to(tmp_path / "secret.md")
    (home / "folder").symlink_to(tmp_path)
    ran = start(f"print(open({path.replace('SECRET', str(tmp_path / 'secret.md'))!r}).read())")
    assert ran["error"] and "the secret" not in ran["stdout"] + ran["stderr"]


def test_x32_a_script_that_loops_is_ended(start):
    ran = start("while True: pass\n", limits=Limits(python_timeout=0.3))
    assert ran["error"] == "execution failed: timed out after 0.3 s" and ran["is_error"]


def test_x32_a_script_that_takes_all_memory_is_ended(start):
    assert "MemoryError" in start("x = 'a' * 10**9", limits=Limits(python_memory=64 * 2**20))["error"]


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess; subprocess.run(['ls'])",
        "import os; os.system('ls') and 1/0",
        "import socket; socket.create_connection(('127.0.0.1', 80))",
        "import os; os.execv('/bin/ls', ['ls'])",
    ],
)
def test_x32_a_script_starts_nothing_and_reaches_nothing(start, code):
    assert start(code)["error"]


def test_x32_how_a_script_ends_is_told(start):
    assert start("import sys; sys.exit('no styles')")["error"] == "execution failed: SystemExit: no styles"
    assert "SyntaxError" in start("def")["error"]
    assert "yaml" in start("import yaml")["error"]
    assert start("x", arguments=["\ud800"])["error"]


def test_x32_each_script_has_a_working_folder_of_its_own(start):
    assert start("open('a', 'w').write('1')")["error"] is None
    ran = start("import os; print(os.listdir('.'), os.getcwd())")
    assert ran["stdout"] == "[] /tmp\n"


@pytest.mark.parametrize("name", ["../x", "/skill/x", "..", ""])
def test_x32_given_files_stay_in_the_working_folder(start, name):
    assert start("print(1)", files={name: "x"})["error"]


def test_x32_much_that_is_written_is_not_all_shown(start):
    ran = start("for n in range(40): open(f'{n}', 'w').write('x')\nopen('big', 'w').write('y' * 10**6)")
    assert "not shown" in ran["stdout"] and len(ran["stdout"]) < 5_000


def test_x32_the_folder_is_handed_to_the_sandbox_and_its_absence_withholds_the_tool(tmp_path):
    home = skill(tmp_path, files={"scripts/x.py": "print(1)"})
    program = skills_program((), Options(), Settings(), chosen=home, python=False)
    fake = FakeSandbox()
    ran = run_in(program, {"request": "x"}, [call("skill_run", script="scripts/x.py"), {"content": "x"}], sandbox=fake)
    assert ran.output == "x" and fake.folders == [str(home)]
    without = run_in(program, {"request": "x"}, [{"content": "x"}])
    assert [each.name for each in without.requests[0].tools] == []


def test_x32_a_script_that_is_not_there_is_refused(tmp_path):
    home = skill(tmp_path, files={"scripts/x.py": "print(1)"})
    program = skills_program((), Options(), Settings(), chosen=home)
    replies = [call("skill_run", script="../x.py"), {"content": "x"}]
    ran = run_in(program, {"request": "x"}, replies, sandbox=FakeSandbox())
    assert "do not satisfy the tool's schema" in ran.requests[1].messages[-1].content
