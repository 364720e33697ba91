"""What the user allows a run at sites (X7, X8, HA19). In: flags. Out: a value; no page and no document can widen it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.app.site_permission import Declared


@dataclass(frozen=True, slots=True)
class SiteRights:
    """``named`` are URLs that the user typed: where one names this machine itself, that is permission to ask there.

    ``allow_private`` allows all private and loopback addresses. ``allow_actions`` allows every action that changes
    something, whatever the pages of the sites of the run declare. ``actions`` allows some: an id, for what the pages
    that the user named declare under it; ``METHOD /path`` or ``ORIGIN METHOD /path``, for what any page declares so.
    ``variables`` maps an origin to the variable that holds its token.

    Raises ValueError for a text in ``actions`` that names no action.
    """

    named: tuple[str, ...] = ()
    allow_private: bool = False
    allow_actions: bool = False
    actions: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.actions:
            from prosa.app.site_permission import permission

            for text in self.actions:
                permission(text)

    def permits(self, action: Declared, named: Collection[Declared] = ()) -> bool:
        """Whether an action may change something without a further question. ``named`` are the actions of the pages
        that the user named, as they were when the run began."""
        if self.allow_actions or not self.actions:
            return self.allow_actions
        from prosa.app.site_permission import permission

        return any(permission(text).holds(action, named) for text in self.actions)

    def names(self, action: str) -> bool:
        """Whether the user named an id, whatever it is declared as."""
        return any(text.strip() == action for text in self.actions)


NO_RIGHTS = SiteRights()
"""Public addresses are read; nothing is changed unless a person says yes."""
