"""Runs of every kind: a job is one thing to run, whatever asks for it, and has an outcome.

`engine` runs the jobs of a source, `record` begins, resumes and ends the run of each in the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.journal import UNRECORDED, Journal

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

    from prosa.adapters.providers.table import ProviderRow
    from prosa.records.summary import Summary
    from prosa.runtime.errors import RunError
    from prosa.runtime.program import Program


class Job(Struct, frozen=True):
    """A program ready to run. ``name`` is its own among the jobs of a call, ``input_value`` the input; ``row`` is the
    provider that its document names, None for the user's own choice. ``stream`` asks for a streaming reply,
    ``completion`` for a raw completion; ``take`` counts jobs of a call with the same program and input.
    ``sample`` is the number of a repeat of the same job, None where it runs once. ``document`` is the file that it
    stands in. ``journal`` is asked around its calls where no recording answers
    them. ``max_cost`` is what it may cost alone, in US dollars."""

    name: str
    program: Program
    input_value: Value
    row: ProviderRow | None = None
    stream: bool = False
    completion: bool = False
    take: int = 1
    sample: int | None = None
    document: Path | None = None
    journal: Journal = UNRECORDED
    max_cost: Decimal | None = None


J = TypeVar("J", bound=Job)


class Outcome(Struct, Generic[J], frozen=True):
    """What a job gave: ``output``, or the error that is why there is none. ``cost`` is what its record says of it in US
    dollars, calls of earlier processes included; None where it is not known or nothing is kept."""

    job: J
    output: Value
    error: RunError | None
    summary: Summary
    cost: float | None = None


class Refused(Struct, frozen=True):
    """What was chosen and cannot be made ready: its name, the model it would have asked, and why."""

    name: str
    model_name: str
    error: RunError
