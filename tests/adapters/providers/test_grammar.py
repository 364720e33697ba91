"""The first rung of the ladder, for engines that decode by grammar (X35, LA4); schemas as every service gets them."""

from __future__ import annotations

import json
from typing import Any

from prosa.adapters.providers.request_shape import RequestShape
from prosa.runtime.messages import OutputFormat
from tests.adapters.providers.asking import SCHEMA, TOOL, Way, only, request

FIRST = RequestShape(output="grammar", limits=("max_tokens",), apart=True)
WRITTEN = {**SCHEMA, "properties": {"n": {"type": "integer", "multipleOf": 7}}, "not": {"const": 1}}


def asked(way: Way) -> list[str | None]:
    """How the output was asked for, request by request."""
    kinds = [(body.get("response_format") or {}).get("type") for body in way.server.bodies]
    return ["grammar" if "grammar" in body else kind for body, kind in zip(way.server.bodies, kinds, strict=True)]


@only("chat")
def test_x35_the_grammar_is_of_the_schema_as_written_without_what_it_cannot_say(way: Way):
    way.server.default = {"content": {"n": 7}}
    reply = way.ask(request(schema=WRITTEN), first=FIRST)
    (body,) = way.server.bodies
    start, _, schema = body["grammar"].partition("%json ")
    sent = json.loads(schema)
    assert start == "%llguidance {}\nstart: "
    assert sent.pop("x-guidance") == {"whitespace_flexible": False}
    assert sent["properties"]["n"] == {"type": "integer", "multipleOf": 7, "minimum": -(10**15), "maximum": 10**15}
    assert "not" not in sent
    assert "response_format" not in body
    assert json.loads(reply.content) == {"n": 7}


@only("chat")
def test_x35_an_engine_that_writes_freely_is_asked_in_the_next_way_and_that_is_remembered(way: Way):
    way.server.script({"content": "I am free to write what I like."}, {"content": {"n": 1}}, {"content": {"n": 2}})
    way.ask(request(), request(), first=FIRST)
    assert asked(way) == ["grammar", "json_schema", "json_schema"]
    assert way.pieces == [] or "".join(way.pieces).startswith("{")


@only("chat")
def test_x35_a_refused_grammar_says_nothing_about_other_schemas(way: Way):
    other = OutputFormat("output", {"type": "object"}, strict=False)
    way.server.script({"content": "free"}, {"content": {"n": 1}}, {"content": {}})
    way.ask(request(), request(output=other), first=FIRST)
    assert asked(way) == ["grammar", "json_schema", "grammar"]


@only("chat")
def test_x35_tools_and_a_grammar_do_not_go_together(way: Way):
    way.server.default = {"content": {"n": 1}}
    way.ask(request(tools=(TOOL,)), request(), first=FIRST)
    assert asked(way) == [None, "grammar"]
    assert "tools" in way.server.bodies[0]


def test_a_boolean_as_a_schema_is_spelled_out_for_every_service(way: Way):
    """There are servers that refuse a whole request for one, and then nothing holds the answer any more."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": True, "p": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False}},
        "required": ["a"],
    }
    way.server.default = {"content": {"a": 1}}
    way.ask(request(output=OutputFormat("output", schema, strict=False)))
    text = way.server.requests[0].text.replace(" ", "")
    assert '"items":false' not in text
    assert '"a":true' not in text
