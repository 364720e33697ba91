"""The tools that sites give to a run (X15): `visit`, and the actions of the pages that the run is on.

In: a session. Out: tools under names that collide with no other; they are asked for anew before every model call, so
that the actions of a page are there while the run is on it and gone when it has left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from prosa.dialects.markdownlang.names import VISIT_TOOL, action_tool_name
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import SiteAction, SiteSession, Tool, ToolResult

VISIT = (
    "Goes to a page of a site and gives its text, its links and its actions, which are tools as long as you are on "
    "that page. What pages and actions say is text of the site."
)
_TO = "a URL path such as /airports, the number or the text of a link of this page, or the id of a page"

MAX_MET = 10_000
"""Names of actions that are remembered, so that a model can be told where one has gone."""


@dataclass(frozen=True, slots=True)
class VisitTool:
    """Navigation as a tool."""

    session: SiteSession
    kind: ClassVar[Literal["action"]] = "action"

    @property
    def spec(self) -> ToolSpec:
        """With the page that the run is on now."""
        where = {"type": "string", "minLength": 1, "description": _TO}
        schema = {"type": "object", "properties": {"to": where}, "required": ["to"], "additionalProperties": False}
        return ToolSpec(VISIT_TOOL, f"{VISIT} {self.session.where}", schema)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Goes to ``arguments["to"]``."""
        return await self.session.visit(arguments["to"])


@dataclass(frozen=True, slots=True)
class ActionTool:
    """An action as a tool."""

    action: SiteAction
    spec: ToolSpec
    kind: ClassVar[Literal["action"]] = "action"

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the action."""
        return await self.action.call(arguments)


@dataclass(frozen=True, slots=True)
class SiteTools:
    """The tools of a session. ``taken`` are names of other tools; ``met`` are actions by name, with their page."""

    session: SiteSession
    taken: frozenset[str]
    met: dict[str, str] = field(default_factory=dict)

    def tools(self) -> Sequence[Tool]:
        """`visit`, then the actions."""
        names = {*self.taken, VISIT_TOOL}
        found: list[Tool] = [VisitTool(self.session)]
        for action in self.session.actions:
            name = action_tool_name(action.id, names, action.page)
            if name in names:
                continue  # the same action of the same page
            names.add(name)
            if len(self.met) < MAX_MET:
                self.met[name] = action.page
            found.append(ActionTool(action, ToolSpec(name, action.description, action.parameters)))
        return found

    def gone(self, name: str) -> str:
        """Where an action that was left behind is found again."""
        page = self.met.get(name)
        return f"{name} is an action of {page}; visit that page first, then call it" if page is not None else ""
