"""The settings of the editor's user: which features are on, and how documents are checked in addition to the project's
settings.

In: `initializationOptions`, and the section `prosa` of `workspace/configuration`. Out: `Configuration`, and a sentence
about invalid settings. These settings belong to the user; a project cannot change them (X7).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct, field

from prosa.app.check.check import CheckOptions
from prosa.data import Value
from prosa.diagnostics.nearest import UnknownName
from prosa.rules.registry import known_rules

SECTION = "prosa"
OF_EXTENSIONS = frozenset({"path", "args", "trace"})
"""Settings that extensions of editors have in this section for themselves: how the server is started and logged."""


class Features(Struct, frozen=True, forbid_unknown_fields=True):
    """Which features answer. One that another extension has already can be switched off; counts of backlinks above the
    text (``lens``) are for those who ask for them."""

    diagnostics: bool = True
    actions: bool = True
    formatting: bool = True
    completion: bool = True
    hover: bool = True
    navigation: bool = True
    rename: bool = True
    symbols: bool = True
    folding: bool = True
    lens: bool = False


class Configuration(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The settings. ``diagnostics`` are for the open documents, or for all of their projects. ``version`` is that of
    Prosa that the editor's extension was made for; ``strict``, ``select`` and ``ignore`` are those of `prosa check`,
    and ``baseline`` too, from the root of the project."""

    features: Features = field(default_factory=Features)
    diagnostics: Literal["open", "workspace"] = "open"
    strict: bool | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: str = ""
    version: str = ""

    @property
    def check(self) -> CheckOptions:
        """How documents are checked."""
        return CheckOptions(strict=self.strict, select=self.select, ignore=self.ignore, cache=True)


def read_configuration(
    value: Value, base: Configuration | None = None, before: Configuration | None = None
) -> tuple[Configuration, str]:
    """Return the settings of an editor, with ``base`` for missing ones. If one is invalid, return those of ``before``,
    and a sentence about it."""
    base = base or Configuration()
    if isinstance(value, Mapping) and isinstance(value.get(SECTION), Mapping):
        value = value[SECTION]
    if not value:
        return base, ""
    try:
        configuration = msgspec.convert(_laid_over(value, msgspec.to_builtins(base)), Configuration)
        known_rules((*configuration.select, *configuration.ignore))
        return configuration, ""
    except (msgspec.ValidationError, UnknownName) as error:
        return before or base, f"the settings of Prosa in this editor are not used: {error}"


def _laid_over(value: Value, base: Value) -> Value:
    """Merge settings over others, table by table. Null means not set, and settings of the extension alone are
    ignored."""
    if not isinstance(value, Mapping) or not isinstance(base, Mapping):
        return value
    overrides = {key: member for key, member in value.items() if member is not None and key not in OF_EXTENSIONS}
    return {**base, **{key: _laid_over(member, base.get(key)) for key, member in overrides.items()}}
