"""The Python interface, as interface.md lists it: names, shapes, errors, and what an import costs."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.dialects.markdownlang.agreement import PHRASES
from prosa.runtime.errors import InputRefused, LimitExceeded, OutputRefused, ProgramRefused, ProviderError
from prosa.runtime.events import RunFinished, RunStarted
from prosa.source import FileProblem
from prosa.testing import FakeClock, ScriptedProvider, ScriptProblem

TEXT = """\
---
name: double
description: Doubles a number.
input:
  type: object
  properties:
    n: { type: integer, default: 4 }
  additionalProperties: false
output:
  type: object
  properties:
    twice: { type: integer }
  required: [twice]
---
Double {{ .n }}.
"""
ANSWER = {"content": {"twice": 8}, "usage": {"input_tokens": 150, "output_tokens": 75}}

LATER = {"error": {"message": "come back later", "status": 429, "retry_after": 9}}


@pytest.fixture
def double(tmp_path: Path) -> Path:
    path = tmp_path / "double.md"
    path.write_text(TEXT)
    return path


@pytest.fixture
def me(tmp_path: Path) -> dict[str, str]:
    """Somebody who has agreed and has no key."""
    return {"HOME": str(tmp_path), "MARKDOWNLANG_AGREE": PHRASES[1]}


def loaded(statement: str) -> set[str]:
    """The modules that a statement loads in a fresh interpreter."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


# ---- what an import costs ----


def test_importing_prosa_loads_next_to_nothing():
    assert loaded("import prosa") - loaded("import typing, __future__") == {"prosa"}


@pytest.mark.parametrize(
    ("statement", "never"),
    [
        ("from prosa import template", {"yaml", "pyromark", "asyncio"}),
        ("from prosa import schema", {"yaml", "pyromark", "asyncio"}),
        ("from prosa import load", {"asyncio", "openai", "mcp", "wasmtime", "genai_prices"}),
        ("from prosa import run, arun", {"asyncio", "openai", "mcp", "wasmtime", "genai_prices"}),
        ("from prosa import RunResult, AgreementRequired, RunError", {"asyncio", "yaml", "openai"}),
    ],
)
def test_a_name_loads_what_it_needs_when_it_is_used(statement: str, never: set[str]):
    assert not {name.partition(".")[0] for name in loaded(statement)} & never


def test_every_public_name_is_there():
    assert set(prosa.__all__) <= set(dir(prosa))
    for name in prosa.__all__:
        assert getattr(prosa, name) is not None
    with pytest.raises(AttributeError, match="module 'prosa' has no attribute 'rum'"):
        prosa.rum  # noqa: B018


# ---- wrong arguments ----


@pytest.mark.parametrize("call", [lambda: prosa.run(TEXT, {}), lambda: prosa.batch(TEXT, [{}])])
def test_the_text_of_a_program_is_no_path(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="found the text of one: save it in a file"):
        call()


# ---- load and check ----


def test_load_reads_a_path_a_name_or_a_text(double: Path):
    for given in (double, str(double), TEXT):
        document = prosa.load(given)
        assert document.dialect == "markdownlang"
        assert document.front_matter is not None and document.front_matter["name"] == "double"
        assert document.model is not None and document.model.description == "Doubles a number."
        assert document.diagnostics == ()
    assert prosa.load("# Just text").front_matter is None


@pytest.mark.parametrize("name", ["gone.md", "no/such/folder.mda"])
def test_load_does_not_take_a_name_that_is_wrong_for_a_text(name: str):
    with pytest.raises(FileProblem, match="no such file"):
        prosa.load(name)


@pytest.mark.parametrize("text", ["", "---\nname: [\n---\n", "\0", "x" * 5000, "---\nname: a\nimports: 3\n---\n{{"])
def test_load_never_fails_for_what_a_text_says(text: str):
    assert prosa.load(text).source.text == text


def test_check_gives_diagnostics_in_reading_order(tmp_path: Path):
    (tmp_path / "a.md").write_text(TEXT.replace("Double {{ .n }}", "{{ .m }} {{ .o }}"))
    (tmp_path / "b.md").write_text(TEXT.replace("name: double\n", ""))
    found = prosa.check(tmp_path)
    assert [(Path(each.path).name, each.start.line) for each in found] == [("a.md", 15), ("a.md", 15), ("b.md", 1)]
    assert [each.rule for each in prosa.check([tmp_path / "b.md"])] == ["missing-field"]
    assert prosa.check([]) == []


# ---- run ----


def test_run_gives_output_and_summary(double: Path, me: dict[str, str]):
    provider = ScriptedProvider([ANSWER])
    result = prosa.run(double, {"n": 4}, provider=provider, environ=me)
    assert result.output == {"twice": 8}
    assert (result.summary.success, result.summary.usage.total_tokens) == (True, 225)
    assert str(result.summary.cost) == "0.001125"
    assert result.summary.as_dict()["program"] == "double.md"
    assert provider.requests[0].messages[1].content == "Double 4.\n"


def test_arun_runs_inside_an_event_loop_and_fills_in_defaults(double: Path, me: dict[str, str]):
    heard: list[Any] = []
    provider = ScriptedProvider([ANSWER])

    async def work() -> Any:
        with pytest.raises(RuntimeError, match=r"await prosa\.arun instead"):
            prosa.run(double, environ=me)
        return await prosa.arun(str(double), provider=provider, listener=heard.append, environ=me)

    assert asyncio.run(work()).output == {"twice": 8}
    assert provider.requests[0].messages[1].content == "Double 4.\n"
    assert isinstance(heard[0], RunStarted) and isinstance(heard[-1], RunFinished)


