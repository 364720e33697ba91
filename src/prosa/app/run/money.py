"""What a call of the product may cost: the budget that the user named (X26).

In: options and environment. Out: a `Budget`.
"""

from __future__ import annotations

from decimal import Decimal

from prosa.app.options import Environment, Options
from prosa.app.run.world import known_prices
from prosa.runtime.budget import Budget, Ledger

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
