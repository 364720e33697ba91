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
from prosa.records.estimate import Facts
from prosa.runtime.budget import Ledger
from prosa.runtime.program import Program, reachable
from prosa.source.url import EMBEDDED_SERVICE

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.settings import Settings


def facts_of(program: Program, options: Options, environment: Environment, row: ProviderRow | None = None) -> Facts:
    """Return what the cost of a run is estimated with, earlier runs of this version among it; ``row`` is the provider
    that a document names. Asks nobody and makes nothing."""
    settings = environment.settings
    services = {
        each.model_name: service_of(options, environment, row, model_name=each.model_name)
        for each in reachable(program)
    }
    here = [name for name, service in services.items() if (service or "").startswith(EMBEDDED_SERVICE)]
    models = settings.models
    if here:
        from prosa.app.run.embedded import window_of

        models = {**models, **{name: window_of(name, options, settings, environment.environ) for name in here}}
    bounds = {name: _bound(name, options, settings, row) for name in services}
    unsaid = {name: bound for name, bound in bounds.items() if bound is not None}
    cap = options.max_cost.left if isinstance(options.max_cost, Ledger) else options.max_cost
    prices = known_prices(settings)
    if not has_price_list():
        environment.notice(f"the list of prices and context windows is not installed: {ALL}")
    past = past_runs(program, options.journal, environment, prices)
    return Facts(prices, KnownModels(models), services[program.model_name], past, cap, services, unsaid)


def _bound(model_name: str, options: Options, settings: Settings, named: ProviderRow | None) -> int | None:
    """Return how many tokens of an answer are asked for where nothing else says: of a service that wants a number in
    every request, and of models on this machine, which may never end by themselves (X9)."""
    if options.script is not None or options.lacks_script:
        return None
    from prosa.adapters.providers.table import LOCAL_OUTPUT

    if options.is_here:
        return LOCAL_OUTPUT
    row = row_of_model(model_name, options, settings, named)
    if row is None or options.base_url is not None:
        return None
    return LOCAL_OUTPUT if row.is_local else DEFAULT_OUTPUT if row.protocol == "anthropic" else None
