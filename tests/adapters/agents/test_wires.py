"""X36: the shapes that the scripted service knows are those of the services' own libraries, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import pytest
from anthropic.types import ContentBlockParam, ToolParam
from anthropic.types.beta import BetaContentBlockParam
from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming as BetaMessage
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as Message
from google.genai import types as google
from openai.types.chat.chat_completion_message_param import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as Completion
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as Response
from openai.types.responses.response_input_item_param import ResponseInputItemParam
from openai.types.responses.tool_param import ToolParam as ResponseTool
from openai.types.shared_params import FunctionDefinition
from typing_extensions import get_type_hints, is_typeddict

from prosa.adapters.agents.wires import chat, gemini, messages, responses
from prosa.adapters.agents.wires.shapes import Fields

ADDED = {
    # What a service takes although its library does not name it in this type, or named it in an earlier one.
    "messages": {"temperature", "top_k", "top_p", "stream", "system"},
    "responses": {"stream", "client_metadata"},
    "chat": {"stream"},
}


def named(kind: Any) -> set[str]:
    return set(get_type_hints(kind))


def tags(union: Any, name: str = "type") -> set[str]:
    """The values of a tag of the types in a union."""
    found: set[str] = set()
    for kind in filter(is_typeddict, get_args(union)):
        literal = get_type_hints(kind)[name]
        for each in get_args(literal) or ():
            found |= {each} if isinstance(each, str) else set(get_args(each)) - {None}
    return {each for each in found if isinstance(each, str)}


def known(fields: Iterable[str], *more: str) -> set[str]:
    return {*fields, *more}


@pytest.mark.parametrize(
    ("wire", "ours", "theirs"),
    [
        ("messages", known(messages.FIELDS, "model", "messages", "max_tokens"), named(Message)),
        (
            "messages",
            known({**messages.FIELDS, **messages.BETA_FIELDS}, "model", "messages", "max_tokens"),
            named(BetaMessage) - {"betas"},
        ),
        ("chat", known(chat.FIELDS, "model", "messages"), named(Completion)),
        ("responses", known(responses.FIELDS, "model"), named(Response)),
    ],
)
def test_the_fields_of_a_request_are_those_of_the_library(wire: str, ours: set[str], theirs: set[str]):
    assert ours - ADDED[wire] == theirs - ADDED[wire]


def test_blocks_roles_and_items_are_those_of_the_libraries():
    assert tags(ContentBlockParam) | tags(BetaContentBlockParam) == set(messages.BLOCKS)
    assert tags(ChatCompletionMessageParam, "role") == set(chat.ROLES)
    assert tags(ResponseInputItemParam) == set(responses.ITEMS)
    assert tags(ResponseTool) == {"function", *responses.OTHER_TOOLS}


def fields(shape: Fields) -> set[str]:
    return {*shape.required, *shape.optional}


def aliases(kind: Any) -> set[str]:
    return {each.alias or name for name, each in kind.model_fields.items()}


def test_tools_and_parts_have_the_fields_of_the_libraries():
    assert fields(messages.TOOL) == named(ToolParam)
    assert fields(chat.FUNCTION) == named(FunctionDefinition)
    function = next(each for each in get_args(ResponseTool) if each.__name__ == "FunctionToolParam")
    assert fields(responses.FUNCTION) | {"type"} == named(function)
    assert fields(gemini.PART) == aliases(google.Part)
    assert fields(gemini.TOOL) == aliases(google.Tool)
    assert fields(gemini.FUNCTION) == aliases(google.FunctionDeclaration)
    assert fields(gemini.SETTINGS) - {"imageConfig"} == aliases(google.GenerationConfig)
    assert set(gemini.FIELDS["tools"].each.optional) == aliases(google.Tool)  # type: ignore[union-attr]


def test_names_of_google_may_have_underscores_where_they_are_the_services_own():
    body = {"system_instruction": {"parts": []}, "tools": [{"function_declarations": [{"parameters": {"a_b": 1}}]}]}
    assert gemini.camel(body) == {
        "systemInstruction": {"parts": []},
        "tools": [{"functionDeclarations": [{"parameters": {"a_b": 1}}]}],
    }
