"""X36: what is expected of the workspace of an agent; words of the wrong type are mistakes with a place."""

from __future__ import annotations

import pytest

from prosa.data import Value
from prosa.evaluation.workspace import workspace_mistakes


@pytest.mark.parametrize("form", ["changed", "loaded", "command"])
@pytest.mark.parametrize("value", [5, None, [], ["a", 1], {"a": "b"}])
def test_x36_a_word_that_takes_texts_refuses_everything_else(form: str, value: Value):
    assert {each.pointer for each in workspace_mistakes({form: value})} == {f"/{form}"}
