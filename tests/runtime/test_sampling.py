"""Temperature, top-p and seed: in a program, in the user's settings for a model, and which of the two wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

PROGRAM = """\
---
name: say
description: Says something.
model: small
{more}input: {{}}
output: {{type: object, properties: {{a: {{type: string}}}}}}
---
Say something.
"""
SETTINGS = "[models.small]\ntemperature = 0.7\ntop-p = 0.9\nseed = 5\n"


class Asked:
    """A provider that keeps what it was asked."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Answers."""
        self.parameters = dict(request.parameters)
        return ModelReply('{"a": "x"}')

    async def aclose(self) -> None:
        """Does nothing."""


def asked(folder: Path, more: str = "", settings: str = "", **options: Any) -> dict[str, Any]:
    """The parameters of the one call of a run."""
    (folder / "say.md").write_text(PROGRAM.format(more=more))
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "settings.toml").write_text(settings)
    provider = Asked()
    environ = {"HOME": str(folder), "PROSA_CONFIG_DIR": str(folder / "config"), "MARKDOWNLANG_AGREE": AGREED}
    prosa.run(folder / "say.md", {}, provider=provider, environ=environ, **options)
    return provider.parameters


AGREED = "Trans rights are human rights"


def test_a_program_says_how_its_answers_are_sampled(tmp_path: Path):
    more = "temperature: 0\ntop-p: 0.5\nseed: 12\n"
    assert asked(tmp_path, more) == {"temperature": 0, "top_p": 0.5, "seed": 12}
    assert asked(tmp_path) == {}


def test_the_users_settings_say_it_of_a_model_and_the_program_wins(tmp_path: Path):
    assert asked(tmp_path, settings=SETTINGS) == {"temperature": 0.7, "top_p": 0.9, "seed": 5}
    assert asked(tmp_path, "seed: 1\n", SETTINGS) == {"temperature": 0.7, "top_p": 0.9, "seed": 1}


def test_what_the_settings_say_is_not_recorded_and_changes_no_replay(tmp_path: Path):
    asked(tmp_path, record=tmp_path / "tapes")
    (tmp_path / "config" / "settings.toml").write_text(SETTINGS)
    environ = {"HOME": str(tmp_path), "PROSA_CONFIG_DIR": str(tmp_path / "config"), "MARKDOWNLANG_AGREE": AGREED}
    played = prosa.run(tmp_path / "say.md", {}, replay=tmp_path / "tapes", environ=environ)
    assert played.output == {"a": "x"}


@pytest.mark.parametrize("line", ["temperature: 3", "temperature: -1", "temperature: warm", "top_p: 1.5", "seed: 1.5"])
def test_a_value_that_no_model_takes_is_reported_at_its_line(line: str, tmp_path: Path):
    (tmp_path / "say.md").write_text(PROGRAM.format(more=f"{line}\n"))
    (found,) = [each for each in prosa.check([tmp_path / "say.md"]) if each.rule.startswith("wrong-")]
    assert (found.rule, found.start.line) in {("wrong-form", 5), ("wrong-type", 5)}
