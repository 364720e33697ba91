"""A model on this machine that gives the same refused answer again: what it is sent then, and what plays it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from prosa.app.options import Record, Replay
from prosa.records.recording import request_data
from prosa.runtime.errors import OutputRefused
from prosa.runtime.messages import ModelReply, ModelRequest
from tests.app.run.recordings.runs import only, program, ran, told

GIVEN = {"text": "apples"}
WRONG, OTHER, RIGHT = '{"n": "a"}', '{"n": "b"}', '{"n": 7}'


class Model:
    """A provider that gives these answers in turn, of a model on this machine where it ``drops`` repeats."""

    def __init__(self, *answers: str, drops: bool) -> None:
        self.answers, self.drops = list(answers), drops
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        """Gives the next answer."""
        self.asked.append(request)
        return ModelReply(self.answers[len(self.asked) - 1], drops_repeats=self.drops)

    async def aclose(self) -> None:
        """Does nothing."""


def lengths(model: Model) -> list[int]:
    """How many messages each call had."""
    return [len(each.messages) for each in model.asked]


def test_an_answer_that_was_refused_twice_is_sent_once_and_asked_for_otherwise(tmp_path: Path) -> None:
    model = Model(WRONG, WRONG, WRONG, OTHER, WRONG, RIGHT, drops=True)
    assert ran(program(tmp_path), GIVEN, provider=model).output == {"n": 7}
    assert lengths(model) == [2, 4, 4, 4, 6, 8]
    assert [each.repeats for each in model.asked] == [0, 0, 1, 2, 0, 0]


def test_the_error_says_how_often_the_same_answer_came(tmp_path: Path) -> None:
    """Also of a model that another machine runs: what it is sent grows as ever."""
    path = program(tmp_path, more="limits: {iterations: 3}\n")
    for drops, expected in ((True, [2, 4, 4]), (False, [2, 4, 6])):
        model = Model(WRONG, WRONG, WRONG, drops=drops)
        with pytest.raises(OutputRefused, match=r"; the model gave the same answer 3 times$"):
            ran(path, GIVEN, provider=model)
        assert lengths(model) == expected
        assert drops or not any(each.repeats for each in model.asked)


@pytest.mark.parametrize("drops", [True, False])
def test_x27_a_replay_sends_what_the_recorded_run_sent(tmp_path: Path, drops: bool) -> None:
    """A recording says which way it was made; one of before says nothing, and its calls grow."""
    path, answers = program(tmp_path), (WRONG, WRONG, WRONG, OTHER, RIGHT)
    first = ran(path, GIVEN, provider=Model(*answers, drops=drops), record=Record(tmp_path / "tapes"))
    assert ("drops_repeats" in only(tmp_path / "tapes").read_text()) is drops
    assert told(ran(path, GIVEN, replay=Replay(tmp_path / "tapes", strict=True))) == told(first)


def test_x27_how_often_an_answer_came_is_no_part_of_what_is_compared() -> None:
    asked = ModelRequest("m", ())
    assert request_data(msgspec.structs.replace(asked, repeats=2)) == request_data(asked)
