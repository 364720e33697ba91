"""The Python interface as an editor and a type checker see it: every option has a name, a type and a default."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest

import prosa
from prosa.corpus.errors import CorpusError
from prosa.corpus.where import WhereError
from prosa.testing import ScriptedProvider
from tests.cli.programs import program, user

ROOT = Path(__file__).parents[2]

GOOD = """\
import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import prosa
from prosa.runtime.events import Event


def heard(event: Event, /) -> None:
    print(event)


def ask(text: str) -> int:
    try:
        result = prosa.run(
            Path("count.md"), {"text": text}, model="tiny", timeout=60, retries=2, allow_cut=True, listener=heard
        )
    except prosa.InputRefused as error:
        print(error.problems, error.hint)
        return 0
    except (prosa.OutputRefused, prosa.ProviderError, prosa.AgreementRequired, prosa.RunError) as error:
        print(error.message)
        return 1
    except prosa.FileProblem as problem:
        print(problem.path, problem.reason)
        return 2
    except prosa.ProsaError as error:
        print(error, error.hint)
        return 3
    print(result.summary.cost)
    return int(result.output["words"])


class Count(TypedDict):
    words: int


@dataclass
class Counted:
    words: int


def typed() -> int:
    counted: prosa.RunResult[Counted] = prosa.run("count.md", returns=Counted)
    return counted.output.words + prosa.run("count.md", returns=Count).output["words"]


async def several(provider: prosa.Provider) -> list[str]:
    found = await prosa.arun("count.md", provider=provider, sites=prosa.SiteRights(named=("https://a.example",)))
    texts: list[str] = [str(found.output)]
    for each in await prosa.arun_scripts("report.mda", ids=["a"], write=True, jobs=2, provider="anthropic"):
        texts.append(each.script if each.ok else str(each.error))
    turn: prosa.ChatResult = await prosa.achat("chat.md", "Hello?", n=2, tools=["python"], provider=provider)
    return [*texts, *(reply.text for reply in turn.replies)]


def indexed(service: prosa.testing.ScriptedService) -> str:
    fields = prosa.load("a.md").front_matter or {}
    request = prosa.mdh.request(fields["actions"][0], site_root="https://a.example")
    words: list[str] = [request["query"][0][1], prosa.run_scripts("a.mda")[0].output["title"].upper()]
    words += [row.output["title"] for row in prosa.batch("count.md", "rows.jsonl").rows()]
    return " ".join([*words, service.requests[0].body["messages"][0]["content"]])


for diagnostic in prosa.check(["docs"], strict=True, select=["MG"]):
    print(diagnostic.rule)
print(prosa.load("a.md", dialect="magi").dialect, prosa.chat("chat.md").reply, prosa.run_scripts("a.mda")[0].ok)
asyncio.run(several(prosa.testing.ScriptedProvider([])))
"""

WRONG = """\
import prosa

