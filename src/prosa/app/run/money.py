"""What a call of the product may cost: the budget that the user named, and whether it can hold (X26).

In: options, environment, programs with who answers them. Out: a `Budget`, or `PriceUnknown` before a model is asked.
"""

from __future__ import annotations

from decimal import Decimal

from prosa.app.options import Environment, Options
from prosa.app.run.world import known_prices
from prosa.runtime.budget import Budget, Ledger
from prosa.runtime.program import Program, reachable

DEFAULT_BUDGET = Decimal(5)
"""US dollars of all runs of one server, where the user says nothing."""


def budget_of(options: Options, environment: Environment) -> Budget | None:
    """The budget of one call, or what is left of one that it shares; None where the user named no cap."""
    cap = options.max_cost
    if cap is None:
        return None
    ledger = cap if isinstance(cap, Ledger) else Ledger(cap)
    return Budget(known_prices(environment.settings), ledger, notice=environment.notice)


def server_budget(cap: Decimal | None, environment: Environment) -> Budget:
    """The budget of all runs of one server. Without a cap of the user's it counts known prices only."""
    ledger = Ledger(DEFAULT_BUDGET if cap is None else cap)
    return Budget(known_prices(environment.settings), ledger, cap is not None, environment.notice)


def require_prices(budget: Budget, program: Program, service: str | None) -> None:
    """Raises `PriceUnknown` for the first of a program and its imports whose price at that service is not known."""
    for each in reachable(program):
        budget.require_price(each.model_name, service, each.parameters)
