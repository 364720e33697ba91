"""`prosa.run_tests` and `prosa.arun_tests`: programs tried on cases, a report with what came of every repeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from prosa.api.arguments import Amount, ApiName, environment_of, options_of, require_provider, synchronous, with_service
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.run import TestOptions
from prosa.app.evals.run import run_tests as run_all
from prosa.app.evals.suite import side_of
from prosa.app.options import Record, Replay
from prosa.evaluation.report import Report
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider


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
    base_url: str | None = None,
    api_key: str | None = None,
    api: ApiName | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    max_output_tokens: int | None = None,
    max_cost: Amount | None = None,
    allow_servers: bool = False,
    record: str | Path | Record | None = None,
    replay: str | Path | Replay | None = None,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> Report:
    """Run test documents and skills with cases, files or folders of them, and return a report with every repeat of
    every case (X28, X32).

    ``models`` are tested separately, ``repeat`` is how often each case runs; both override the documents. ``cases``
    are parts of names, ``failed`` selects the cases that failed the last time. ``against`` is another program, a
    revision of git or a model to compare with. ``lower`` applies requirements to the lower bound of intervals. Answers
    are cached between calls unless ``cache`` is False; ``concurrency`` is the number of concurrent runs.
    ``grader_model`` grades. ``provider`` replaces a model service, and its answers are not cached. ``base_url``,
    ``api_key``, ``api``, ``max_iterations``, ``retries``, ``timeout``, ``root``, ``max_output_tokens``, ``max_cost``,
    ``allow_servers``, ``record``, ``replay``, ``listener``, ``environ`` are as in `arun`.

    The report has ``ok``, ``suites`` with their ``cases`` and ``gate``, ``comparisons`` and ``cost``. A case that
    fails is a result; attempts whose ``outcome`` is "not measured" have a ``reason`` and are excluded from rates
    (X34). Raises `RunError` if nothing can run: `ProgramRefused` for tests or programs with errors, `FileProblem`, and
    TypeError for an invalid provider.
    """
    named = [str(paths)] if isinstance(paths, str | Path) else [str(each) for each in paths]
    require_provider(provider)
    chosen = _texts(models)
    one = chosen[0] if len(chosen) == 1 else None
    said = one, None, base_url, api_key, api, max_iterations, retries, timeout, root, False, allow_servers
    options = options_of(*said, max_output_tokens, max_cost, record=record, replay=replay)
    groups = find_tests(named, options.root, options.max_size)
    if not groups:
        hint = "they are called NAME.test.md; the cases of a skill stand in its evals/evals.json"
        raise RunError(f"no test documents in {', '.join(named)}, and no skill with cases", hint=hint)
    environment = environment_of(groups[0].paths[0], environ)
    options = with_service(options, environment, provider)
    side = None if against is None else side_of(against, Path(named[0]))
    wanted = TestOptions(chosen, repeat, _texts(cases), failed, lower, cache, concurrency, grader_model, side)
    suites = load_suites(groups, options, environment)
    return await run_all(suites, wanted, options, environment, listener=listener, provider=provider)


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


run_tests = synchronous(arun_tests, "run_tests")
