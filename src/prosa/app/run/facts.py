"""What is known before a run of what it may cost: prices, facts about models, what earlier runs took (X26).

In: a program, options and environment. Out: the facts that an estimate is made with. Nobody is asked, the store of runs
is only read, and nothing is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.adapters.providers.models import DEFAULT_OUTPUT, KnownModels
from prosa.adapters.providers.prices import has_price_list
from prosa.app.journal.history import past_runs
from prosa.app.options import Environment, Options
from prosa.app.run.service import row_of_model, service_of
from prosa.app.run.world import known_prices
from prosa.extras import ALL
from prosa.runtime.budget import Ledger
from prosa.runtime.estimate import Facts
from prosa.runtime.program import Program, reachable

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.settings import Settings


def facts_of(program: Program, options: Options, environment: Environment, row: ProviderRow | None = None) -> Facts:
    """What the cost of a run is estimated with, earlier runs of this version among it; ``row`` is the provider that a
    document names. Asks nobody and makes nothing."""
    settings = environment.settings
    services = {
        each.model_name: service_of(options, environment, row, model_name=each.model_name)
        for each in reachable(program)
    }
    unsaid = {name: DEFAULT_OUTPUT for name in services if _wants_bound(name, options, settings, row)}
    cap = options.max_cost.left if isinstance(options.max_cost, Ledger) else options.max_cost
    prices = known_prices(settings)
    if not has_price_list():
        environment.notice(f"the list of prices and context windows is not installed: {ALL}")
    past = past_runs(program, options.journal, environment, prices)
    return Facts(prices, KnownModels(settings.models), services[program.model_name], past, cap, services, unsaid)


def _wants_bound(model_name: str, options: Options, settings: Settings, named: ProviderRow | None) -> bool:
    """Whether the service of a model wants every request to say how long its answer may be."""
    row = row_of_model(model_name, options, settings, named)
    return row is not None and row.protocol == "anthropic" and options.base_url is None
