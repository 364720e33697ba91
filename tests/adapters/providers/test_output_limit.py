"""X26: the bound on an answer on the wire, under the names that a service knows."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.adapters.providers.openai import OpenAIProvider
from tests.adapters.providers.asking import Way, only, request
from tests.model_server.server import ModelServer

NAMES = ("max_completion_tokens", "max_tokens", "max_output_tokens", "n_predict")
ANSWER = {"content": {"n": 1}}


def sent(server: ModelServer) -> list[dict[str, Any]]:
    """The bounds of each request."""
    return [{name: body[name] for name in NAMES if name in body} for body in server.bodies]


def chat(server: ModelServer, *requests: Any) -> list[dict[str, Any]]:
    server.default = ANSWER
    Way(server, "chat", False, []).ask(*requests)
    return sent(server)


@only("chat", "responses")
def test_x26_a_service_gets_the_bound_under_both_names_or_its_own(way: Way) -> None:
    """A service that does not know `max_completion_tokens` may pass over it in silence; the other name still bounds."""
    way.server.default = ANSWER
    way.ask(request(), request(max_output=9, parameters={"n_predict": -1, "max_tokens": 99, "seed": 1}))
    both = {"max_completion_tokens": 9, "max_tokens": 9}
    assert sent(way.server) == [{}, both if way.api == "chat" else {"max_output_tokens": 9}]
    assert way.server.bodies[1]["seed"] == 1


def test_x26_without_a_bound_the_parameters_of_a_document_are_sent_as_they_are(model_server: ModelServer) -> None:
    assert chat(model_server, request(parameters={"max_tokens": 99})) == [{"max_tokens": 99}]


@pytest.mark.parametrize(
    ("refuses", "steps"),
    [
        ({"max_completion_tokens"}, ["max_tokens"]),
        ({"max_tokens"}, ["max_completion_tokens"]),
        ({"two-limits"}, ["max_completion_tokens"]),
        ({"two-limits", "max_completion_tokens"}, ["max_completion_tokens", "max_tokens"]),
    ],
)
def test_x26_a_refused_name_is_left_away_and_remembered(
    model_server: ModelServer, refuses: set[str], steps: list[str]
) -> None:
    model_server.refuses = set(refuses)
    first = {"max_completion_tokens": 9, "max_tokens": 9}
    taken = [first, *({name: 9} for name in steps), {steps[-1]: 9}]
    assert chat(model_server, request(max_output=9), request(max_output=9)) == taken


@only("chat", "responses")
def test_x26_a_model_that_writes_less_is_asked_without_a_bound_for_that_call_only(way: Way) -> None:
    way.server.refuses, way.server.default = {"large"}, ANSWER
    way.ask(request(max_output=4096), request(max_output=7))
    first, second, third = sent(way.server)
    assert set(first.values()) == {4096} and second == {} and set(third.values()) == {7}


def test_x26_the_own_service_of_the_wire_knows_the_new_name() -> None:
    provider = OpenAIProvider(api_key="k", base_url=None)
    assert provider._refusals.shape(request(max_output=9)).limits == ("max_completion_tokens",)
    assert provider.service == "https://api.openai.com/v1"
