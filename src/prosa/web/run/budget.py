"""What runs may cost while the server lives, in US dollars. In: prices and token counts. Out: what is left, or why no
run begins any more.

A model whose price nobody knows costs what the dearest known one does, and tokens that nobody counted are counted from
the text, so that the bound holds; both are said once. Replies that are scripted, or of a model on this machine, cost
nothing where no price is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from prosa.app.options import say_nothing
from prosa.render.plain import safe
from prosa.runtime.errors import RunError
from prosa.runtime.ports import Prices
from prosa.runtime.usage import Usage

DEFAULT_BUDGET = Decimal(5)
"""US dollars of all runs of one server, where the user says nothing."""

DEAREST_INPUT = Decimal(150)
DEAREST_OUTPUT = Decimal(600)
"""US dollars for a million tokens of the dearest model in the list of known prices; a test looks whether they still
are."""

MILLION = Decimal(1_000_000)


class BudgetSpent(RunError):
    """No model is asked any more: the budget is spent."""


@dataclass(slots=True)
class Meter:
    """What one run took so far."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The same for the client."""
        return ("x-prosa-tokens", str(self.tokens)), ("x-prosa-cost", f"{self.cost:.6f}")


@dataclass(slots=True)
class Budget:
    """``dollars`` of which ``spent`` are gone. ``free`` says that what has no price costs nothing."""

    prices: Prices
    dollars: Decimal = DEFAULT_BUDGET
    free: bool = False
    notice: Callable[[str], None] = say_nothing
    spent: Decimal = Decimal(0)
    _told: set[str] = field(default_factory=set)

    def require(self) -> None:
        """Raises `BudgetSpent` where nothing is left."""
        if self.spent >= self.dollars:
            raise BudgetSpent(f"the budget of ${self.dollars} is spent; the server must be started again")

    def charge(self, meter: Meter, asked: str, reported: str, usage: Usage, otherwise: Usage) -> None:
        """Counts a model call: ``reported`` is what the service calls the model, else ``asked``. ``otherwise`` is what
        is counted where the service counted nothing."""
        if not usage.total_tokens and not self.free:
            self._tell(f"tokens of {asked}", "the service counts no tokens, so they are counted from the text")
            usage = otherwise
        cost = self._cost(asked, reported, usage)
        meter.tokens += usage.total_tokens
        meter.cost += cost
        self.spent += cost
        if self.spent >= self.dollars:
            self._tell("", f"the budget of ${self.dollars} is spent: nothing runs any more until the next start")

    def _cost(self, asked: str, reported: str, usage: Usage) -> Decimal:
        cost = self.prices.cost(reported, usage) if reported else None
        if cost is None:
            cost = self.prices.cost(asked, usage)
        if cost is not None:
            return cost
        if self.free:
            return Decimal(0)
        dearest = f"${DEAREST_INPUT} and ${DEAREST_OUTPUT} for a million tokens"
        self._tell(
            f"price of {asked}",
            f"no price of {reported or asked} is known, so it counts as {dearest}; `prices` in your settings sets it",
        )
        return (usage.input_tokens * DEAREST_INPUT + usage.output_tokens * DEAREST_OUTPUT) / MILLION

    def _tell(self, about: str, text: str) -> None:
        """Says something once."""
        if about not in self._told:
            self._told.add(about)
            self.notice(safe(f"note: {text}"))
