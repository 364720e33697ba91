"""`prosa.run` and `prosa.arun`: a program with its input, to its validated output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, Unpack, cast

from msgspec import ValidationError, convert
from msgspec.structs import replace

from prosa.api.arguments import (
    A_PROVIDER,
    RunOptions,
    T,
    environment_of,
    journal_of,
    log,
    options_of,
    program_of,
    require_provider,
    synchronous,
    takes,
)
from prosa.app.options import NO_RIGHTS, SiteRights
from prosa.app.run.load import ready_program
from prosa.data import Value
from prosa.records.summary import Output, RunResult
from prosa.runtime.errors import OutputRefused
from prosa.runtime.events import ignore
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program, takes_request


@takes(RunOptions)
async def arun(
    path_or_program: str | Path | Program,
    input: Value = None,  # noqa: A002 - the name of the interface
    *,
    provider: Provider | None = None,
    output: Mapping[str, Value] | bool | None = None,
    sites: SiteRights = NO_RIGHTS,
    journal: bool | str | Path = False,
    resume: str | None = None,
    rerun_in_doubt: bool = False,
    returns: type[Output] | None = None,
    **options: Unpack[RunOptions],
) -> RunResult[Output]:
    """Run a program and return its validated output and the summary.

    ``input`` is plain JSON data, by default ``{}``; for a skill (its `SKILL.md` or folder) the request, as a text.
    ``output`` is a JSON Schema for the answer of a skill, which is text without one. ``provider`` replaces the service,
    as `prosa.testing.ScriptedProvider` does. ``sites`` are sites besides the program's own, and the permissions there.
    ``journal`` stores answers in the user's store, or in the named file; by default nothing is stored. ``resume``
    continues a run by `RunResult.run_id`, or that of an error; ``rerun_in_doubt`` repeats calls that are `InDoubt`.
    ``returns`` is a type that the output becomes, such as a dataclass (else `OutputRefused`).

    Raises `RunError`, including `AgreementRequired` (L41), `BudgetSpent` for a call whose worst case does not fit below
    ``max_cost`` and `PriceUnknown` where its price is unknown, `AnswerCut` without ``allow_cut``, `NotTrusted` without
    ``allow_servers``, `ReplayDrift` for a call that differs from the recording; `FileProblem`; and TypeError for an
    invalid provider. Notices go to the logger ``prosa``. Further options, with `prosa.Record` and `prosa.Replay`:
    """
    from prosa.app.run.jobs import run_program  # it takes its time to load, and importing the name needs none of it

    _require_provider(provider)
    typed = _Typed(returns) if returns is not None else None
    path = program_of(path_or_program)
    environment = environment_of(path if isinstance(path, Path) else None, options.get("environ"))
    kept = journal_of(journal, resume, rerun_in_doubt=rerun_in_doubt)
    chosen = options_of(options, environment, provider, site_rights=sites, output_schema=output, journal=kept)
    program = ready_program(path, chosen, environment)
    listener = options.get("listener", ignore)
    about = program, _value(program, input), chosen, environment
    return _given(await run_program(*about, listener=listener, provider=provider), typed)


def _given(result: RunResult[Value], typed: _Typed[Output] | None) -> RunResult[Output]:
    """Return the result in the requested type."""
    if result.unrecorded is not None:
        log(f"error: {result.unrecorded.message}")
    return typed.of(result) if typed is not None else cast("RunResult[Output]", result)


class _Typed(Generic[Output]):
    """Makes outputs of a type. Raises TypeError for a type that no data becomes."""

    def __init__(self, returns: type[Output]) -> None:
        from msgspec.json import Decoder  # inspects the type without any data

        Decoder(returns, dec_hook=_validated)
        self.type = returns

    def of(self, result: RunResult[Value]) -> RunResult[Output]:
        """Return the result with its output as a value of the type. Raises `OutputRefused`."""
        try:
            output = convert(result.output, self.type, dec_hook=_validated)
        except ValidationError as error:
            name = getattr(self.type, "__name__", str(self.type))
            hint = "the schema of the program allows it: let the schema and the type say the same"
            raise OutputRefused(f"the output does not fit {name}: {error}", hint=hint) from None
        return replace(cast("RunResult[Output]", result), output=output)


def _validated(kind: type[T], data: Value) -> T:
    """Return a model of pydantic, or of what has its method."""
    validate: Callable[[Value], T] | None = getattr(kind, "model_validate", None)
    if validate is None:
        raise ValidationError(f"Expected `{kind.__name__}`, which no data becomes")
    return validate(data)


def _require_provider(provider: T) -> None:
    """Raise TypeError for anything but a provider: a name does not choose one here."""
    if isinstance(provider, str):
        raise TypeError(f"provider={provider!r}: a program has no name for a provider; {A_PROVIDER}, or base_url=")
    require_provider(provider)


def _value(program: Program, input_value: Value) -> Value:
    """Return the input: nothing is an empty one, and a text is the request of a skill."""
    if isinstance(input_value, str) and takes_request(program.template):
        return {"request": input_value}
    return {} if input_value is None else input_value


run = synchronous(arun, "run")
