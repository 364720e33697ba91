"""`prosa.run_scripts` and `prosa.arun_scripts`: the ai-scripts of a document, a result for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from prosa.api.arguments import (
    Amount,
    ApiName,
    environment_of,
    options_of,
    path_of,
    provider_of,
    synchronous,
    with_service,
)
from prosa.app.options import Record, Replay
from prosa.app.scripts.choose import Instructions, choice_of, requested, require_tools, selection
from prosa.app.scripts.run import ScriptResult
from prosa.app.scripts.run import run_scripts as run_all
from prosa.dialects.magi.context import ContextMode
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider
from prosa.source import SourceText


async def arun_scripts(
    path_or_text: str | Path,
    scripts: Instructions | None = None,
    *,
    ids: str | Iterable[str] = (),
    auto: bool = False,
    stale: bool = False,
    text: str | Mapping[str, str] | None = None,
    context: ContextMode | None = None,
    env: str = "server",
    tools: Iterable[str] = (),
    write: bool = False,
    force: bool = False,
    jobs: int = 4,
    model: str | None = None,
    provider: Provider | str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: ApiName | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    max_output_tokens: int | None = None,
    max_cost: Amount | None = None,
    allow_cut: bool = False,
    record: str | Path | Record | None = None,
    replay: str | Path | Replay | None = None,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> tuple[ScriptResult, ...]:
    """Run the ai-scripts of a MAGI document, or scripts provided separately for any document, and return a result for
    each (M41).

    ``path_or_text`` is read as by `load`. ``scripts`` replace the blocks: a JSON file, or its data. ``env`` or ``ids``
    select scripts, ``auto`` selects those that request it in a document that the user trusts; ``stale`` limits these
    to outdated results. ``text`` is for scripts with an input field, or texts by id. ``context`` is sent with the
    prompt: by default the document, or that of the stale result. ``tools`` are granted: `python`. ``write`` puts
    results into the document, with ``force`` over edited ones. ``jobs`` is the number of concurrent scripts.
    ``provider`` is a name, or replaces the model service. ``model``, ``base_url``, ``api_key``, ``api``,
    ``max_iterations``, ``retries``, ``timeout``, ``root``, ``max_output_tokens``, ``max_cost``, ``allow_cut``,
    ``record``, ``replay``, ``listener``, ``environ`` are as in `arun`.

    A failed script is a result with an ``error``; a skipped one is logged. Raises `RunError` if a named script cannot
    run; `FileProblem`; ValueError for contradicting options; TypeError for an invalid provider.
    """
    path, (name, own) = path_of(path_or_text), provider_of(provider)
    said = model, name, base_url, api_key, api, max_iterations, retries, timeout, root, allow_cut, False
    environment = environment_of(path, environ)
    options = options_of(*said, max_output_tokens, max_cost, record=record, replay=replay)
    options = with_service(options, environment, own)
    choice = choice_of(ids, text, auto=auto, stale=stale, write=write, env=env, force=force)
    file = requested(path or SourceText(str(path_or_text)), scripts, choice, options, environment)
    granted, replaced = require_tools(tools), own is not None
    found = selection(file, choice, options, environment, context=context, tools=granted, replaced=replaced)
    found.require_named()
    for note in found.passed_over():
        environment.notice(note)
    ready = found.made_ready()
    return await run_all(ready, options, environment, listener=listener, at_once=jobs, provider=own)


run_scripts = synchronous(arun_scripts, "run_scripts")
