"""What is known before a run of what it may cost: prices, facts about models, what earlier runs took (X26).

In: a program, options and environment. Out: the facts that an estimate is made with. No request is sent, the store of
runs is only read, and nothing is created.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.providers.prices import DEFAULT_OUTPUT, KnownModels, has_price_list
from prosa.app.journal.history import past_runs
from prosa.app.options import Environment, Options, say_nothing
from prosa.app.run.service import Route, resolve
from prosa.app.run.world import known_prices
from prosa.extras import ALL
from prosa.records.estimate import EstimateInputs
from prosa.runtime.budget import Ledger
from prosa.runtime.program import Program, reachable

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow


def facts_of(
    program: Program, options: Options, environment: Environment, row: ProviderRow | None = None
) -> EstimateInputs:
    """Return the facts for a cost estimate, including earlier runs of this version; ``row`` is the provider that a
    document names. Sends no request and creates nothing."""
    settings = environment.settings
    quiet = replace(environment, notice=say_nothing)
    names = {reached.model_name: None for reached in reachable(program)}
    routes = {name: resolve(options, quiet, row, name) for name in names}
    services = {name: route.service for name, route in routes.items()}
    here = [name for name, route in routes.items() if route.kind == "embedded"]
    models = settings.models
    if here:
        from prosa.app.run.embedded import window_of

        models = {**models, **{name: window_of(name, options, settings, environment.environ) for name in here}}
    unsaid = {name: bound for name, route in routes.items() if (bound := _bound(route)) is not None}
    cap = options.max_cost.left if isinstance(options.max_cost, Ledger) else options.max_cost
    prices = known_prices(settings)
    if not has_price_list():
        environment.notice(f"the list of prices and context windows is not installed: {ALL}")
    past = past_runs(program, options.journal, environment, prices)
    return EstimateInputs(prices, KnownModels(models), services[program.model_name], past, cap, services, unsaid)


def _bound(route: Route) -> int | None:
    """Return how many tokens of an answer are asked for where nothing else says: of a service that wants a number in
    every request, and of models on this machine, which may never end by themselves (X9)."""
    if route.kind == "scripted":
        return None
    if route.kind != "service" or (route.row is not None and route.row.is_local):
        from prosa.adapters.providers.table import LOCAL_OUTPUT

        return LOCAL_OUTPUT
    return DEFAULT_OUTPUT if route.row is not None and route.row.protocol == "anthropic" else None
