"""A plan as text for people. Everything in it comes from the program; control characters are shown, not sent."""

from __future__ import annotations

from prosa.runtime.plan import Plan

INDENT = "  "


def plan_text(plan: Plan) -> str:
    """The plan with its imports below it, indented."""
    return "\n".join(_lines(plan))


def _lines(plan: Plan) -> list[str]:
    lines = [f"{plan.program} ({plan.file}) with {plan.model_name}", "", "effects:"]
    lines += [f"{INDENT}- {effect}" for effect in plan.effects]
    lines += ["", "tools:", *(f"{INDENT}- {tool.name}: {_first_line(tool.description)}" for tool in plan.tools)]
    lines += ["", f"limits: {_limits(plan)}", f"response format: {_format(plan)}"]
    lines += [f"{INDENT}lowered: {note}" for note in plan.lowered]
    for message in plan.messages:
        lines += [
            "",
            f"--- {message.role} message, {len(message.content)} characters ---",
            message.content.rstrip("\n"),
        ]
    for imported in plan.imports:
        lines += ["", "imports:", *(f"{INDENT}{line}".rstrip() for line in _lines(imported))]
    return lines


def _limits(plan: Plan) -> str:
    limits = plan.limits
    memory = limits.python_memory // (1024 * 1024)
    return (
        f"{limits.iterations} iterations, {limits.wall_clock:g} s, {limits.retries} retries a call, "
        f"tool results {limits.tool_result // 1024} KiB, python {limits.python_timeout:g} s and {memory} MB"
    )


def _format(plan: Plan) -> str:
    how = "strict" if plan.strict else "not strict: the schema does not qualify"
    return f"json_schema, {how}{', wrapped under `value`' if plan.wrapped else ''}; validated here in full"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
