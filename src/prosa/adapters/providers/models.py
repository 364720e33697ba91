"""What is known of models beside their prices: context window, most output, tokenizer. Offline.

In: what the user set, then the list that genai-prices carries and the vocabularies of splintr (the extra `tokens`).
Out: numbers, or None for what is unknown. Both libraries load at the first question; the list has no most output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec

from prosa.adapters.providers.prices import has_price_list
from prosa.settings import ModelSettings

DEFAULT_OUTPUT = 32_000
"""Tokens of an answer that are asked for where neither the user nor the program says anything, and the service wants a
number. A model that writes less says so, and is asked for what it can."""

MAX_COUNTED = 4 * 1024 * 1024
"""Characters that are counted with a tokenizer; a longer text takes seconds."""

_O200K, _CL100K = "o200k_base", "cl100k_base"
_TOKENIZERS: tuple[tuple[str, str], ...] = (
    (r"gpt-oss", "gpt-oss"),
    (r"gpt-4o|gpt-4\.[15]|gpt-5|chatgpt-4o|o[134](-|$)", _O200K),
    (r"gpt-4|gpt-3\.5|text-embedding-", _CL100K),
    (r"(meta-)?llama-?3", "llama3"),
    (r"(meta-)?llama-?2|tinyllama|vicuna", "llama2"),
    (r"codellama", "codellama"),
    (r"mistral-nemo|mistral-large|pixtral", "mistral_v3"),
    (r"mixtral-8x22b|codestral-22b", "mistral_v2"),
    (r"mixtral-8x7b", "mistral_v1"),
    (r"deepseek-(v3|r1|chat|reasoner)", "deepseek_v3"),
    (r"qwen-?[23]", "qwen3"),
    (r"glm-4", "glm4"),
    (r"kimi-k[23]", "kimi_k2"),
    (r"phi-?4", "phi4"),
    (r"olmo-?2", "olmo2"),
)
"""How the names of models begin, without an owner before a `/`, and the vocabulary that such a model has."""


class KnownModels:
    """Meets the port `prosa.records.estimate.Models`; ``own`` is what the user set, by exact name."""

    def __init__(self, own: Mapping[str, ModelSettings] | None = None) -> None:
        self._own = own or {}

    def context(self, model_name: str, service: str | None) -> int | None:
        """Return tokens of the context window of a model at a service (None: wherever it is)."""
        own = self._own.get(model_name, ModelSettings()).context
        return own if own is not None else _listed_context(model_name, service)

    def max_output(self, model_name: str) -> int | None:
        """Return tokens that a model writes in one call at most, where the user says."""
        return self._own.get(model_name, ModelSettings()).max_output

    def tokens(self, model_name: str, text: str) -> tuple[int, bool] | None:
        """Return the tokens of a text, and whether that is the tokenizer of the model; None without the extra `tokens`,
        and for a tokenizer that it does not have."""
        if len(text) > MAX_COUNTED or find_spec("splintr") is None:
            return None
        name = self._own.get(model_name, ModelSettings()).tokenizer or tokenizer_of(model_name)
        count = _counter(name or _O200K)
        return None if count is None else (count(text), name is not None)


def tokenizer_of(model_name: str) -> str | None:
    """Return the vocabulary of a model, by how its name begins; None for one that is not known to be open."""
    plain = model_name.lower().rpartition("/")[2].replace("_", "-").replace(" ", "-")
    return next((name for begin, name in _TOKENIZERS if re.match(begin, plain)), None)


@cache
def _counter(name: str) -> Callable[[str], int] | None:
    from splintr import Tokenizer

    try:
        made = Tokenizer.from_pretrained(name)
    except (ValueError, OSError, RuntimeError):
        return None
    return lambda text: len(made.encode_ordinary(text.encode("utf-8", "replace").decode()))


def _listed_context(model_name: str, service: str | None) -> int | None:
    if not model_name or ":" in model_name or not has_price_list():
        return None
    from genai_prices import Usage, calc_price

    try:
        return calc_price(Usage(), model_name, provider_api_url=service).model.context_window
    except (LookupError, ValueError):
        return None
