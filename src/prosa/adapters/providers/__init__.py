"""Services that answer messages, the scripted one that plays fixed replies, local servers, and prices.

Nothing here is heavy to import: openai and genai-prices load at the first call that needs them.
"""

from __future__ import annotations

from prosa.adapters.providers.local import LocalServer, find_local
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.adapters.providers.prices import KnownPrices
from prosa.adapters.providers.scripted import ScriptedProvider, ScriptProblem

__all__ = ["KnownPrices", "LocalServer", "OpenAIProvider", "ScriptProblem", "ScriptedProvider", "find_local"]
