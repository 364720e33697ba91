"""Which scripts of a document run, in which order, and why the others do not (M26, M27, M33, M37, MA12, MA13); which
results are stale or edited by hand (X19). Pure.

In: scripts, the user's choice, the problems of each and the state of its result. Out: a row for each script. High
comes before medium before low, then the order of the document. A block's `auto-run` chooses nothing: only the user
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.dialects.magi.context import Contexts, script_hash
from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.regions import Region
from prosa.dialects.magi.result_text import Owners, is_edited, owners_of

_RANKS = {"high": 0, None: 1, "medium": 1, "low": 2}


def rank(script: Script) -> int:
    """Return 0 for high, 1 for medium and for none, 2 for low, 3 for an unknown value."""
    return _RANKS.get(script.fields.text("priority"), 3)


def in_order(scripts: Iterable[Script]) -> tuple[Script, ...]:
    """Return the scripts in the order in which they would run."""
    return tuple(sorted(scripts, key=rank))


State: TypeAlias = Literal["absent", "fresh", "stale", "edited"]
"""State of a script's result: absent; matching what would be sent now; outdated; edited by hand (or possibly so),
whether outdated or not."""


class Status(Struct, frozen=True):
    """A result that is there: ``stale`` when what produced it has changed, ``edited`` when its text has."""

    region: Region
    stale: bool
    edited: bool

    @property
    def state(self) -> State:
        """Both in one word: an edit weighs more, for it must not be lost."""
        return "edited" if self.edited else "stale" if self.stale else "fresh"


def state_of(model: MagiModel, script: Script) -> State:
    """Return the state of the result of one script. For all of a document ask `statuses`, which is quicker."""
    region = owners_of(model).region_of(script)
    return "absent" if region is None else _status(model, script, region, Contexts(model)).state


def statuses(model: MagiModel, owners: Owners | None = None) -> Iterator[tuple[Script, Status]]:
    """Yield every script that has a result, with the state of it, in the order of the results."""
    contexts = Contexts(model)
    for script, region in (owners or owners_of(model)).pairs:
        yield script, _status(model, script, region, contexts)


def _status(model: MagiModel, script: Script, region: Region, contexts: Contexts) -> Status:
    about = region.about
    fits = about.sha256 == script_hash(model, script, about.context, about.model_name, contexts=contexts)
    return Status(region, stale=not fits, edited=is_edited(model, region))


Kind: TypeAlias = Literal["runs", "not-chosen", "error", "environment", "result", "edited", "text"]
"""Why a script runs or does not: it is not chosen, wrong, for elsewhere, has its result, edited by hand, wants text."""

ANYWHERE = ("text", "input")
"""Names that stand for every script that takes a text, unless one of them has that very id."""


class Choice(Struct, frozen=True):
    """What the user chose. ``ids`` are addresses (MA9). ``auto`` are those that ask to run by themselves, ``every`` all
    of them; ``stale`` narrows either, or all, to those whose result is stale. ``env`` filters by `runtime-env`.

    ``force`` counts results that were edited by hand as stale; ``writes`` leaves such results alone otherwise.
    ``texts`` are what a reader entered, by address, ``text`` for all that take one.
    """

    ids: tuple[str, ...] = ()
    auto: bool = False
    every: bool = False
    stale: bool = False
    env: str = "server"
    force: bool = False
    writes: bool = False
    text: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_made(self) -> bool:
        """Whether anything was chosen at all (MA12)."""
        return bool(self.ids or self.auto or self.every or self.stale)

    def text_for(self, script: Script) -> str | None:
        """Return what was entered for a script."""
        return self.texts.get(script.address, self.text)


class Row(Struct, frozen=True):
    """One script: ``order`` counts from 1 in the order in which they run, ``why`` is a phrase for people."""

    script: Script
    order: int
    kind: Kind
    why: str

    @property
    def runs(self) -> bool:
        """Whether it is run."""
        return self.kind == "runs"


def choose(
    scripts: Iterable[Script], choice: Choice, *, wrong: Mapping[str, str], states: Mapping[str, str]
) -> tuple[Row, ...]:
    """Return a row for each script, in the order in which they would run (MA13).

    ``wrong`` maps an address to the reason why a script cannot run, ``states`` to the state of its result: absent (the
    default), fresh, stale or edited. Without a choice the rows show what could be chosen.
    """
    rows: list[Row] = []
    for order, script in enumerate(in_order(scripts), 1):
        state = states.get(script.address, "absent")
        kind, why = _verdict(script, choice, wrong.get(script.address), state)
        rows.append(Row(script, order, kind, why))
    return tuple(rows)


def takes_text(script: Script) -> bool:
    """Return whether a reader enters a text for this script (M37). One that runs by itself has no input field
    (MA15)."""
    return script.interactive_type == "inputbox"


def _verdict(script: Script, choice: Choice, wrong: str | None, state: str) -> tuple[Kind, str]:
    chosen = _chosen(script, choice)
    if chosen is None:
        return "not-chosen", "not chosen" if choice.ids else "does not ask for auto-run"
    if choice.stale and state == "absent":
        return "result", "it has no result yet"
    if wrong is not None:
        return "error", wrong
    env = script.fields.text("runtime-env")
    if env is not None and env.strip().casefold() != choice.env.strip().casefold():
        return "environment", f"is for the environment {env.strip()}, and this is {choice.env}"
    return _by_result(choice, state) or _by_text(script, choice) or ("runs", chosen)


def _chosen(script: Script, choice: Choice) -> str | None:
    """Return why a script is chosen, or None."""
    if choice.ids:
        return "named by --script" if script.address in choice.ids else None
    if choice.auto:
        return "asks for auto-run" if script.auto_run else None
    if choice.every:
        return "--all"
    if choice.stale:
        return "its result is stale"
    if takes_text(script):
        return f"--script {script.address} with --input TEXT"
    return "asks for auto-run: --auto or --all" if script.auto_run else "--all"


def _by_result(choice: Choice, state: str) -> tuple[Kind, str] | None:
    """Return what the result that is there keeps from running."""
    if state == "edited" and (choice.stale or choice.writes) and not choice.force:
        return "edited", "its result was edited by hand; --force replaces it"
    if choice.stale and state == "fresh":
        return "result", "its result is fresh"
    return None


def _by_text(script: Script, choice: Choice) -> tuple[Kind, str] | None:
    if takes_text(script) and choice.text_for(script) is None and choice.is_made:
        return "text", f"waits for a text: --input TEXT or {script.address}=TEXT"
    return None
