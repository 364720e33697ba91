"""Skills that mean harm, or were written badly: a clear word or a run, never a traceback, and nothing outside of them
(X5, X6, X32)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.app.options import Options
from prosa.app.run.load import load_program
from prosa.runtime.errors import RunError
from prosa.runtime.skill import skills_text
from prosa.settings import Settings
from prosa.source import FileProblem
from tests.app.run.skills.worlds import call, run, skill, write
from tests.cli.programs import prosa, script, user
from tests.depth import examples

BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0\0",
        b"\xff\xfe\0x",
        b"---\n",
        b"---\nname: x\n",
        b"---\n- a\n---\nx",
        b"---\nname: [\n---\nx",
        b"---\nname: !!python/object:os.system x\n---\nx",
        f"---\nname: x\ndescription: y\n{BOMB}---\nx".encode(),
        b"---\nname: " + b"x" * 300_000 + b"\n---\nx",
        b"---\nname: {a: b}\ndescription: [c]\nallowed-tools: {x: y}\narguments: {z: 1}\n---\n$ARGUMENTS $z",
        b"no front matter at all\n",
        b"# Only a heading",
        "---\nname: \u202egpj\ndescription: \x07\n---\n\x1b[2J".encode(),
    ],
)
def test_x32_a_bad_skill_runs_or_is_refused_in_words(tmp_path, text):
    home = tmp_path / "greeting"
    write(home / "SKILL.md", text)
    model = script(tmp_path, {"content": "x"})
    for argv in (
        ("run", home, "x", "--model", model),
        ("plan", home, "x"),
        ("render", home, "x"),
        ("run", home, "--help"),
    ):
        status, at = prosa(*argv, environ=user(tmp_path))
        assert status in (0, 1, 2)
        assert "Traceback" not in at.err and "internal error" not in at.err, at.err
        assert status == 0 or str(home / "SKILL.md") in at.err, at.err
        assert "\x1b" not in at.out or argv[0] == "render"


def test_x9_a_skill_of_a_megabyte_runs_and_is_cut_where_a_model_loads_it(tmp_path):
    home = skill(tmp_path, body="All of it. ü\n" * 80_000)
    program = load_program(home, Options(), Settings())
    assert len(run(program, "x", [{"content": "x"}]).first["system"]) > 1_000_000
    from prosa.app.run.skills import skills_program

    replies = [call("skill", name="greeting"), {"content": "x"}]
    ran = run(skills_program([home], Options(), Settings()), "x", replies)
    assert len(ran.answer().encode()) < 257 * 1024 and "[cut:" in ran.answer()


def test_x9_a_skill_larger_than_a_document_may_be_is_refused(tmp_path):
    home = skill(tmp_path, body="x" * 2_000)
    with pytest.raises(FileProblem, match="too large"):
        load_program(home, Options(max_size=1_000), Settings())


def test_x5_a_skill_behind_a_link_is_one_of_the_folder_that_the_user_named(tmp_path):
    home = skill(tmp_path / "real", files={"references/styles.md": "x"})
    (tmp_path / "link").symlink_to(home)
    assert load_program(tmp_path / "link", Options(), Settings()).skills[0].files == ("references/styles.md",)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "loop", tmp_path / "loop" / "SKILL.md"):
        with pytest.raises((FileProblem, RunError)):
            load_program(path, Options(), Settings())


def test_x5_a_file_of_a_skill_that_is_a_pipe_holds_up_nothing(tmp_path):
    home = tmp_path / "greeting"
    home.mkdir()
    os.mkfifo(home / "SKILL.md")
    with pytest.raises(FileProblem, match="a pipe"):
        load_program(home / "SKILL.md", Options(), Settings())


def test_x5_where_nobody_named_the_skill_no_link_is_followed(tmp_path):
    write(tmp_path / "secret.md", "---\nname: secret\ndescription: x\n---\nThe secret.\n")
    home = tmp_path / "root" / "greeting"
    home.mkdir(parents=True)
    (home / "SKILL.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(FileProblem, match="outside the root"):
        load_program(home, Options(), Settings(), within=tmp_path / "root")


@settings(max_examples=examples(60), deadline=None)
@given(
    name=st.text(max_size=20), description=st.text(max_size=60), body=st.text(max_size=200), request=st.text(min_size=1)
)
def test_x32_what_a_skill_says_never_becomes_structure(tmp_path_factory, name, description, body, request):
    from prosa.dialects.skill_md.as_dialect import write as text_of

    home = tmp_path_factory.getbasetemp() / "said" / "greeting"
    fields = {"name": name or "x", "description": description or "x"}
    try:
        write(Path(home, "SKILL.md"), text_of(fields, body).encode())
        program = load_program(home, Options(), Settings())
    except (UnicodeEncodeError, RunError):
        return
    (told,) = [
        each for each in skills_text([replace(program.skills[0], chosen=False)]).split("\n") if each.startswith("- ")
    ]
    assert told.startswith(f"- {program.skills[0].name}: ")
    messages = run(program, request, [{"content": "x"}]).requests[0].messages
    assert [each.role for each in messages] == ["system", "user"]
    assert messages[-1].content == request or program.skills[0].arguments is not None
