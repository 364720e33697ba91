"""What a run would do and cost, and plans and results of ai-scripts: as text for people and as JSON lines.

What comes from a program, a document or a service is made safe for a terminal; a result on standard output is the
model's text, character for character.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from prosa.data import Plain, Value
from prosa.records.plan import Plan, PlannedTool
from prosa.render.plain import safe, safe_source
from prosa.runtime.messages import Message

if TYPE_CHECKING:
    from prosa.render.planned import AmountData, EstimateData, PlannedScript, PlannedScripts, SentParameters

INDENT = "  "


def plan_text(plan: Plan) -> str:
    """Return the plan, and that of every program it may call."""
    cost = [estimate_lines(cast("EstimateData", plan.estimate.as_dict()))] if plan.estimate else []
    parts = [_lines(plan), *cost, *(_message(message) for message in plan.messages)]
    parts += [[f"imported: {first}", *rest] for first, *rest in map(_lines, plan.imports)]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _lines(plan: Plan) -> list[str]:
    lines = [safe(f"{plan.program} ({plan.file}) with {plan.model_name}"), "", "effects:"]
    lines += [f"{INDENT}- {safe(effect)}" for effect in plan.effects]
    if plan.unavailable:
        lines += ["", "requirements that are not met here:", *(f"{INDENT}- {safe(need)}" for need in plan.unavailable)]
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


HEAD = ("cost", "calls", "tokens in", "out", "dollars")


def estimate_lines(estimate: EstimateData) -> list[str]:
    """Return the table, then its bounds, the most effective savings, and what no number includes."""
    rows = [HEAD, ("  at least", *_cells(estimate["at_least"]))]
    if likely := estimate["likely"]:
        rows.append(("  likely", *map(_with_p95, _cells(likely["median"]), _cells(likely["p95"]))))
    if most := estimate["at_most"]:
        rows.append(("  at most", *_cells(most)))
    return [*_aligned(rows), *(safe(f"  {line}") for line in _reasons(estimate))]


def _cells(amount: AmountData) -> list[str]:
    counts = (amount["calls"], amount["tokens_in"], amount["tokens_out"])
    return [*(f"{count:,}" for count in counts), _dollars(amount["dollars"])]


def _with_p95(middle: str, high: str) -> str:
    return middle if middle == high else f"{middle} ({high})"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    for row in rows:
        yield "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _reasons(estimate: EstimateData) -> Iterator[str]:
    first = estimate["first_call"]
    about = "" if first["exact"] else "~"
    known = "" if first["rendered"] else ", without what depends on the input"
    yield f"the first call has {about}{first['tokens_in']:,} tokens of text{known}"
    cap, worst = estimate["max_cost"], first["dollars_at_most"]
    if cap is not None and worst is not None and worst > cap:
        yield f"--max-cost {cap:g} may not hold even that: it may cost ${_dollars(worst)}"
    if likely := estimate["likely"]:
        runs = f"{likely['runs']:,} run{'' if likely['runs'] == 1 else 's'}"
        yield f"likely: the median of {runs} of this version (in parentheses what 19 of 20 stayed below)"
    if estimate["unbounded"]:
        yield f"at most: no bound: {estimate['unbounded']}"
    elif (most := estimate["at_most"]) and (own := estimate["own"]):
        yield from _bounds(estimate, most, own)
    for name in estimate["unknown_prices"]:
        yield f'no price of {name} is known: not counted, and --max-cost refuses it; prices."{name}" in your settings'


def _bounds(estimate: EstimateData, most: AmountData, own: AmountData) -> Iterator[str]:
    part, lower = estimate["import"], estimate["lower"]
    window = "" if estimate["context"] is None else f" with a context of {estimate['context']:,} tokens"
    calls = f"{own['calls']:,} call{'' if own['calls'] == 1 else 's'}"
    yield f"at most: {calls}{window}, {estimate['output']:,} tokens out in each: {_priced(own['dollars'])}"
    if part and part["times"]:
        dollars = part["dollars"]
        product = "" if dollars is None else f" × ${_dollars(dollars)} = ${_dollars(_times(dollars, part['times']))}"
        yield f"+ {part['program']}: {part['times']:,}{product}"
    if lower:
        limit = f"`limits: {{{lower['limit']}: {lower['value']}}}`"
        yield f"{limit} in all its programs makes it {_priced(lower['dollars'])}"
    if estimate["max_cost"] is not None and most["dollars"] == estimate["max_cost"]:
        yield f"--max-cost {estimate['max_cost']:g} ends it before that"
    if estimate["retries"]:
        yield f"a call that fails may be billed too, and is tried again up to {estimate['retries']} times"


def _times(dollars: float, times: int) -> float:
    return float(Decimal(str(dollars)) * times)


def _priced(amount: float | None) -> str:
    return "no known price" if amount is None else f"${_dollars(amount)}"


def _dollars(amount: float | None) -> str:
    """Dollars for a table: cents from a dollar on, else two significant digits."""
    if amount is None:
        return "unknown"
    if amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.{max(4, 1 - _exponent(amount))}f}" if amount else "0"


def _exponent(amount: float) -> int:
    return Decimal(str(amount)).adjusted()


_SCRIPT_INDENT = "   "

_RESULTS = {"absent": "no result yet", "fresh": "its result is fresh", "stale": "its result is stale"}
_RESULTS |= {"edited": "its result was edited by hand"}


def scripts_plan_text(facts: Mapping[str, Plain]) -> str:
    """Return the scripts in their order: what runs and why, what does not and why; then what is sent, if known."""
    plan = cast("PlannedScripts", facts)
    scripts = plan["scripts"]
    beside = f", instructed by {plan['scripts_from']}" if "scripts_from" in plan else ""
    count = f"{len(scripts)} script{'' if len(scripts) == 1 else 's'}"
    head = f"{plan['file']}{beside}: {count if scripts else 'no scripts'}{' in this order' if len(scripts) > 1 else ''}"
    if any(script["auto_run"] for script in scripts) and not plan["trusted"]:
        head += f"\n{plan.get('scripts_from', plan['file'])} is not trusted: --auto runs nothing before `prosa trust`"
    parts = ["\n".join(map(safe, head.split("\n"))), *("\n".join(_script_lines(script)) for script in scripts)]
    parts += ["\n".join(_sent(script)) for script in scripts if "messages" in script]
    return "\n\n".join(parts)


def _script_lines(script: PlannedScript) -> list[str]:
    name = f"{script['order']}. {script['script']} (line {script['line']})"
    verdict = "runs" if script["runs"] else "does not run"
    lines = [f"{name}: {verdict}: {script['why']}"]
    lines += [f"{_SCRIPT_INDENT}{line}" for line in str(script.get("hint", "")).splitlines()]
    about = [f"priority {script['priority']}"] if script["priority"] else []
    about += [f"for {script['runtime_env']}"] if script["runtime_env"] else []
    if "model" in script:
        about += [f"{script['model']} ({script['service']})", f"gives {script['form']}", _RESULTS[script["result"]]]
    lines += [f"{_SCRIPT_INDENT}{'; '.join(about)}"] if about else []
    if "parameters" in script:
        lines += [f"{_SCRIPT_INDENT}{line}" for line in _parameters(script["parameters"])]
    return [safe(line) for line in lines]


def _parameters(parameters: SentParameters) -> list[str]:
    """Return the parameters as sent, each with the author's name for it if that differs (MA10)."""
    written = {sent: name for name, sent in parameters["renamed"].items()}
    shown = [
        f"{name}{f' (written {written[name]})' if name in written else ''} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in parameters["sent"].items()
    ]
    return [f"parameters: {', '.join(shown)}"] if shown else []


