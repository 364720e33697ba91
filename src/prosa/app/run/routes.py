"""Which service answers for which model, as the user chose (X7): by a prefix such as `anthropic/`, or by settings.

In: the options of a call, the environment, the name of a model. Out: the row of a service, or None for the usual one. A
prefix counts on the command line, in a call from Python and in the settings of the user, and only where no base URL is
configured; in a document it is part of the model's name.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from prosa.adapters.providers.key import URL_VARIABLE
from prosa.adapters.providers.table import LOCAL_NAME, ProviderRow, provider_names, provider_row
from prosa.app.options import LOCAL, Options
from prosa.diagnostics.nearest import nearest
from prosa.runtime.errors import RunError
from prosa.settings import ModelSettings, Settings


def with_provider(choices: Options, settings: Settings, environ: Mapping[str, str]) -> Options:
    """The options with the prefix of their model as the provider, where it selects one."""
    if choices.provider or choices.base_url:
        return choices
    row, name = split(choices.model_name or "", settings, environ)
    if row is None:
        return choices
    if row.name == LOCAL_NAME and row.base_url is None:
        return replace(choices, model=f"{LOCAL}:{name}")
    return replace(choices, model=name, provider=row.name)


def split(name: str, settings: Settings, environ: Mapping[str, str]) -> tuple[ProviderRow | None, str]:
    """The service that the prefix of a model name selects, and the name without it; None and the whole name where it
    selects none."""
    prefix, slash, rest = name.partition("/")
    if not slash or not rest or settings.base_url or environ.get(URL_VARIABLE, "").strip():
        return None, name
    row = provider_row(prefix, settings.providers)
    return (row, rest) if row is not None else (None, name)


def with_default_provider(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings of a user with the prefix of their default model as the provider of that model."""
    row, name = split(settings.default_model or "", settings, environ)
    if row is None:
        return settings
    known = settings.models.get(name, ModelSettings())
    models = {**settings.models, name: replace(known, provider=known.provider or row.name)}
    return replace(settings, default_model=name, models=models)


def known_row(name: str, settings: Settings) -> ProviderRow:
    """The service of that name. Raises `RunError`, with the nearest one, for a name that nobody knows."""
    row = provider_row(name, settings.providers)
    if row is None:
        names = provider_names(settings.providers)
        near = nearest(name, names)
        way = f"set `providers.{name[:40]}.base-url` in your own settings to add it"
        hint = f"did you mean {near}?" if near else f"known are {', '.join(names)}; {way}"
        raise RunError(f"there is no provider `{name[:64]}`", hint=hint)
    return row
