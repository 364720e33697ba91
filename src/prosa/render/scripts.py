"""Plans and results of ai-scripts as text for people and as JSON lines. Plain data in, text out.

In a plan, text from a document, a model or a service is made safe for a terminal; a result on standard output is the
model's text, character for character.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from prosa.data import Value
from prosa.render.estimate import estimate_lines
from prosa.render.plain import safe, safe_source

INDENT = "   "

_RESULTS = {"absent": "no result yet", "fresh": "its result is fresh", "stale": "its result is stale"}
_RESULTS |= {"edited": "its result was edited by hand"}


def plan_text(plan: Mapping[str, Value]) -> str:
    """Return the scripts in their order: what runs and why, what does not and why; then what is sent, if known."""
    scripts = plan["scripts"]
    beside = f", instructed by {plan['scripts_from']}" if "scripts_from" in plan else ""
    count = f"{len(scripts)} script{'' if len(scripts) == 1 else 's'}"
    head = f"{plan['file']}{beside}: {count if scripts else 'no scripts'}{' in this order' if len(scripts) > 1 else ''}"
    if any(each["auto_run"] for each in scripts) and not plan["trusted"]:
        head += f"\n{plan.get('scripts_from', plan['file'])} is not trusted: --auto runs nothing before `prosa trust`"
    parts = ["\n".join(map(safe, head.split("\n"))), *("\n".join(_lines(each)) for each in scripts)]
    parts += ["\n".join(_sent(each)) for each in scripts if "messages" in each]
    return "\n\n".join(parts)


def _lines(script: Mapping[str, Value]) -> list[str]:
    name = f"{script['order']}. {script['script']} (line {script['line']})"
    verdict = "runs" if script["runs"] else "does not run"
    lines = [f"{name}: {verdict}: {script['why']}"]
    lines += [f"{INDENT}{line}" for line in str(script.get("hint", "")).splitlines()]
    about = [f"priority {script['priority']}"] if script["priority"] else []
    about += [f"for {script['runtime_env']}"] if script["runtime_env"] else []
    if "model" in script:
        about += [f"{script['model']} ({script['service']})", f"gives {script['form']}", _RESULTS[script["result"]]]
    lines += [f"{INDENT}{'; '.join(about)}"] if about else []
    if "parameters" in script:
        lines += [f"{INDENT}{line}" for line in _parameters(script["parameters"])]
    return [safe(line) for line in lines]


def _parameters(parameters: Mapping[str, Value]) -> list[str]:
    """Return the parameters as sent, each with the author's name for it if that differs (MA10)."""
    written = {sent: name for name, sent in parameters["renamed"].items()}
    shown = [
        f"{name}{f' (written {written[name]})' if name in written else ''} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in parameters["sent"].items()
    ]
    return [f"parameters: {', '.join(shown)}"] if shown else []


def _sent(script: Mapping[str, Value]) -> list[str]:
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
    more: dict[str, Value] = ({"cut": True} if cut else {}) | ({} if written is None else {"written": written})
    return json.dumps(head | about | more, ensure_ascii=False)


def result_text(output: Value) -> str:
    """Return a result as text, with one line end."""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)
    return text if text.endswith("\n") else f"{text}\n"


def headed(script: str, text: str) -> str:
    """Return one of several results under its name."""
    return f"## {script}\n\n{text}"