def _sent(script: PlannedScript) -> list[str]:
    limits = script["limits"]
    lines = [f"=== {safe(str(script['script']))} ===", ""]
    times = f"at most {script['retry_times']} corrections" if script["form"] in ("json", "image-url") else "one answer"
    lines.append(f"{times}, {limits['wall_clock']:g} s, tools: {', '.join(script['tools']) or 'none'}")
    lines += ["", *estimate_lines(script["estimate"])]
    for message in script["messages"]:
        lines += ["", f"--- {message['role']} message, {len(message['content'])} characters ---"]
        lines += [safe_source(line) for line in message["content"].rstrip("\n").split("\n")]
    return lines


def result_line(
    script: str,
    output: Value,
    error: str | None,
    *,
    form: str | None,
    model: str | None,
    answered_by: str | None,
    cut: bool,
    written: bool | None,
) -> str:
    """Return one JSON line: `{"script", "ok", "result" or "error", "form", "model", "answered_by"}`, with ``cut`` if
    the answer was cut off, and ``written`` if requested."""
    head = {"script": script, "ok": error is None} | ({"result": output} if error is None else {"error": error})
    about: dict[str, Value] = {"form": form, "model": model, "answered_by": answered_by}
    more = ({"cut": True} if cut else {}) | ({} if written is None else {"written": written})
    return json.dumps(head | about | more, ensure_ascii=False)


def result_text(output: Value) -> str:
    """Return a result as text, with one line end."""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)
    return text if text.endswith("\n") else f"{text}\n"


def headed(script: str, text: str) -> str:
    """Return one of several results under its name."""
    return f"## {script}\n\n{text}"
