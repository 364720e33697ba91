"""Keys in a file of the user, for where no variable is set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.scripts.documents import asked, block, document, own
from tests.cli.programs import asked as program_asked
from tests.cli.programs import program
from tests.model_server.server import ModelServer


def stored(folder: Path, text: str, mode: int = 0o600) -> None:
    """Writes `keys.toml` where the user has their settings."""
    place = Path(own(folder)["PROSA_CONFIG_DIR"])
    place.mkdir(parents=True, exist_ok=True)
    (place / "keys.toml").write_text(text)
    (place / "keys.toml").chmod(mode)


def test_x7_a_stored_key_goes_where_its_variable_would(tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": "Done."}
    stored(tmp_path, 'OPENAI_API_KEY = "key-in-the-file"\n')
    path = document(tmp_path, block("one"))
    status, at = asked(model_server, path, "--all", "--debug")
    assert status == 0 and "key-in" not in at.out + at.err
    assert asked(model_server, path, "--all", OPENAI_API_KEY="key-in-the-variable")[0] == 0
    sent = [request.headers.get("authorization") for request in model_server.requests]
    assert sent == ["Bearer key-in-the-file", "Bearer key-in-the-variable"]


def test_x7_a_stored_key_serves_programs_too(tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": {"words": 2}}
    stored(tmp_path, 'OPENAI_API_KEY = "key-in-the-file"\n')
    place = own(tmp_path)["PROSA_CONFIG_DIR"]
    assert program_asked(model_server, program(tmp_path), PROSA_CONFIG_DIR=place)[0] == 0
    assert model_server.requests[0].headers.get("authorization") == "Bearer key-in-the-file"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o666])
def test_x7_keys_that_others_may_read_are_refused(mode: int, tmp_path: Path, model_server: ModelServer):
    stored(tmp_path, 'OPENAI_API_KEY = "key-in-the-file"\n', mode)
    path = document(tmp_path, block("one"))
    status, at = asked(model_server, path, "--all")
    assert (status, model_server.requests) == (1, [])
    assert "may be read by others" in at.err and "chmod 600" in at.err and "key-in" not in at.err


@pytest.mark.parametrize("text", ["not toml", "OPENAI_API_KEY = 3", '[openai]\nkey = "key-in-the-file"', '"a b" = "k"'])
def test_x7_what_is_no_file_of_keys_is_told_without_showing_it(text: str, tmp_path: Path, model_server: ModelServer):
    stored(tmp_path, text)
    status, at = asked(model_server, document(tmp_path, block("one")), "--all")
    assert (status, model_server.requests) == (1, [])
    assert "keys.toml" in at.err and "key-in" not in at.err


def test_a_variable_that_is_set_asks_no_file(tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": "Done."}
    stored(tmp_path, "not toml", 0o644)
    assert asked(model_server, document(tmp_path, block("one")), "--all", OPENAI_API_KEY="mine")[0] == 0
