"""Plugins of third parties: found by entry points, loaded only when the user allows them (X7).

In: names that the user allowed. Out: plugins. A plugin is code that runs with the user's rights, so nothing is imported
before it is allowed by name, and one made for another version of the interface is refused.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from prosa.dialects.prapti.commands import Plugin


def load_plugins(names: Iterable[str]) -> Mapping[str, Plugin]:
    """The plugins of these names. Raises `RunError` for one that is not installed, or that cannot be used."""
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        return {}
    installed = _installed()
    return {name: _load(name, installed) for name in wanted}


def quiet() -> contextlib.AbstractContextManager[object]:
    """What plugins print meanwhile goes to stderr: on stdout is nothing but the result."""
    return contextlib.redirect_stdout(sys.stderr)


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    from prosa.dialects.prapti.commands import PLUGIN_GROUP

    return list(entry_points(group=PLUGIN_GROUP))


def _load(name: str, installed: list[EntryPoint]) -> Plugin:
    from prosa.diagnostics.nearest import nearest
    from prosa.dialects.prapti.commands import PLUGIN_API, Plugin

    found = {point.value: point for point in installed if point.name == name}
    if not found:
        names = sorted({point.name for point in installed})
        near = nearest(name, names)
        hint = f"did you mean `{near}`?" if near else f"installed are {', '.join(names) or 'none'}"
        raise RunError(f"the plugin `{name[:64]}` is not installed", hint=hint)
    if len(found) > 1:
        raise RunError(f"several packages offer the plugin `{name}`: {', '.join(sorted(found))}")
    try:
        with quiet():
            plugin = next(iter(found.values())).load()
    except Exception as error:  # code of somebody else: whatever it raises, it cannot be used
        raise RunError(f"the plugin `{name}` cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(plugin, Plugin):
        raise RunError(f"the plugin `{name}` is of the type `{type(plugin).__name__}`, not a Plugin")
    if plugin.api != PLUGIN_API:
        raise RunError(f"the plugin `{name}` is made for version {plugin.api} of plugins; this is {PLUGIN_API}")
    if plugin.name != name:
        raise RunError(f"the plugin `{name}` calls itself `{plugin.name}`")
    return plugin
