"""`prosa.run_scripts` and `prosa.arun_scripts`: the ai-scripts of a document, a result for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Unpack

from prosa.api.arguments import RunOptions, environment_of, options_of, path_of, provider_of, synchronous, takes
from prosa.app.scripts.choose import Instructions, choice_of, requested, require_tools, selection
from prosa.app.scripts.run import ScriptResult
from prosa.app.scripts.run import run_scripts as run_all
from prosa.dialects.magi.choosing import ContextMode
from prosa.runtime.events import ignore
from prosa.runtime.ports import Provider
from prosa.source import SourceText


@takes(RunOptions)
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
    provider: Provider | str | None = None,
    **options: Unpack[RunOptions],
) -> tuple[ScriptResult, ...]:
    """Run the ai-scripts of a MAGI document, or scripts provided separately for any document, and return a result for
    each (M41).

    ``path_or_text`` is read as by `load`. ``scripts`` replace the blocks: a JSON file, or its data. ``env`` or ``ids``
    select scripts, ``auto`` selects those that request it in a document that the user trusts; ``stale`` limits these
    to outdated results. ``text`` is for scripts with an input field, or texts by id. ``context`` is sent with the
    prompt: by default the document, or that of the stale result. ``tools`` are granted: `python`. ``write`` puts
    results into the document, with ``force`` over edited ones. ``jobs`` is the number of concurrent scripts.
    ``provider`` is a name, or replaces the model service.

    A failed script is a result with an ``error``; a skipped one is logged. Raises `RunError` if a named script cannot
    run; `FileProblem`; ValueError for contradicting options; TypeError for an invalid provider. Further options:
    """
    path, (name, own) = path_of(path_or_text), provider_of(provider)
    environment = environment_of(path, options.get("environ"))
    chosen = options_of(options, environment, own, provider=name)
    choice = choice_of(ids, text, auto=auto, stale=stale, write=write, env=env, force=force)
    file = requested(path or SourceText(str(path_or_text)), scripts, choice, chosen, environment)
    granted, replaced = require_tools(tools), own is not None
    selected = selection(file, choice, chosen, environment, context=context, tools=granted, replaced=replaced)
    selected.require_named()
    for note in selected.passed_over():
        environment.notice(note)
    ready = selected.made_ready()
    listener = options.get("listener", ignore)
    return await run_all(ready, chosen, environment, listener=listener, at_once=jobs, provider=own)


run_scripts = synchronous(arun_scripts, "run_scripts")
