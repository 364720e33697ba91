"""The table of services (X7, M28, MA10), and which service a prefix or the user's settings select."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.adapters.providers import gemini
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL
from prosa.adapters.providers.table import PROVIDERS, ProviderRow, mapped, provider_row
from prosa.adapters.providers.transport import endpoint_url
from prosa.app.options import Environment, Options
from prosa.app.run.routes import split, with_default_provider, with_provider
from prosa.app.run.service import row_of_model, service_of, service_words
from prosa.app.settings import settings_for
from prosa.runtime.errors import RunError
from prosa.settings import Settings
from prosa.settings.model import ModelSettings, ProviderSettings
from prosa.settings.read import read_user_settings


def test_x7_a_name_is_that_of_one_service_and_every_service_has_its_facts():
    names = [name for row in PROVIDERS for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))
    for row in PROVIDERS:
        assert provider_row(row.name, {}) == row
        assert all(provider_row(alias.upper(), {}) == row for alias in row.aliases)
        assert row.is_local or (row.docs.startswith("https://") and row.key_variables)


@pytest.mark.parametrize("model", ["anthropic/claude-x", "Claude/claude-x"])
def test_x7_a_prefix_of_the_users_model_selects_a_service(model: str):
    chosen = with_provider(Options(model=model), Settings(), {})
    assert (chosen.model, chosen.provider) == ("claude-x", "anthropic")
    around = Environment({"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o"}, Settings())
    assert service_words(chosen, around) == "anthropic at https://api.anthropic.com/v1, key from ANTHROPIC_API_KEY"
    assert service_of(chosen, around) == "https://api.anthropic.com/v1"


@pytest.mark.parametrize(
    ("options", "settings", "environ"),
    [
        (Options(base_url="https://gateway.example/v1"), Settings(), {}),
        (Options(), Settings(base_url="https://gateway.example/v1"), {}),
        (Options(), Settings(), {"OPENAI_BASE_URL": "https://gateway.example/v1"}),
        (Options(provider="openrouter"), Settings(), {}),
    ],
)
def test_x7_where_a_base_url_is_configured_a_prefix_is_part_of_the_name(options, settings, environ):
    from msgspec.structs import replace

    asked = replace(options, model="anthropic/claude-x")
    assert with_provider(asked, settings, environ) == asked


def test_x7_what_is_no_prefix_stays_part_of_the_name():
    for name in ("gpt-4o", "acme/model-7b", "anthropic/", "/anthropic", "local", "scripted:a/b", "local:anthropic/x"):
        asked = Options(model=name)
        assert with_provider(asked, Settings(), {}) == asked


def test_x7_x17_a_local_prefix_looks_for_a_server_on_this_machine():
    assert with_provider(Options(model="ollama/llama3"), Settings(), {}).model == "local:llama3"


def test_x7_a_service_of_the_users_own_is_a_row_and_a_prefix():
    text = '[providers.mine]\nbase-url = "https://mine.example/v1"\napi-key-env = "MINE"\nprotocol = "anthropic"\n'
    settings, problems = read_user_settings(text + '[models."m-1"]\nprovider = "mine"\n')
    assert not problems
    row, name = split("mine/m-2", settings, {})
    assert row is not None and (name, row.protocol, row.key_variables) == ("m-2", "anthropic", ("MINE",))
    around = Environment({"MINE": "sk-m", "OPENAI_API_KEY": "sk-o"}, settings)
    assert service_words(Options(), around, model_name="m-1") == "mine at https://mine.example/v1, key from MINE"
    assert (
        service_words(Options(), around, model_name="m-2")
        == "openai at https://api.openai.com/v1, key from OPENAI_API_KEY"
    )
    flag = Options(base_url="http://127.0.0.1:1/v1")
    assert service_words(flag, around, model_name="m-1") == "http://127.0.0.1:1/v1, without a key"


def test_x7_a_protocol_that_nobody_speaks_is_refused():
    _, problems = read_user_settings('[providers.mine]\nprotocol = "soap"\n')
    assert [each.message for each in problems] == [
        '`providers.mine.protocol` must be "openai", "anthropic" or "google", not \'soap\''
    ]


def test_x7_the_default_model_of_the_user_may_have_a_prefix_and_one_of_a_project_has_none(tmp_path: Path):
    mine, project = tmp_path / "mine", tmp_path / "project"
    mine.mkdir(), project.mkdir()
    (mine / "settings.toml").write_text('default-model = "anthropic/claude-x"\n', "utf-8")
    environ = {"PROSA_CONFIG_DIR": str(mine)}
    settings = settings_for(project / "x.md", environ)
    assert (settings.model_name, settings.models["claude-x"].provider) == ("claude-x", "anthropic")
    (project / "prosa.toml").write_text('model = "google/gemini-x"\n', "utf-8")
    settings = settings_for(project / "x.md", environ)
    assert (settings.model_name, "gemini-x" in settings.models) == ("google/gemini-x", False)
    assert with_default_provider(settings, {"OPENAI_BASE_URL": "http://127.0.0.1:1"}) == settings


def test_x7_a_model_that_is_mapped_to_an_unknown_provider_is_refused():
    settings = Settings(models={"m": ModelSettings(provider="antropic")})
    with pytest.raises(RunError, match="there is no provider `antropic`") as caught:
        row_of_model("m", Options(), settings)
    assert caught.value.hint == "did you mean anthropic?"


def test_x7_a_key_variable_of_the_call_goes_to_the_service_that_the_user_chose():
    chosen = with_provider(Options(model="anthropic/m", api_key_env="OTHER"), Settings(), {})
    around = Environment({"OTHER": "sk-1"}, Settings())
    assert service_words(chosen, around) == "anthropic at https://api.anthropic.com/v1, key from OTHER"
    # A provider that a document names gets its own key, whatever variable the user named for another address.
    row = provider_row("anthropic", {})
    words = service_words(Options(api_key_env="OTHER"), around, row)
    assert words.startswith("no key: anthropic at https://api.anthropic.com/v1, ANTHROPIC_API_KEY is not set")


def test_ma10_parameters_have_the_names_of_the_protocol():
    mine = {"mine": ProviderSettings("https://mine.example", protocol="anthropic")}
    row = provider_row("mine", mine)
    sent = mapped({"stop": ["x"], "max-completion-tokens": 5, "topK": 3, "odd": 1}, row, "responses").sent
    assert sent == {"stop_sequences": ["x"], "max_tokens": 5, "top_k": 3, "odd": 1}


def documented(row: ProviderRow) -> str:
    """The line of a service in the documentation."""
    usual = "this machine" if row.is_local else f"`{DEFAULT_BASE_URL}`"
    cells = [
        f"`{row.name}`",
        ", ".join(f"`{alias}`" for alias in row.aliases),
        f"`{row.base_url}`" if row.base_url else usual,
        " or ".join(f"`{name}`" for name in row.key_variables) or "none",
        row.protocol,
        row.tried,
    ]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def test_x7_the_documentation_has_every_service_with_what_it_was_tried_against():
    text = Path(__file__).parents[3].joinpath("docs", "models.md").read_text("utf-8")
    _, _, table = text.partition("| service | also |")
    lines = [line for line in table.partition("\n\n")[0].splitlines() if line.startswith("| `")]
    assert lines == [documented(row) for row in PROVIDERS]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        ("models/gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        ("tunedModels/mine", "/v1beta/tunedModels/mine"),
        ("../../v1/x?key=1#y", "/v1beta/models/..%2F..%2Fv1%2Fx%3Fkey%3D1%23y"),
    ],
)
def test_x7_the_name_of_a_model_is_one_part_of_the_address(name, path):
    made = endpoint_url("https://h/v1beta?a=b", gemini.WIRE.path_of(name, stream=True))
    assert made == f"https://h{path}:streamGenerateContent?a=b&alt=sse"
    assert (
        endpoint_url("https://h/v1beta", gemini.WIRE.path_of(name, stream=False)) == f"https://h{path}:generateContent"
    )
