"""`prosa convert` at the command line: where results go, what is never touched, and what is said (X31)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prosa.cli.main import main
from tests.cli.desk import Desk, desk
from tests.convert.test_skills import URL_FETCHER, skill
from tests.depth import examples

GREET = "---\nname: greet\ndescription: Greets.\ninput: {type: object}\noutput: {type: object}\n---\n\nHello.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two skills, which is the working directory."""
    for name, text in (("fetcher", URL_FETCHER), ("other", skill("\nDo it.\n"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text, encoding="utf-8")
    (tmp_path / "greet.md").write_text(GREET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words: str, status: int = 0, typed: str = "") -> Desk:
    it = desk(typed)
    assert main(["convert", *words], it.console) == status, it.err
    return it


def test_x31_one_result_goes_to_stdout_and_the_report_to_stderr(folder):
    it = ran("fetcher", "--to", "program")
    assert it.out.startswith("---\nname: url-fetcher\n")
    assert "fetcher/SKILL.md:1: guessed: " in it.err
    assert sorted(each.name for each in folder.iterdir()) == ["fetcher", "greet.md", "other"]


def test_x31_the_report_as_json_has_the_keys_of_the_interface(folder):
    data = json.loads(ran("fetcher/SKILL.md", "--to", "program", "--report", "json").err)
    assert set(data) == {"kept", "items"}
    assert all(set(item) == {"level", "from", "to", "message"} for item in data["items"])
    assert all(set(item["from"]) == {"path", "line", "pointer"} for item in data["items"])


def test_x31_several_results_go_beside_their_sources_or_into_a_folder(folder):
    ran("fetcher", "other", "--to", "program")
    assert (folder / "fetcher" / "fetcher.md").is_file()
    assert (folder / "other" / "other.md").is_file()
    ran("fetcher", "other", "--to", "program", "--output", "out")
    assert sorted(each.name for each in (folder / "out").iterdir()) == ["fetcher.md", "other.md"]
    assert main(["check", str(folder / "out")], desk().console) == 0


def test_x31_nothing_is_overwritten_unless_forced(folder):
    (folder / "out.md").write_text("mine", encoding="utf-8")
    it = ran("fetcher", "--to", "program", "-o", "out.md", status=1)
    assert "out.md exists; nothing was written" in it.err
    assert (folder / "out.md").read_text(encoding="utf-8") == "mine"
    ran("fetcher", "--to", "program", "-o", "out.md", "--force")
    assert (folder / "out.md").read_text(encoding="utf-8").startswith("---\nname: url-fetcher")


@pytest.mark.parametrize("flag", [(), ("--force",)])
def test_x31_no_link_is_followed_when_writing(folder, flag):
    (folder / "elsewhere.md").write_text("theirs", encoding="utf-8")
    (folder / "out").mkdir()
    (folder / "out" / "fetcher.md").symlink_to(folder / "elsewhere.md")
    (folder / "skills").mkdir()
    (folder / "skills" / "greet").symlink_to(folder / "other")
    assert "is a link" in ran("fetcher", "--to", "program", "-o", "out", *flag, status=1).err
    assert "leads out of" in ran("greet.md", "--to", "skill", "-o", "skills", *flag, status=1).err
    assert (folder / "elsewhere.md").read_text(encoding="utf-8") == "theirs"
    assert os.listdir(folder / "other") == ["SKILL.md"]


def test_x31_two_sources_never_become_one_file(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "greet.md").write_text(GREET, encoding="utf-8")
    it = ran("greet.md", "deep/greet.md", "--to", "skill", "-o", "out", status=1)
    assert "would be made of greet.md too" in it.err
    assert (folder / "out" / "greet" / "SKILL.md").is_file()


def test_x31_diff_and_dry_run_write_nothing(folder):
    assert "+name: url-fetcher" in ran("fetcher", "--to", "program", "-o", "out/", "--diff").out
    assert ran("fetcher", "--to", "program", "-o", "out/", "--dry-run").out == "would write: out/fetcher.md\n"
    assert not (folder / "out").exists()


def test_x31_a_wrapped_program_stays_as_it_is_and_comes_out_again(folder):
    (folder / "greet.md").write_text(GREET.replace("output:", "imports: [./lib/tea.md]\noutput:"), encoding="utf-8")
    (folder / "lib").mkdir()
    (folder / "lib" / "tea.md").write_text(GREET.replace("greet", "tea"), encoding="utf-8")
    ran("greet.md", "--to", "skill", "--wrap", "-o", "out/")
    assert (folder / "out/greet/scripts/greet.md").read_bytes() == (folder / "greet.md").read_bytes()
    assert (folder / "out/greet/scripts/lib/tea.md").read_bytes() == (folder / "lib" / "tea.md").read_bytes()
    assert main(["check", str(folder / "out")], desk().console) == 0
    assert ran("out/greet", "--to", "program").out == (folder / "greet.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("properties", ["5", "[1, 2]"])
def test_x31_a_program_with_a_schema_that_is_none_is_wrapped_without_parameters(folder, properties):
    schema = f"input: {{type: object, properties: {properties}}}\noutput:"
    (folder / "greet.md").write_text(f"---\nname: greet\n{schema} true\n---\nHello.\n", encoding="utf-8")
    ran("greet.md", "--to", "skill", "--wrap", "-o", "out/")
    assert "prosa run scripts/greet.md\n" in (folder / "out/greet/SKILL.md").read_text(encoding="utf-8")


def test_x31_a_program_that_imports_from_elsewhere_is_not_wrapped(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "a.md").write_text(GREET.replace("output:", "imports: [../greet.md]\noutput:"), encoding="utf-8")
    assert "lies outside its folder" in ran("deep/a.md", "--to", "skill", "--wrap", "-o", "out/", status=1).err
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("name: [", "SKILL.md:3:1: expected a value"),
        ("a: 1\na: 2", "duplicate"),
        ("- a", "not a mapping"),
        ("a: &a [x, x]\nb: &b [*a, *a]\n" + "".join(f"c{n}: &c{n} [*b, *b]\n" for n in range(9)), None),
        ("x: !!python/object:os.system {}", "tag"),
    ],
)
def test_x31_front_matter_that_cannot_be_read_whole_is_refused(folder, front, said):
    (folder / "other" / "SKILL.md").write_text(f"---\n{front}\n---\nBody\n", encoding="utf-8")
    it = desk()
    status = main(["convert", "other", "--to", "program"], it.console)
    assert status == (0 if said is None else 1)
    assert said is None or said in it.err
    assert "internal error" not in it.err


def test_x31_a_yaml_bomb_is_refused(folder):
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 9))
    (folder / "other" / "SKILL.md").write_text(f"---\nl0: &l0 [x]\n{levels}---\nBody\n", encoding="utf-8")
    assert "other/SKILL.md" in ran("other", "--to", "program", status=1).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope.md", "--to", "program"], "no such file"),
        (["greet.md", "--to", "skil"], "did you mean skill?"),
        (["greet.md", "--to", "program", "--wrap"], "--wrap makes skills"),
        (["-", "--to", "program"], "--from"),
    ],
)
def test_wrong_use_is_said(folder, words, said):
    it = desk("x")
    assert main(["convert", *words], it.console) in (1, 2)
    assert said in it.err


def test_x31_a_large_body_is_converted(folder):
    body = "word {{ .secret }} \\{{x}}\n### @system:\n" * examples(25_000)
    (folder / "other" / "SKILL.md").write_text(skill(body), encoding="utf-8")
    ran("other", "--to", "program", "-o", "out.md")
    assert ran("out.md", "--to", "skill").out == skill(body)


def test_x31_standard_input_is_converted(folder):
    assert ran("-", "--from", "skill", "--to", "program", typed=URL_FETCHER).out.startswith("---\nname: url-fetcher")


def test_x31_a_chat_brought_in_says_what_a_conversion_says(folder):
    """X30: both doors read the form with the same reader."""
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "% Ho"}]
    (folder / "said.json").write_text(json.dumps(said), encoding="utf-8")
    assert main(["chat", "new.md", "--import", "openai", "said.json"], desk().console) == 0
    brought = (folder / "new.md").read_text(encoding="utf-8")
    assert brought == ran("said.json", "--to", "chat").out + "\n### @user:\n\n"
    assert json.loads(ran("new.md", "--to", "openai").out)[:2] == said
