"""gepa behind the `Searcher` port: reflection on failures, and a Pareto front of candidates over search cases (X41).

In: a text, the names of the search cases, a seed and a world. Out: nothing; the world knows the candidates. No files,
no log and no model of gepa's own: every evaluation and every proposal is asked of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from prosa.extras import is_installed, lacking
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch, ProposalFn

    from prosa.evaluation.improvement import SearchWorld

    Batch: TypeAlias = "EvaluationBatch[str, str]"

PART = "text"
"""The name of the one component that changes."""

MINIBATCH = 4
"""Search cases that one proposal reflects on."""


def gepa_search() -> GepaSearch:
    """Return the search. Raises `RunError` without gepa, before anything is asked."""
    if not is_installed("improve"):
        raise lacking(RunError, "`prosa improve`", "improve")
    return GepaSearch()


class GepaSearch(Struct, frozen=True):
    """Searches with gepa. ``minibatch`` is the number of cases of a reflection."""

    minibatch: int = MINIBATCH

    def search(self, start: str, cases: Sequence[str], seed: int, world: SearchWorld) -> None:
        """Search until the world is over."""
        from gepa.api import optimize

        optimize(
            seed_candidate={PART: start},
            trainset=list(cases),
            adapter=_Adapter(world),
            reflection_minibatch_size=min(self.minibatch, len(cases)),
            stop_callbacks=[lambda _state: world.is_over()],
            logger=_Silent(),
            seed=seed,
        )


class _Silent(Struct, frozen=True):
    """A log that keeps nothing."""

    def log(self, message: str) -> None:
        """Drop a message."""


class _Adapter:
    """What gepa asks, in the words of the world. A data instance is the name of a case, and so is its trace."""

    def __init__(self, world: SearchWorld) -> None:
        self.world = world
        self.propose_new_texts: ProposalFn | None = self._proposed

    def evaluate(self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False) -> Batch:
        """Return the scores of a text on some cases."""
        from gepa.core.adapter import EvaluationBatch

        scores = self.world.scores(candidate[PART], batch)
        return EvaluationBatch(list(batch), scores, list(batch) if capture_traces else None)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Batch, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, str]]]:
        """Return the names of the cases; the world has what is known of them."""
        del candidate
        return {name: [{"case": output} for output in eval_batch.outputs] for name in components_to_update}

    def _proposed(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, str]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        names = {name: [example["case"] for example in reflective_dataset[name]] for name in components_to_update}
        return {name: self.world.propose(candidate[name], cases) for name, cases in names.items()}
