"""`prosa models`: servers on this machine, services with a key, and their models where the user asks for them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.providers import local
from prosa.adapters.providers.table import PROVIDERS, ServerAddress
from prosa.cli.main import main
from tests.cli.desk import desk
from tests.model_server.server import ModelServer

KEY = "sk-do-not-show-this-1234567890"
CLOSED = "http://127.0.0.1:1/v1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer) -> Path:
    """A user whose usual servers are not there, but for Ollama, at whose place is the fake."""
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(tmp_path)
    look = local.local_servers.__kwdefaults__
    monkeypatch.setitem(look, "timeout", 60.0)

    def places(settings: Any, environ: Any, kind: str | None = None) -> tuple[ServerAddress, ...]:
        rows = [row for row in PROVIDERS if row.port is not None and kind in (None, row.name)]
        return tuple(
            ServerAddress(row.title, model_server.base_url if row.name == "ollama" else CLOSED) for row in rows
        )

    monkeypatch.setattr("prosa.app.models.local_places", places)
    return tmp_path


def models(home: Path, *argv: str, **environ: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, what is told as JSON, and the same for people with what went wrong."""
    known = {"HOME": str(home), "PROSA_CONFIG_DIR": str(home / "config")}
    at, text = desk(environ=known | environ), desk(environ=known | environ)
    status = main(["models", "--format", "json", *argv], at.console)
    assert main(["models", *argv], text.console) == status
    assert KEY not in at.out + at.err + text.out + text.err
    return status, json.loads(at.out) if at.out else {}, text.out + text.err


def states(told: list[dict[str, Any]]) -> dict[str, str]:
    return {each["name"]: each["state"] for each in told}


def test_x17_servers_on_this_machine_are_listed_with_their_models(home: Path, model_server: ModelServer):
    model_server.local, model_server.models = "Ollama", ["llama3:latest", "qwen3"]
    status, told, said = models(home)
    assert status == 0
    assert states(told["local"]) == {
        "ollama": "answers",
        "llama-cpp": "silent",
        "lm-studio": "silent",
        "vllm": "silent",
    }
    assert told["local"][0]["models"] == [
        {"name": "llama3:latest", "context": None, "loaded": False},
        {"name": "qwen3", "context": 4096, "loaded": True},
    ]
    assert f"  Ollama  {model_server.base_url}\n    llama3:latest\n    qwen3  (4,096 tokens, loaded)\n" in said
    assert "  vLLM: nothing listens at http://127.0.0.1:1/v1\n" in said


def test_x7_services_are_listed_by_the_variable_of_their_key_and_none_is_asked(home: Path, model_server: ModelServer):
    model_server.local = "Ollama"
    around = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": model_server.google_url}
    status, told, said = models(home, **around)
    services = {each["name"]: each for each in told["services"]}
    assert (status, services["google"]["state"], services["google"]["models"]) == (0, "key", None)
    assert services["google"]["key_variable"] == "GEMINI_API_KEY"
    assert services["openai"]["state"] == services["anthropic"]["state"] == "no-key"
    assert f"  google  {model_server.google_url}; key from GEMINI_API_KEY\n" in said
    assert "    anthropic   ANTHROPIC_API_KEY\n" in said
    assert all("/v1beta/" not in request.path for request in model_server.requests)


@pytest.mark.parametrize("argv", [("google",), ("gemini",), ("--online",)])
def test_x7_a_service_that_is_named_is_asked_for_its_models_with_its_key(
    home: Path, model_server: ModelServer, argv: tuple[str, ...]
):
    model_server.local, model_server.models, model_server.key = "Ollama", ["gemini-a", "gemini-b"], KEY
    around = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": model_server.google_url}
    status, told, said = models(home, *argv, **around)
    google = next(each for each in told["services"] if each["name"] == "google")
    assert (status, google["state"]) == (0, "answers")
    assert google["models"] == [{"name": name, "context": 1048576} for name in ("gemini-a", "gemini-b")]
    assert "    gemini-a  (1,048,576 tokens)\n" in said
    assert len(told["services"]) == (1 if argv != ("--online",) else len([r for r in PROVIDERS if not r.is_local]))


def test_x7_the_usual_service_is_where_the_user_says_and_needs_no_key_there(home: Path, model_server: ModelServer):
    model_server.models = ["m-1"]
    status, told, said = models(home, "openai", OPENAI_BASE_URL=model_server.base_url)
    assert (status, told["services"][0]["models"]) == (0, [{"name": "m-1", "context": None}])
    assert f"  openai  {model_server.base_url}; without a key\n" in said
    assert "authorization" not in model_server.requests[-1].headers


def test_a_service_that_does_not_answer_or_has_no_key_is_a_failure_only_when_it_was_asked(
    home: Path, model_server: ModelServer
):
    model_server.key = "another"
    around = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": model_server.google_url}
    status, told, said = models(home, "google", **around)
    assert (status, told["services"][0]["state"]) == (1, "silent")
    assert "API key not valid" in said
    status, told, said = models(home, "google")
    assert (status, told["services"][0]["state"]) == (1, "no-key")
    assert "GEMINI_API_KEY or GOOGLE_API_KEY is not set" in said
    status, told, _ = models(home, "vllm")
    assert (status, states(told["local"]), told["services"]) == (1, {"vllm": "silent"}, [])
    assert models(home, "local")[0] == 0


def test_a_service_that_nobody_knows_is_wrong_use(home: Path):
    status, told, said = models(home, "gogle")
    assert (status, told) == (2, {})
    assert said == "error: there is no provider `gogle`\n  did you mean google?\n"


def test_x7_a_service_needs_no_library_of_its_own(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "google.genai", None)
    _, told, said = models(home, GEMINI_API_KEY=KEY)
    google = next(each for each in told["services"] if each["name"] == "google")
    assert (google["state"], google["note"]) == ("key", "")
    assert "pip install" not in said


def test_x7_a_service_of_the_users_own_is_listed(home: Path):
    (home / "config" / "settings.toml").write_text(
        '[providers.mill]\nbase-url = "https://mill.example/v1"\napi-key-env = "MILL_KEY"\n', "utf-8"
    )
    _, told, _ = models(home, MILL_KEY=KEY)
    mill = told["services"][-1]
    assert (mill["name"], mill["base_url"], mill["key_variable"]) == ("mill", "https://mill.example/v1", "MILL_KEY")
