"""The plan of a run of the scripts of a document, as plain data (MA10, MA12). No file access, no prompts.

In: rows and the means to prepare jobs. Out: the keys that `prosa plan FILE --format json` prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from prosa.app.run.facts import facts_of
from prosa.app.scripts.choose import Selection
from prosa.app.scripts.load import Preparing, ScriptJob
from prosa.data import Plain
from prosa.dialects.magi.choosing import Choice, Row
from prosa.records.estimate import estimate
from prosa.records.plan import first_messages, first_request
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.dialects.magi import Script


def planned(selection: Selection, *, whole: bool, trusted: bool) -> dict[str, Plain]:
    """Return the plan. With ``whole`` each script that runs has its messages and limits; ``trusted`` says whether
    `--auto` may run anything (X7)."""
    file, choice, preparing = selection.file, selection.choice, selection.preparing
    head: dict[str, Plain] = {"file": str(file.path)}
    if file.beside is not None:
        head["scripts_from"] = file.beside.path
    scripts: list[Plain] = [_script(row, choice, preparing, selection.states, whole=whole) for row in selection.rows]
    return {**head, "env": choice.env, "context": preparing.mode, "trusted": trusted, "scripts": scripts}


def _script(
    row: Row, choice: Choice, preparing: Preparing, states: Mapping[str, str], *, whole: bool
) -> dict[str, Plain]:
    made: dict[str, Plain] = {"script": row.script.address, "line": row.script.line, "order": row.order}
    made |= {"runs": row.runs, "why": row.why, "kind": row.kind, **_requested(row.script)}
    made["result"] = states.get(row.script.address, "absent")
    if row.kind == "error":
        return made
    try:
        job = preparing.ready(row.script, choice.text_for(row.script))
    except RunError as error:
        return {**made, "runs": False, "kind": "error", "why": error.message, "hint": error.hint}
    return made | _job(job) | (_whole(job, preparing) if whole and row.runs else {})


def _requested(script: Script) -> dict[str, Plain]:
    """Return the parameters that the block requests."""
    fields = script.fields
    return {
        "priority": fields.text("priority"),
        "auto_run": script.auto_run,
        "runtime_env": fields.text("runtime-env"),
        "interactive": script.interactive_type,
    }


def _job(job: ScriptJob) -> dict[str, Plain]:
    program = job.program
    return {
        "provider": job.row.name if job.row else None,
        "model": program.model_name,
        "service": job.service,
        "form": program.form,
        "stream": job.stream,
        "retry_times": program.rejections,
        "parameters": {"sent": dict(job.parameters.sent), "renamed": dict(job.parameters.renamed)},
        "tools": ["python"] if program.python else [],
    }


def _whole(job: ScriptJob, preparing: Preparing) -> dict[str, Plain]:
    sent = first_messages(job.program, job.input_value)
    facts = facts_of(job.program, preparing.options, preparing.environment, job.row)
    cost = estimate(job.program, first_request(job.program, sent), facts)
    messages = [{"role": message.role, "content": message.content} for message in sent]
    schema = job.program.output_schema if job.program.form == "json" else None
    limits = asdict(job.program.limits)
    return {"messages": messages, "output_schema": schema, "limits": limits, "estimate": cost.as_dict()}
