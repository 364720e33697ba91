"""For people who write plugins: what a package offers behind an entry point of the group `prosa.plugins`.

    weather = Plugin("weather", {"today": PluginCommand(lambda call: f"It rains in {call.args}.")})

Nothing here finds or loads a plugin; that happens only when a user allows it by name.
"""

from __future__ import annotations

from prosa.dialects.prapti.commands import MAX_OUTPUT, PLUGIN_API, PLUGIN_GROUP, Plugin, PluginCall, PluginCommand

__all__ = ["MAX_OUTPUT", "PLUGIN_API", "PLUGIN_GROUP", "Plugin", "PluginCall", "PluginCommand"]
