"""Which service takes the waves of a batch, with which key, and whether a program is fit for them (X7, X29).

In: a batch that is prepared. Out: the interface of the batches of a service. Keys follow the rules of every call: that
of the service that the user configured, and no other.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.providers.anthropic_batches import AnthropicBatches
from prosa.adapters.providers.failures import DEFAULT_BASE_URL
from prosa.adapters.providers.openai_batches import OpenAIBatches
from prosa.adapters.providers.table import provider_row
from prosa.app.journal.history import past_runs
from prosa.app.journal.place import file_beside
from prosa.app.run.service import account_of
from prosa.runtime.errors import BatchRefused, ProviderError

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.app.batch.prepare import Prepared
    from prosa.app.options import Environment, Options
    from prosa.records.provider_batch import ProviderBatches
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import OnText, Prices

BACKENDS = ("live", "openai-batch", "anthropic-batch")


class Nobody(Struct, frozen=True):
    """Stands where a provider does while no call is made."""

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Raise: no call is made live."""
        del on_text
        raise AssertionError(f"{request.model_name} is asked in a wave")

    async def aclose(self) -> None:
        """Do nothing."""


NOBODY = Nobody()


def backend_of(
    name: str, options: Options, environment: Environment, row: ProviderRow | None = None
) -> ProviderBatches:
    """Return the batches of a service; ``row`` is the provider that a document names. Raises `BatchRefused` for replies
    that are no service's, `ProviderError` without a key."""
    if options.script is not None or options.is_here or options.lacks_script:
        raise BatchRefused(f"--backend {name} uses a service, and --model names none")
    if name == "anthropic-batch":
        return AnthropicBatches(account_of("anthropic", options, environment, row))
    endpoint = account_of("openai", options, environment, row)
    return OpenAIBatches(endpoint, api=options.api or environment.settings.api or "chat")


def provider_batches(prepared: Prepared) -> ProviderBatches:
    """Return the batches that a batch of rows goes to."""
    return backend_of(prepared.chosen.waves.backend, prepared.options, prepared.environment, prepared.provider)


def batch_service(prepared: Prepared) -> str:
    """Return the base URL whose prices hold for a batch, for a plan: without a key too."""
    try:
        return provider_batches(prepared).service
    except ProviderError:
        own = provider_row(prepared.chosen.waves.backend.removesuffix("-batch"), {})
        return (own.base_url if own is not None else None) or DEFAULT_BASE_URL


def wave_folder(prepared: Prepared) -> Path:
    """Return where requests stand until they are sent: beside the store, for this user alone."""
    beside = file_beside(prepared.store, prepared.environment.environ)
    return beside.with_name(f"{beside.name}.waves")


def turns_of(prepared: Prepared, prices: Prices) -> float | None:
    """Model calls of a run of the program, by earlier runs of this version; None where there are none."""
    past = past_runs(prepared.inputs.program, prepared.options.journal, prepared.environment, prices)
    return median(each.calls for each in past) if past else None


def require_few_turns(prepared: Prepared, prices: Prices) -> None:
    """Raise `BatchRefused` for a program that needs more waves than it gets: each may take a day."""
    plan = prepared.chosen.waves
    turns = None if plan.agreed else turns_of(prepared, prices)
    if turns is not None and turns > plan.most:
        message = f"a run of {prepared.inputs.program.name} takes {turns:g} model calls, by earlier runs, and each is a"
        message += f" wave that may take a day; {plan.most} are allowed"
        raise BatchRefused(message, hint=f"allow more with --waves {int(turns + 0.5)}, or continue with --yes")
