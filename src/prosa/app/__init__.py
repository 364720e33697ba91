"""The composition root: what the user chose → adapters → a run. The only package that knows every adapter.

In: a path or a program, and `Choices`. Out: a loaded `Program`, a `World`, a `RunResult`. Trust and endpoints come from
the user alone (X7): flags, environment, user-level settings, never from a document.
"""

from prosa.app.choices import DEFAULT_MODEL, LOCAL, SCRIPTED, Choices, Surroundings
from prosa.app.program import load_program
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
]
