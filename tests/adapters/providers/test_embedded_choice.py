"""Who may choose an embedded model, under which names it goes, and what it costs (X7, X35). No engine is started."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from prosa.adapters.embedded.weights import TABLE
from prosa.adapters.providers.prices import KnownPrices
from prosa.app.options import DEFAULT_EMBEDDED, Environment, Options, word_name
from prosa.app.run.routes import with_default_provider, with_provider
from prosa.app.run.service import choose_provider, row_of_model, service_of, service_words
from prosa.app.settings import settings_for
from prosa.cli.main import main
from prosa.runtime.errors import RunError
from prosa.runtime.messages import Message, ModelRequest, Usage
from prosa.settings import Settings
from prosa.settings.read import read_project_settings, read_user_settings
from prosa.source.url import is_on_this_machine
from tests.cli.desk import Desk, desk
from tests.model_server.server import ModelServer

PROGRAM = """\
---
name: say
description: Says something.
model: {model}
input: {{}}
output: {{type: object, properties: {{a: {{type: string}}}}}}
---
Say something.
"""


def said(folder: Path, *words: object) -> Desk:
    """What a command that fails writes, for a user who has agreed."""
    it = desk(environ={"HOME": str(folder), "MARKDOWNLANG_AGREE": "Trans rights are human rights"})
    assert main(list(map(str, words)), it.console) == 1
    return it


def test_the_first_row_is_what_embedded_means():
    assert TABLE[0].name == DEFAULT_EMBEDDED


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("embedded", "smollm2"),
        ("embedded:smollm2", "smollm2"),
        ("embedded:other", "other"),
        ("gguf:/home/ada/models/Tiny.Q4_K_M.gguf", "Tiny.Q4_K_M"),
        ("gguf:tiny.gguf", "tiny"),
        ("gguf:/models/tiny", "tiny"),
    ],
)
def test_x35_a_name_in_documents_is_never_a_path(word: str, name: str):
    options = Options(model=word)
    assert (options.is_embedded, options.model_name, options.here_name, word_name(word)) == (True, None, name, name)
    assert service_of(options, Environment({}, Settings())) == f"embedded:{name}"


def test_x35_a_prefix_of_the_user_means_the_same():
    assert with_provider(Options(model="embedded/smollm2"), Settings(), {}).model == "embedded:smollm2"


@pytest.mark.parametrize("model", ["embedded", "embedded:smollm2", "gguf:/etc/passwd"])
def test_x7_x35_a_program_cannot_name_an_embedded_model(model: str, tmp_path: Path):
    (tmp_path / "say.md").write_text(PROGRAM.format(model=model))
    for command in ("run", "plan"):
        it = said(tmp_path, command, tmp_path / "say.md")
        assert f"a document cannot choose an embedded model or a model file: `{model}`" in it.err
        assert f"--model {model}" in it.err


def test_x7_x35_a_project_cannot_choose_one(tmp_path: Path):
    (tmp_path / "prosa.toml").write_text('model = "gguf:/etc/passwd"\n')
    settings = settings_for(tmp_path, {"HOME": str(tmp_path)})
    with pytest.raises(RunError, match="a document cannot choose"):
        row_of_model(settings.model_name, Options(), settings)
    _, problems = read_project_settings('[models.x]\nprovider = "embedded"\nfile = "/x.gguf"\n')
    assert {each.rule for each in problems} == {"refused-setting"}


def test_x7_x35_an_ai_script_that_names_the_provider_is_refused(tmp_path: Path):
    script = '```ai-script\n{"script-id": "s", "prompt": "Say it.", "provider": "embedded"}\n```\n'
    (tmp_path / "note.mda").write_text(f"---\ntitle: Note\n---\n\n{script}")
    it = said(tmp_path, "run", tmp_path / "note.mda", "--all")
    assert "an embedded model runs only when you say so" in it.err
    assert "--model embedded" in it.err


@pytest.mark.parametrize(
    ("default", "name", "base_url"),
    [
        ("embedded", "smollm2", "embedded:smollm2"),
        ("embedded:smollm2", "smollm2", "embedded:smollm2"),
        ("embedded/smollm2", "smollm2", "embedded:smollm2"),
        ("gguf:/models/tiny.gguf", "tiny", "gguf:/models/tiny.gguf"),
    ],
)
def test_x35_the_users_own_settings_may_choose_one_for_good(default: str, name: str, base_url: str, tmp_path: Path):
    (tmp_path / "settings.toml").write_text(f'default-model = "{default}"\n')
    settings = settings_for(None, {"HOME": str(tmp_path), "PROSA_CONFIG_DIR": str(tmp_path)})
    assert settings.model_name == name
    row = row_of_model(name, Options(), settings)
    assert row is not None
    assert row.base_url == base_url
    assert service_of(Options(), Environment({}, settings), model_name=name) == f"embedded:{name}"


def test_x35_a_table_of_the_users_settings_names_a_file():
    settings, problems = read_user_settings('[models.tiny]\nprovider = "embedded"\nfile = "/models/tiny.gguf"\n')
    assert not problems
    row = row_of_model("tiny", Options(), with_default_provider(settings, {}))
    assert row is not None
    assert row.base_url == "gguf:/models/tiny.gguf"


def test_x35_two_files_are_two_services():
    text = '[models.a]\nprovider = "embedded"\nfile = "/a.gguf"\n[models.b]\nprovider = "embedded"\nfile = "/b.gguf"\n'
    settings, _ = read_user_settings(text)
    rows = [row_of_model(name, Options(), settings) for name in ("a", "b")]
    assert len({each.key for each in rows if each is not None}) == 2


def test_x35_it_costs_nothing_and_is_nobody_elses():
    assert KnownPrices().cost("smollm2", Usage(1000, 1000), "embedded:smollm2") == Decimal(0)
    assert KnownPrices().cost("gpt-4o", Usage(1000, 1000), "embedded:gpt-4o") == Decimal(0)
    assert is_on_this_machine("embedded:smollm2")


def test_x35_a_plan_says_what_keeps_it_from_running(tmp_path: Path):
    around = Environment({"HOME": str(tmp_path), "PROSA_DATA_DIR": str(tmp_path)}, Settings())
    words = service_words(Options(model="embedded:nobody"), around)
    assert words.startswith("embedded: ")
    assert words.endswith("a run would fail")


def test_x35_another_address_beside_it_is_refused(tmp_path: Path):
    (tmp_path / "say.md").write_text(PROGRAM.format(model="gpt-4o"))
    it = said(tmp_path, "run", tmp_path / "say.md", "-m", "embedded", "--base-url", "http://127.0.0.1:9/v1")
    assert "`--model embedded` runs a model itself, and --base-url names a server" in it.err


@pytest.mark.parametrize("model", ["embedded", "gguf:tiny.gguf", "local", "local:tiny", "ollama/tiny"])
def test_x9_a_plan_says_where_an_answer_of_this_machine_ends(model: str, tmp_path: Path):
    """A very small model may repeat itself without an end."""
    (tmp_path / "say.md").write_text(PROGRAM.format(model="gpt-4o"))

    def plan(*words: str) -> str:
        it = desk(environ={"HOME": str(tmp_path)})
        assert main(["plan", str(tmp_path / "say.md"), "-m", model, *words], it.console) == 0
        return it.out

    assert "output 4,096 tokens a call" in plan()
    assert "output 50 tokens a call" in plan("--max-output-tokens", "50")
    it = desk(environ={"HOME": str(tmp_path)})
    assert main(["plan", str(tmp_path / "say.md")], it.console) == 0
    assert "output without limit" in it.out


@pytest.mark.parametrize(("parameters", "limit"), [({}, 4096), ({"max_tokens": 9}, 9), ({"max-tokens": 9}, 9)])
def test_x9_a_server_of_this_machine_is_given_a_bound(
    parameters: dict[str, int], limit: int, model_server: ModelServer, tmp_path: Path
):
    model_server.local, model_server.models, model_server.default = "llama.cpp", ["tiny"], {"content": {"a": "x"}}
    settings, _ = read_user_settings(f'[providers.local]\nbase-url = "{model_server.base_url}"\n')

    async def ask() -> None:
        chosen = await choose_provider(Options(model="local"), Environment({}, settings))
        await chosen.provider.complete(ModelRequest("tiny", (Message("user", "x"),), parameters=parameters))
        await chosen.provider.aclose()

    asyncio.run(ask())
    body = model_server.bodies[-1]
    assert {body[name] for name in ("max_tokens", "max_completion_tokens", "max-tokens") if name in body} == {limit}
