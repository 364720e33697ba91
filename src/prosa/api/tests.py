"""`prosa.run_tests` and `prosa.arun_tests`: programs tried on cases, a report with what came of every repeat."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

from prosa.api.arguments import (
    EvalKeywords,
    environment_of,
    journal_of,
    options_of,
    require_provider,
    synchronous,
    takes,
    words,
)
from prosa.app.agents.task import agent_options
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.run import run_tests as run_all
from prosa.app.evals.suite import side_of
from prosa.app.evals.variants import TestOptions
from prosa.evaluation.report import Report
from prosa.runtime.errors import RunError
from prosa.runtime.events import ignore
from prosa.runtime.ports import Provider


@takes(EvalKeywords)
async def arun_tests(
    paths: str | Path | Iterable[str | Path] = ".",
    *,
    models: str | Iterable[str] = (),
    repeat: int | None = None,
    cases: str | Iterable[str] = (),
    failed: bool = False,
    against: str | None = None,
    lower: bool = False,
    cache: bool = True,
    concurrency: int = 8,
    grader_model: str | None = None,
    provider: Provider | None = None,
    journal: bool | str | Path = False,
    **options: Unpack[EvalKeywords],
) -> Report:
    """Run test documents and skills with cases, files or folders of them, and return a report with every repeat of
    every case (X28, X32).

    ``models`` are tested separately, ``repeat`` is how often each case runs; both override the documents. ``cases``
    are parts of names, ``failed`` selects the cases that failed the last time that
    the test was stored. ``against`` is another program, a
    revision of git or a model to compare with. ``lower`` applies requirements to the lower bound of intervals. Answers
    are cached between calls unless ``cache`` is False; ``concurrency`` is the number of concurrent runs.
    ``grader_model`` grades. ``provider`` replaces a model service, and its answers are not cached. ``journal`` stores
    the test in the user's store, or in the named file, for `prosa report`; by default nothing is stored.

    The report has ``ok``, ``suites`` with their ``cases`` and ``gate``, ``comparisons`` and ``cost``. A case that
    fails is a result; attempts whose ``outcome`` is "not measured" have a ``reason`` and are excluded from rates
    (X34). Raises `RunError` if nothing can run: `ProgramRefused` for tests or programs with errors, `FileProblem`, and
    TypeError for an invalid provider. Further options:
    """
    named = [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]
    require_provider(provider)
    chosen = words(models)
    root = options.get("root")
    groups = find_tests(named, None if root is None else Path(root), options.get("max_size"))
    if not groups:
        hint = "they are named NAME.test.md; the cases of a skill are in its evals/evals.json"
        raise RunError(f"no test documents in {', '.join(named)}, and no skill with cases", hint=hint)
    environment = environment_of(groups[0].paths[0], options.get("environ"))
    arguments = {**options, "model": chosen[0] if len(chosen) == 1 else None}
    of_runs = options_of(arguments, environment, provider)
    sides = () if against is None else (side_of(against, Path(named[0])),)
    wanted = TestOptions(
        models=chosen,
        repeat=repeat,
        cases=words(cases),
        failed=failed,
        lower=lower,
        cache=cache,
        at_once=concurrency,
        grader_model=grader_model,
        sides=sides,
        agents=agent_options(options, chosen),
        journal=journal_of(journal),
    )
    suites = load_suites(groups, of_runs, environment, in_agent=bool(wanted.agents.agents))
    listener = options.get("listener", ignore)
    return await run_all(suites, wanted, of_runs, environment, listener=listener, provider=provider)


run_tests = synchronous(arun_tests, "run_tests")
