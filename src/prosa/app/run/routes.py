"""Which service answers for which model, as the user chose (X7): by a prefix such as `anthropic/`, or by settings.

In: the options of a call, the environment, the name of a model. Out: the row of a service, or None for the usual one. A
prefix counts on the command line, in a call from Python and in the settings of the user, and only where no base URL is
configured; in a document it is part of the model's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from prosa.adapters.providers.endpoint import URL_VARIABLE
from prosa.adapters.providers.table import (
    LOCAL_NAME,
    PROVIDERS,
    ProviderRow,
    ServerAddress,
    provider_names,
    provider_row,
)
from prosa.app.options import EMBEDDED, GGUF, LOCAL, Options, word_name
from prosa.diagnostics.nearest import nearest
from prosa.runtime.errors import RunError
from prosa.settings import ModelSettings, Settings
from prosa.source.url import is_loopback

ANYWHERE = ("0.0.0.0", "::")  # noqa: S104
"""Addresses that stand for all interfaces; nothing is bound here."""


def with_provider(options: Options, settings: Settings, environ: Mapping[str, str]) -> Options:
    """Return the options with the prefix of their model as the provider, where it selects one."""
    if options.provider or options.base_url:
        return options
    row, name = split(options.model_name or "", settings, environ)
    if row is None:
        return options
    if row.is_embedded:
        return replace(options, model=f"{EMBEDDED}:{name}")
    if row.is_local and row.base_url is None:
        return replace(options, model=f"{LOCAL}:{name}", provider=None if row.port is None else row.name)
    return replace(options, model=name, provider=row.name)


def split(name: str, settings: Settings, environ: Mapping[str, str]) -> tuple[ProviderRow | None, str]:
    """Return the service that the prefix of a model name selects, and the name without it; None and the whole name
    where it selects none."""
    prefix, slash, rest = name.partition("/")
    if not slash or not rest or settings.base_url or environ.get(URL_VARIABLE, "").strip():
        return None, name
    row = provider_row(prefix, settings.providers)
    return (row, rest) if row is not None else (None, name)


def with_default_provider(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the settings of a user with the prefix of their default model as the provider of that model; so a model
    that runs here, as `embedded:NAME` or `gguf:PATH`."""
    word, file = settings.default_model or "", None
    if Options(model=word).is_embedded:
        row, name = provider_row(EMBEDDED, settings.providers), word_name(word)
        file = word.removeprefix(GGUF) if word.startswith(GGUF) else None
    else:
        row, name = split(word, settings, environ)
    if row is None:
        return settings
    known = settings.models.get(name, ModelSettings())
    chosen = replace(known, provider=known.provider or row.name, file=known.file or file)
    models = {**settings.models, name: chosen}
    return replace(settings, default_model=name, models=models)


def known_row(name: str, settings: Settings) -> ProviderRow:
    """Return the service of that name. Raises `RunError` for an unknown name and suggests the nearest one."""
    row = provider_row(name, settings.providers)
    if row is None:
        names = provider_names(settings.providers)
        near = nearest(name, names)
        way = f"set `providers.{name[:40]}.base-url` in your own settings to add it"
        hint = f"did you mean {near}?" if near else f"known are {', '.join(names)}; {way}"
        raise RunError(f"there is no provider `{name[:64]}`", hint=hint)
    return row


def local_places(settings: Settings, environ: Mapping[str, str], kind: str | None = None) -> tuple[ServerAddress, ...]:
    """Return where a model server of one's own is looked for (X17): at the base URL that the user set for `local`; else
    where each of the usual servers is, or the one of the row ``kind``: at its own base URL, where the variable of the
    server says, on its usual port."""
    own = provider_row(LOCAL_NAME, settings.providers)
    if kind in (None, LOCAL_NAME) and own is not None and own.base_url is not None:
        return (ServerAddress("the server of `providers.local`", own.base_url),)
    rows = [row for row in PROVIDERS if row.port is not None and kind in (None, LOCAL_NAME, row.name)]
    return tuple(ServerAddress(row.title, local_address(row, settings, environ)) for row in rows)


def local_address(row: ProviderRow, settings: Settings, environ: Mapping[str, str]) -> str:
    """Return where one of the usual servers is: as the user set it, as its own variable says, on its usual port."""
    own = provider_row(row.name, settings.providers)
    if own is not None and own.base_url is not None:
        return own.base_url
    address = environ.get(row.address_variable, "").strip() if row.address_variable else ""
    return f"http://127.0.0.1:{_own_port(address) or row.port}/v1"


def _own_port(address: str) -> int | None:
    """Return the port in an address of this machine, as a server takes it: `11500`, `:11500`, `0.0.0.0:11500`, a URL.
    For another machine there is `--base-url`."""
    if address.isdigit():
        address = f":{address}"
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    return port if not host or host in ANYWHERE or is_loopback(host) else None
