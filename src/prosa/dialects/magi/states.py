"""The state of the results in a document: a model in; which results are stale or edited by hand, out (X19). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.owners import Owners, owners_of
from prosa.dialects.magi.regions import Region
from prosa.dialects.magi.result_text import is_edited
from prosa.dialects.magi.script_hash import Contexts, script_hash

State: TypeAlias = Literal["absent", "fresh", "stale", "edited"]
"""Of the result of a script: there is none; it is what the script would be asked for; it is not; it was changed by hand
(or nobody can say that it was not), whether it is stale or not."""


@dataclass(frozen=True, slots=True)
class Status:
    """A result that is there: ``stale`` when what produced it has changed, ``edited`` when its text has."""

    region: Region
    stale: bool
    edited: bool

    @property
    def state(self) -> State:
        """Both in one word: an edit weighs more, for it must not be lost."""
        return "edited" if self.edited else "stale" if self.stale else "fresh"


def state_of(model: MagiModel, script: Script) -> State:
    """The state of the result of one script. For all of a document ask `statuses`, which is quicker."""
    region = owners_of(model).region_of(script)
    return "absent" if region is None else _status(model, script, region, Contexts(model)).state


def statuses(model: MagiModel, owners: Owners | None = None) -> Iterator[tuple[Script, Status]]:
    """Every script that has a result, with the state of it, in the order of the results."""
    contexts = Contexts(model)
    for script, region in (owners or owners_of(model)).pairs:
        yield script, _status(model, script, region, contexts)


def _status(model: MagiModel, script: Script, region: Region, contexts: Contexts) -> Status:
    about = region.about
    fits = about.sha256 == script_hash(model, script, about.context, about.model_name, contexts=contexts)
    return Status(region, stale=not fits, edited=is_edited(model, region))
