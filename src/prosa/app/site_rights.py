"""What the user allows a run at sites (X7, X8, HA19). In: flags. Out: a value; no page and no document can widen it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteRights:
    """``named`` are URLs that the user typed: where one names this machine itself, that is permission to ask there.

    ``allow_private`` allows all private and loopback addresses. ``allow_actions`` allows every action that changes
    something, ``actions`` those with these ids. ``variables`` maps an origin to the variable that holds its token.
    """

    named: tuple[str, ...] = ()
    allow_private: bool = False
    allow_actions: bool = False
    actions: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def permits(self, action: str) -> bool:
        """Whether an action may change something without a further question."""
        return self.allow_actions or action in self.actions


NO_RIGHTS = SiteRights()
"""Public addresses are read; nothing is changed unless a person says yes."""