prosa.run("count.md", modle="tiny")
prosa.run("count.md", provider="anthropic")
prosa.run_scripts("a.mda", job=3)
prosa.chat("chat.md", write="yes")
prosa.check("docs", strict="yes")
prosa.load("a.md", dialect="mgai")
prosa.run("count.md", returns=list[str]).output.words
prosa.run("count.md", returns="Counted")
"""


def test_x30_mypy_accepts_a_program_of_a_user_and_finds_each_wrong_option(tmp_path: Path):
    """X30. One run of the checker: the good program has no error, the wrong one has one on each line. It takes what
    `make lint` kept of the package, which is as strict: else it would read the whole package again."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=pyproject.toml"]
    done = subprocess.run(
        [*command, str(tmp_path / "good.py"), str(tmp_path / "wrong.py")],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    told = [line for line in done.stdout.splitlines() if ": error:" in line]
    lines = [int(re.search(r"wrong\.py:(\d+)", line)[1]) for line in told if "wrong.py" in line]  # type: ignore[index]
    assert [line for line in told if "wrong.py" not in line] == [], done.stdout + done.stderr
    assert sorted(set(lines)) == [3, 4, 5, 6, 7, 8, 9, 10]
    assert "modle" in told[0]


@pytest.mark.parametrize("name", ["run", "run_scripts", "chat"])
def test_x30_sync_and_async_share_one_signature(name: str):
    """X30. Names, order, defaults and annotations; nothing is hidden behind `**options`."""
    now, later = getattr(prosa, name), getattr(prosa, f"a{name}")
    assert inspect.signature(now) == inspect.signature(later)
    parameters = inspect.signature(now).parameters.values()
    assert not [each for each in parameters if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    assert not [each for each in parameters if each.annotation is inspect.Parameter.empty]
    assert now.__name__ == name and not inspect.iscoroutinefunction(now)
    unnamed = [each.name for each in parameters if f"``{each.name}``" not in (now.__doc__ or "")]
    assert [each for each in unnamed if each not in ("path_or_program", "input")] == []


@pytest.mark.parametrize("call", [prosa.run, prosa.run_scripts, prosa.chat])
@pytest.mark.parametrize(("wrong", "near"), [("modle", "model"), ("max_iteration", "max_iterations"), ("zzz", "")])
def test_x30_an_option_that_there_is_not_is_a_type_error_that_names_the_nearest(
    call: Callable[..., Any], wrong: str, near: str
):
    with pytest.raises(TypeError, match=f"has no option '{wrong}'" + (f"; did you mean {near}\\?" if near else "$")):
        call("a.md", **{wrong: 1})


def test_x30_what_is_no_provider_is_a_type_error(tmp_path: Path):
    path = program(tmp_path)
    for wrong in (5, object(), ScriptedProvider, lambda request: None):
        for call in (prosa.run, prosa.run_scripts, prosa.chat):
            with pytest.raises(TypeError, match="give an object with `async def complete"):
                call(path, provider=wrong, environ=user(tmp_path))  # type: ignore[operator]
    with pytest.raises(TypeError, match="provider='anthropic': a program has no name for a provider"):
        prosa.run(path, provider="anthropic", environ=user(tmp_path))  # type: ignore[arg-type]


@dataclass
class Counted:
    words: int


class Told(TypedDict):
    words: int


class Model:
    """What a model of pydantic looks like from outside."""

    def __init__(self, words: int) -> None:
        self.words = words

    @classmethod
    def model_validate(cls, data: dict[str, int]) -> Model:
        if set(data) != {"words"}:
            raise ValueError("one field")
        return cls(**data)


FREE = "---\nname: free\ndescription: d\ninput: {type: object}\noutput: {type: object}\n---\nCount.\n"


def counted(tmp_path: Path, output: Any, returns: Any) -> Any:
    path = program(tmp_path, text=FREE)
    return prosa.run(path, provider=ScriptedProvider([{"content": output}]), environ=user(tmp_path), returns=returns)


def test_the_output_has_the_type_that_was_asked_for(tmp_path: Path):
    assert counted(tmp_path, {"words": 3}, Counted).output == Counted(3)
    assert counted(tmp_path, {"words": 3}, Told).output == {"words": 3}
    assert counted(tmp_path, {"words": 3}, dict[str, int]).output == {"words": 3}
    assert counted(tmp_path, {"words": 3}, Model).output.words == 3
    assert counted(tmp_path, {"words": 3}, None).output == {"words": 3}
    assert counted(tmp_path, {"words": 3}, Counted).summary.success


@pytest.mark.parametrize("returns", [Counted, Told, Model, list[str], complex])
def test_an_output_of_another_type_is_refused_in_words(tmp_path: Path, returns: Any):
    with pytest.raises(prosa.OutputRefused, match="the output does not fit") as refused:
        counted(tmp_path, {"words": "three", "more": 1} if returns is not Told else {}, returns)
    assert "schema" in refused.value.hint


def test_what_is_no_type_is_refused_before_anything_is_asked(tmp_path: Path):
    provider = ScriptedProvider([])
    with pytest.raises(TypeError):
        prosa.run(program(tmp_path), {}, provider=provider, environ=user(tmp_path), returns=5)  # type: ignore[arg-type]


def test_every_public_error_is_a_prosa_error():
    """One class to catch; each keeps the base that it had."""
    named = [getattr(prosa, name) for name in prosa.__all__]
    for module in (prosa.mdh, prosa.schema, prosa.template, prosa.testing):
        named += [getattr(module, name) for name in module.__all__]
    errors = [each for each in named if isinstance(each, type) and issubclass(each, Exception)]
    assert len(errors) > 30 and all(issubclass(each, prosa.ProsaError) for each in errors)
    assert all(isinstance(each.hint, str) for each in errors if "hint" in vars(each)) and prosa.ProsaError.hint == ""
    for error in (prosa.schema.SchemaError, prosa.mdh.RequestError):
        assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: prosa.check("nowhere"),
        lambda: prosa.check(".", select=["no-rule"]),
        lambda: prosa.load(Path("nowhere.md")),
        lambda: prosa.template.Template("{{"),
        lambda: prosa.schema.Schema({"type": 5}),
        lambda: prosa.Corpus("nowhere"),
        lambda: prosa.run("nowhere.md"),
    ],
)
def test_what_a_call_raises_is_a_prosa_error(call: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(prosa.ProsaError) as raised:
        call()
    assert str(raised.value) and isinstance(raised.value.hint, str)


def test_every_error_of_a_run_has_its_name_at_the_top():
    """Whoever catches an error finds it where the call is."""
    import prosa.runtime.errors as errors

    names = {name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, Exception)}
    assert names <= set(prosa.__all__)
    assert all(getattr(prosa, name) is getattr(errors, name) for name in names)


def test_inside_an_event_loop_the_other_name_is_told(tmp_path: Path):
    async def work() -> None:
        with pytest.raises(RuntimeError, match=r"prosa\.chat cannot be called .* await prosa\.achat"):
            prosa.chat(tmp_path / "chat.md")

    asyncio.run(work())


def test_every_error_of_a_corpus_stands_at_the_top():
    """Whoever catches one imports `prosa` alone; the page on Python names it."""
    page = (ROOT / "docs/python.md").read_text()
    found = [CorpusError, *CorpusError.__subclasses__(), WhereError]
    assert [each.__name__ for each in found if getattr(prosa, each.__name__, None) is not each] == []
    assert [each.__name__ for each in found if not re.search(rf"`(?:prosa\.)?{each.__name__}`", page)] == []
