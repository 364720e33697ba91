"""Imported programs: tools with their own body, schema, tools, model and loop; metrics of their calls."""

from __future__ import annotations

import json

from prosa.runtime.messages import Message
from tests.runtime.worlds import FakeSandbox, FixedPrices, call, load, run, text_of


def two(tmp_path, *, helper_more="", main_more="imports: [./helper.md]\n", **choices):
    helper = text_of("helper", "Helps.", helper_more).replace("Say a number", "Help")
    (tmp_path / "helper.md").write_text(helper, encoding="utf-8")
    return load(tmp_path, text_of(more=main_more), **choices)


def asks(text="x"):
    return {"program": "number", "tool_calls": [call("helper", {"text": text})]}


def test_l6_l30_l31_lw3_x15_an_import_is_a_tool_with_its_own_body_schema_and_tools(tmp_path):
    program = two(tmp_path)
    replies = [asks("it"), {"program": "helper", "content": {"n": 4}}, {"program": "number", "content": {"n": 5}}]
    ran = run(program, {}, replies, sandbox=FakeSandbox())
    assert ran.output == {"n": 5}
    offered = ran.requests[0].tools[1]
    assert (offered.name, offered.description) == ("helper", "Helps.")
    assert offered.parameters["properties"] == {"text": {"type": "string"}}
    inner = ran.requests[1]
    assert inner.messages[1].content.strip() == "Help for it."
    assert "Helps." in inner.messages[0].content
    assert [tool.name for tool in inner.tools] == ["python"]
    assert inner.output is not None
    assert json.loads(ran.requests[2].messages[3].content) == {"n": 4}


def test_l29_la15_the_caller_sees_only_its_direct_imports(tmp_path):
    (tmp_path / "deep.md").write_text(text_of("deep"), encoding="utf-8")
    program = two(tmp_path, helper_more="imports: [./deep.md]\n")
    replies = [asks(), {"program": "helper", "content": {"n": 1}}, {"program": "number", "content": {"n": 2}}]
    ran = run(program, {}, replies)
    assert [tool.name for tool in ran.requests[0].tools] == ["helper"]
    assert [tool.name for tool in ran.requests[1].tools] == ["deep"]


def test_l31_an_import_runs_its_own_loop_with_feedback(tmp_path):
    replies = [
        asks(),
        {"program": "helper", "content": "not json"},
        {"program": "helper", "content": {"n": 3}},
        {"program": "number", "content": {"n": 3}},
    ]
    ran = run(two(tmp_path), {}, replies)
    assert ran.output == {"n": 3}
    assert ran.summary.errors == 0
    assert ran.summary.iterations == 2


def test_l31_what_an_import_cannot_do_is_told_to_the_caller(tmp_path):
    program = two(tmp_path, iterations=2)
    replies = [asks(), *[{"program": "helper", "content": "no"}] * 2, {"program": "number", "content": {"n": 1}}]
    ran = run(program, {}, replies)
    assert ran.output == {"n": 1}
    assert "helper failed" in ran.requests[-1].messages[3].content


def test_l31_wrong_arguments_for_an_import_are_told_to_the_caller(tmp_path):
    replies = [
        {"program": "number", "tool_calls": [call("helper", {"text": 1})]},
        {"program": "number", "content": {"n": 1}},
    ]
    ran = run(two(tmp_path), {}, replies)
    told = ran.requests[1].messages[3].content
    assert "/text" in told
    assert len(ran.requests) == 2


def test_l8_la16_x16_lw8_each_program_keeps_its_model_unless_the_user_overrides(tmp_path):
    replies = [asks(), {"program": "helper", "content": {"n": 1}}, {"program": "number", "content": {"n": 1}}]
    own = two(tmp_path, helper_more="model: small\n")
    assert [request.model_name for request in run(own, {}, replies).requests] == ["gpt-4o", "small", "gpt-4o"]
    default = two(tmp_path, helper_more="model: small\n", default_model="medium")
    assert [request.model_name for request in run(default, {}, replies).requests] == ["medium", "small", "medium"]
    over = two(tmp_path, helper_more="model: small\n", model="large")
    assert [request.model_name for request in run(over, {}, replies).requests] == ["large", "large", "large"]


def test_l32_l33_lw9_calls_of_agents_are_counted_with_their_tokens(tmp_path):
    program = two(tmp_path)
    twice = {"program": "number", "tool_calls": [call("helper", {"text": "a"}), call("helper", {"text": "b"})]}
    answer = {"program": "helper", "content": {"n": 1}, "usage": {"input_tokens": 100, "output_tokens": 25}}
    last = {"program": "number", "content": {"n": 2}, "usage": {"input_tokens": 150, "output_tokens": 75}}
    summary = run(program, {}, [twice, answer, answer, last], prices=FixedPrices()).summary.as_dict()
    whole = summary["tokens"]["total"] + summary["agent_calls"]["tokens_used"]
    assert summary["total"]["tokens"] == whole  # LA28: the whole run, called programs included
    assert summary["total"]["cost"] > summary["tokens"]["cost"]
    calls = summary["agent_calls"]
    assert calls["total_calls"] == 2
    assert calls["calls_by_agent"] == {"helper": 2}
    assert calls["tokens_used"] == 250
    assert set(calls) == {"total_calls", "calls_by_agent", "total_duration", "average_duration", "tokens_used"}
    assert summary["tools_called"] == 0
    assert summary["tokens"] == {"input": 150, "output": 75, "total": 225, "cost": 0.001125}


def test_l32_the_caller_waits_for_the_called(tmp_path):
    replies = [asks(), {"program": "helper", "content": {"n": 1}}, {"program": "number", "content": {"n": 1}}]
    ran = run(two(tmp_path), {}, replies)
    assert [request.program for request in ran.requests] == ["number", "helper", "number"]
    assert isinstance(ran.requests[2].messages[3], Message)


def test_l6_la14_lw8_imports_are_relative_to_the_importing_file(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "inner.md").write_text(text_of("inner", more="imports: [../shared.md]\n"), encoding="utf-8")
    (tmp_path / "shared.md").write_text(text_of("shared"), encoding="utf-8")
    program = load(tmp_path, text_of(more="imports: [./tools/inner.md]\n"))
    assert program.imports[0].name == "inner"
    assert program.imports[0].imports[0].name == "shared"


def test_l28_an_absolute_import_works(tmp_path):
    (tmp_path / "other").mkdir()
    target = tmp_path / "other" / "far.md"
    target.write_text(text_of("far"), encoding="utf-8")
    assert load(tmp_path, text_of(more=f"imports: [{target}]\n")).imports[0].name == "far"
