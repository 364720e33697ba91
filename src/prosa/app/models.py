"""The available models: servers on this machine, and services with a key (X7, X17).

In: the user's environment and settings, the names of services, whether services may be contacted. Out: one `Service`
each. Local servers are searched; no service is asked for its list unless the user names it or sets `online`, and no
result contains a key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, Endpoint
from prosa.adapters.providers.listing import list_models
from prosa.adapters.providers.local import LocalServer, Silent, local_servers
from prosa.adapters.providers.table import LOCAL_NAME, PROVIDERS, ProviderRow, provider_row
from prosa.app.options import Environment, Options
from prosa.app.run.routes import known_row, local_places
from prosa.app.run.service import resolve
from prosa.app.settings import settings_for
from prosa.runtime.errors import ProviderError
from prosa.settings import Settings
from prosa.settings.model import Protocol

State: TypeAlias = Literal["answers", "silent", "key", "no-key"]
"""It answered; it did not; it was not asked, and can be; it cannot be, for there is no key."""


class Model(Struct, frozen=True):
    """An available model. ``context`` is the tokens of its context window, None if unknown; ``is_loaded`` is true if a
    local server has it in memory."""

    name: str
    context: int | None = None
    is_loaded: bool = False


class Service(Struct, frozen=True):
    """A service or a server: its ``name`` as a prefix of models, its address, the variables that may hold its key and
    the one that does. ``models`` is None where it was not asked; ``note`` says what keeps it from being used."""

    name: str
    title: str
    base_url: str
    state: State
    protocol: str = "openai"
    is_local: bool = False
    key_variables: tuple[str, ...] = ()
    key_variable: str | None = None
    models: tuple[Model, ...] | None = None
    note: str = ""


def survey(
    environ: Mapping[str, str], folder: Path, names: Sequence[str] = (), *, online: bool = False
) -> tuple[Service, ...]:
    """Return the available models: all of them, or those of the services ``names``, which are contacted.

    Raises `RunError` for an unknown name, with the nearest one.
    """
    environment = Environment(environ, settings_for(folder, environ))
    rows = [known_row(name, environment.settings) for name in names] or _all_rows(environment.settings)
    return asyncio.run(_survey(environment, rows, names, online=online))


async def _survey(
    environment: Environment, rows: Sequence[ProviderRow], names: Sequence[str], *, online: bool
) -> tuple[Service, ...]:
    kinds = [None if row.name == LOCAL_NAME else row.name for row in rows if row.is_local] if names else [None]
    here = [local for kind in kinds for local in await _local(environment, kind)]
    asking = []
    for row in rows:
        if not row.is_local:
            service, endpoint = _hosted(row, environment)
            asks = endpoint is not None and (names or online)
            asking.append(_listed(service, row.protocol, endpoint) if endpoint and asks else _same(service))
    return (*here, *await asyncio.gather(*asking))


def _all_rows(settings: Settings) -> list[ProviderRow]:
    """Return every service of the table, and those that the user added."""
    own = [provider_row(name, settings.providers) for name in settings.providers]
    known = [provider_row(row.name, settings.providers) or row for row in PROVIDERS]
    return known + [row for row in own if row is not None and row.name not in {row.name for row in known}]


async def _local(environment: Environment, kind: str | None) -> list[Service]:
    titles = {row.title: row.name for row in PROVIDERS if row.port is not None}
    made = []
    for server in await local_servers(local_places(environment.settings, environment.environ, kind)):
        if isinstance(server, LocalServer):
            models = tuple(
                Model(model.name, model.context, model.is_loaded) for model in server.models if model.answers
            )
            name = titles.get(server.kind, LOCAL_NAME)
            made.append(Service(name, server.kind, server.base_url, "answers", is_local=True, models=models))
        else:
            made.append(_silent(server, titles))
    return made


def _silent(silent: Silent, titles: Mapping[str, str]) -> Service:
    place = silent.place
    name = titles.get(place.expected, LOCAL_NAME)
    return Service(name, place.expected, place.base_url, "silent", is_local=True, note=silent.why)


def _hosted(row: ProviderRow, environment: Environment) -> tuple[Service, Endpoint | None]:
    """Return what is known of a service without asking it, and how it would be asked; None where it cannot be."""
    names, route = row.key_variables, resolve(Options(), environment, row)
    endpoint = route.endpoint
    if route.problem is not None and not route.is_unset:
        shown = Endpoint(row.base_url or DEFAULT_BASE_URL, None).shown
        note = route.problem.message
        return Service(row.name, row.name, shown, "no-key", row.protocol, key_variables=names, note=note), None
    if route.key is None and endpoint.base_url == DEFAULT_BASE_URL:
        note = f"{' or '.join(names)} is not set"
        return Service(row.name, row.name, endpoint.shown, "no-key", row.protocol, key_variables=names, note=note), None
    held = route.variable if route.key is not None else None
    return Service(row.name, row.name, endpoint.shown, "key", row.protocol, False, names, held), endpoint


async def _same(service: Service) -> Service:
    return service


async def _listed(service: Service, protocol: Protocol, endpoint: Endpoint) -> Service:
    """Return the service with its models, or with why it gave none."""
    try:
        models = await list_models(protocol, endpoint)
    except ProviderError as error:
        return replace(service, state="silent", note=error.message)
    return replace(service, state="answers", models=tuple(Model(listed.name, listed.context) for listed in models))
