"""Services that answer messages, the scripted one that plays fixed replies, local servers, and prices.

Every name loads on first use; httpx2 and genai-prices load at the first call that needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prosa.adapters.providers.local import LocalServer, find_local
    from prosa.adapters.providers.openai import OpenAIProvider
    from prosa.adapters.providers.prices import KnownPrices
    from prosa.adapters.providers.scripted import ScriptedProvider, ScriptProblem

_NAMES = {
    "KnownPrices": "prices",
    "LocalServer": "local",
    "OpenAIProvider": "openai",
    "ScriptProblem": "scripted",
    "ScriptedProvider": "scripted",
    "find_local": "local",
}

__all__ = ["KnownPrices", "LocalServer", "OpenAIProvider", "ScriptProblem", "ScriptedProvider", "find_local"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