def test_a_loaded_program_can_be_run_again_and_again(double: Path, me: dict[str, str]):
    from prosa.app.options import Options
    from prosa.app.run.load import load_program
    from prosa.settings import Settings

    program = load_program(double, Options(), Settings())
    provider = ScriptedProvider([ANSWER] * 2)
    assert [prosa.run(program, {"n": n}, provider=provider, environ=me).output for n in (1, 2)] == [{"twice": 8}] * 2


def test_la29_l41_without_the_agreement_nothing_runs(double: Path, tmp_path: Path):
    with pytest.raises(prosa.AgreementRequired, match="has not been accepted"):
        prosa.run(double, provider=ScriptedProvider([ANSWER]), environ={"HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("break_it", "options", "error"),
    [
        (str, {"input": {"n": "four"}}, InputRefused),
        (str, {"input": {"m": 4}}, InputRefused),
        (lambda text: text.replace("{{ .n }}", "{{ .x }}"), {}, ProgramRefused),
        (lambda text: text.replace("integer }\n  required", "strnig }\n  required"), {}, ProgramRefused),
        (str, {"replies": [{"content": "no"}], "max_iterations": 1}, OutputRefused),
        (str, {"replies": [{"error": "busy"}], "retries": 0}, ProviderError),
        (str, {"replies": []}, ProviderError),
        (str, {"replies": [LATER], "timeout": 0.05}, LimitExceeded),
    ],
    ids=range(8),
)  # fmt: skip
def test_every_failure_is_a_run_error_with_its_kind(
    break_it: Callable[[str], str], options: dict[str, Any], error: type[Exception], double: Path, me: dict[str, str]
):
    double.write_text(break_it(TEXT))
    provider = ScriptedProvider(options.pop("replies", [ANSWER]))
    with pytest.raises(error) as caught:
        prosa.run(double, options.pop("input", None), provider=provider, environ=me, **options)
    assert isinstance(caught.value, prosa.RunError)
    assert caught.value.message


def test_x17_without_a_model_the_three_ways_are_in_the_hint(double: Path, me: dict[str, str]):
    with pytest.raises(ProviderError) as caught:
        prosa.run(double, environ=me)
    assert "--model scripted:FILE" in caught.value.hint


def test_a_missing_file_is_a_file_problem(tmp_path: Path, me: dict[str, str]):
    with pytest.raises(FileProblem, match="no such file"):
        prosa.run(tmp_path / "gone.md", environ=me)


def test_x5_root_keeps_imports_inside(double: Path, tmp_path: Path, me: dict[str, str]):
    inside = tmp_path / "inside"
    inside.mkdir()
    caller = inside / "caller.md"
    caller.write_text(TEXT.replace("name: double", "name: caller\nimports: [../double.md]"))
    provider = ScriptedProvider([ANSWER])
    assert prosa.run(caller, provider=provider, environ=me).output == {"twice": 8}
    with pytest.raises(ProgramRefused):
        prosa.run(caller, provider=provider, environ=me, root=inside)


def test_a_notice_is_logged(double: Path, tmp_path: Path, me: dict[str, str], caplog: pytest.LogCaptureFixture):
    (tmp_path / "prosa.toml").write_text("modle = 'x'\n")
    with caplog.at_level(logging.WARNING, "prosa"):
        prosa.run(double, provider=ScriptedProvider([ANSWER]), environ=me)
    assert "there is no setting `modle`; did you mean `model`?" in caplog.text


# ---- template, schema, testing ----


def test_x11_x12_a_template_renders_data():
    assert prosa.template.Template("{{ .a }} {{ .b }}{{ .gone }}").render({"a": [1, "x"], "b": 1.0}) == '[1,"x"] 1'


def test_a_template_error_has_a_place():
    for text in ("ok\n{{ .a", "ok\n{{ if }}", "ok\n{{ index .a 0 0 }}"):
        with pytest.raises(prosa.template.TemplateError) as caught:
            prosa.template.Template(text).render({"a": [1]})
        assert caught.value.line == 2 and caught.value.column >= 1 and caught.value.message


def test_a_schema_lists_its_problems():
    schema = prosa.schema.Schema({"type": "object", "required": ["a"], "properties": {"b": {"type": "integer"}}})
    problems = [tuple(each) for each in schema.problems({"b": "x"})]
    assert sorted((pointer, keyword) for pointer, keyword, _ in problems) == [("", "required"), ("/b", "type")]
    assert all(message for *_, message in problems)
    assert list(schema.problems({"a": 1})) == []
    with pytest.raises(prosa.schema.SchemaError):
        prosa.schema.Schema({"type": "strnig"})


def test_x16_the_scripted_provider_is_public_and_strict():
    assert prosa.testing.ScriptedProvider is ScriptedProvider
    with pytest.raises(ScriptProblem, match="unknown key `contnet`"):
        ScriptedProvider([{"contnet": "x"}])


def test_the_fake_clock_never_waits():
    clock = FakeClock()
    asyncio.run(clock.sleep(3600))
    assert (clock.monotonic(), clock.sleeps) == (3600, [3600])


def test_a_result_can_be_written_as_json(double: Path, me: dict[str, str]):
    result = prosa.run(double, provider=ScriptedProvider([ANSWER]), environ=me)
    assert json.loads(json.dumps(result.summary.as_dict()))["tokens"]["cost"] == 0.001125
