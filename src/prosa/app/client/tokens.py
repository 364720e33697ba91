"""Which credential belongs to which site (X8). In: the user's token for this call, and the user's settings. Out: the
token for an origin, or None. A token is only returned for the origin it was set for.

The settings name variables, not tokens; a variable is only read when a site requires its token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct, field

from prosa.app.run.service import WithStoredKeys
from prosa.app.settings import settings_for
from prosa.runtime.errors import RunError
from prosa.source.url import Origin, origin_of, secret_origin
from prosa.source.values import PartlyShown


class SiteTokens(PartlyShown, Struct, frozen=True):
    """``given`` is the token of this call, for the origin ``of`` alone; unless ``eager``, only after the site has
    required one. ``variables`` are those of the settings."""

    of: Origin | None = None
    given: str | None = None
    variables: Mapping[Origin, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    eager: bool = True

    unshown: ClassVar = frozenset({"given", "environ"})

    def at_once(self, origin: Origin) -> str | None:
        """Return the token that the user gave for this call, where this is its origin."""
        return self.given if self.eager and origin == self.of else None

    def when_asked(self, origin: Origin) -> str | None:
        """Return the token for an origin that asks for one: that of this call, else that of the settings. Raises
        `RunError` where the settings name a variable that is not set."""
        if self.given is not None and origin == self.of:
            return self.given
        name = self.variables.get(origin)
        if name is None:
            return None
        token = self.environ.get(name)
        if not token:
            raise RunError(
                f"{name}: there is no such variable, or it is empty", hint=f"your settings name it for {origin}"
            )
        return token


NO_TOKENS = SiteTokens()
"""For a walk that sends no credential."""


def site_variables(sites: Mapping[str, str]) -> dict[Origin, str]:
    """Return the variables of `sites` in the settings, by origin. Raises `RunError` for a name that is no origin, and
    for one that a token could be overheard on the way to."""
    by_origin: dict[Origin, str] = {}
    for written, variable in sites.items():
        try:
            by_origin[secret_origin(written)] = variable
        except ValueError as error:
            raise _refused(written, str(error)) from None
    return by_origin


def site_tokens(url: str, token: str | None, environ: Mapping[str, str]) -> SiteTokens:
    """Return the tokens of one command: ``token`` for the origin of ``url``, and those that the user's settings name.

    Raises `RunError` for settings that are wrong, ValueError for a URL that is none.
    """
    variables = site_variables(settings_for(None, environ).site_variables)
    return SiteTokens(origin_of(url), token, variables, WithStoredKeys(environ))


def _refused(written: str, why: str) -> RunError:
    return RunError(f'the setting `sites."{written}"` {why}', hint='as in: [sites."https://example.org"]')
