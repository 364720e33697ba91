"""A plan as text for people. What comes from the program and its input is made safe for a terminal."""

from __future__ import annotations

import json

from prosa.records.plan import Plan, PlannedTool
from prosa.render.estimate import estimate_lines
from prosa.render.plain import safe, safe_source
from prosa.runtime.messages import Message

INDENT = "  "


def plan_text(plan: Plan) -> str:
    """Return the plan, and that of every program it may call."""
    cost = [estimate_lines(plan.estimate.as_dict())] if plan.estimate else []
    parts = [_lines(plan), *cost, *(_message(each) for each in plan.messages)]
    parts += [[f"imported: {first}", *rest] for first, *rest in map(_lines, plan.imports)]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _lines(plan: Plan) -> list[str]:
    lines = [safe(f"{plan.program} ({plan.file}) with {plan.model_name}"), "", "effects:"]
    lines += [f"{INDENT}- {safe(effect)}" for effect in plan.effects]
    if plan.unavailable:
        lines += ["", "asks for and cannot have here:", *(f"{INDENT}- {safe(each)}" for each in plan.unavailable)]
    lines += ["", *_tools(plan)]
    lines += ["", f"limits: {_limits(plan)}"]
    if plan.form != "json":
        return [*lines, "response format: none, the reply is the output"]
    lines += [f"response format: {_format(plan)}"]
    lines += [f"{INDENT}lowered: {safe(note)}" for note in plan.lowered]
    schema = json.dumps(plan.output_schema, ensure_ascii=False, indent=2)
    return [*lines, "schema as sent:", *(f"{INDENT}{safe_source(line)}" for line in schema.split("\n"))]


def _tools(plan: Plan) -> list[str]:
    """Return the tools with their cost in each request, and the same by MCP server."""
    if not plan.tools:
        return ["tools: none"]
    rest = ", and those that are not known yet" if any(tool.tokens is None for tool in plan.tools) else ""
    lines = [f"tools: {_tokens(plan.tool_tokens)} in each request{rest}"]
    lines += [f"{INDENT}- {safe(_tool(tool))}" for tool in plan.tools]
    for server, tokens in plan.server_tokens.items():
        known = "not known before it starts" if tokens is None else _tokens(tokens)
        lines.append(f"{INDENT}{safe(f'tools of the MCP server {server}: {known}')}")
    return lines


def _tool(tool: PlannedTool) -> str:
    words = f": {_first_line(tool.description)}" if tool.description else ""
    return f"{tool.name}{words}{'' if tool.tokens is None else f' ({_tokens(tool.tokens)})'}"


def _tokens(count: int) -> str:
    return f"~{count:,} token{'' if count == 1 else 's'}"


def _message(message: Message) -> list[str]:
    text = [safe_source(line) for line in message.content.rstrip("\n").split("\n")]
    return [f"--- {message.role} message, {len(message.content)} characters ---", *text]


def _limits(plan: Plan) -> str:
    limits = plan.limits
    memory = limits.python_memory // (1024 * 1024)
    return (
        f"{limits.iterations} iterations, {limits.wall_clock:g} s, {limits.retries} retries a call, "
        f"{limits.tool_calls} tool calls a reply, tool results {limits.tool_result // 1024} KiB, "
        f"output {_output(limits.output_tokens)}, python {limits.python_timeout:g} s and {memory} MB"
    )


def _output(tokens: int | None) -> str:
    return "without limit" if tokens is None else f"{tokens:,} tokens a call"


def _format(plan: Plan) -> str:
    how = "strict" if plan.strict else "not strict: the schema does not qualify"
    return f"json_schema, {how}{', wrapped under `value`' if plan.wrapped else ''}; validated here in full"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
