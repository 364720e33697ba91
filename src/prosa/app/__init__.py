"""The composition root: what the user chose → adapters → a run. The only package that knows every adapter.

In: a path or a program, and `Choices`. Out: a loaded `Program`, a `World`, a `RunResult`. Trust and endpoints come from
the user alone (X7): flags, environment, user-level settings, never from a document.

Every name loads on first use: a corpus is opened with the same settings, and needs nothing of a run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.app.choices import DEFAULT_MODEL, LOCAL, SCRIPTED, Choices, Surroundings
    from prosa.app.program import load_program, with_sites
    from prosa.app.service import Chosen, choose_provider, service_words, settle
    from prosa.app.settings import settings_for
    from prosa.app.world import RunResult, clock, new_tally, open_world, run_program, servers

__all__ = [
    "DEFAULT_MODEL",
    "LOCAL",
    "SCRIPTED",
    "Choices",
    "Chosen",
    "RunResult",
    "Surroundings",
    "choose_provider",
    "clock",
    "load_program",
    "new_tally",
    "open_world",
    "run_program",
    "servers",
    "service_words",
    "settings_for",
    "settle",
    "with_sites",
]

_PLACES = {
    **dict.fromkeys(("DEFAULT_MODEL", "LOCAL", "SCRIPTED", "Choices", "Surroundings"), "choices"),
    **dict.fromkeys(("Chosen", "choose_provider", "service_words", "settle"), "service"),
    **dict.fromkeys(("load_program", "with_sites"), "program"),
    "settings_for": "settings",
}


def __getattr__(name: str) -> object:
    """Loads a name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_PLACES.get(name, 'world')}"), name)
    return found
