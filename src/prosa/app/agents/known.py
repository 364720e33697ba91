"""Which agents are known, which of them are installed here, and how they are isolated (X36).

In: names. Out: rows of the table of agents, with what this machine has. Nothing starts but what asks an agent for its
version and tries the isolation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from prosa.adapters.agents.box import Isolation, isolation
from prosa.adapters.agents.discover import AgentMissing, Installed, find_agent
from prosa.adapters.agents.table import AGENTS, KnownAgent, is_tried
from prosa.app.agents.task import AgentRefused
from prosa.data import Value
from prosa.diagnostics.nearest import nearest


class AgentHere(Struct, frozen=True):
    """A known agent on this machine. ``installed`` is None where it is not here, and ``missing`` says how to get it."""

    known: KnownAgent
    installed: Installed | None
    missing: str
    isolation: Isolation

    @property
    def warning(self) -> str:
        """Why results may be wrong, in a sentence; empty where the version was tried."""
        if self.installed is None or is_tried(self.known, self.installed.version):
            return ""
        oldest, newest = self.known.tried
        tried = oldest if oldest == newest else f"{oldest} to {newest}"
        return (
            f"{self.known.name} {self.installed.version}: tried with {tried}; results may be wrong: "
            f"prosa agents {self.known.name} --probe"
        )

    def as_dict(self) -> dict[str, Value]:
        """Return the object of `prosa agents --format json`."""
        known, here = self.known, self.installed
        return {
            "name": known.name,
            "version": here.version if here is not None else None,
            "tried": list(known.tried),
            "supported": known.supported,
            "skills": {"project": list(known.skills), "home": list(known.home_skills)},
            "context": list(known.context),
            "isolation": {"kind": self.isolation.kind, "reason": self.isolation.reason or None},
            "title": known.title,
            "package": known.package,
            "licence": known.licence,
            "wires": list(known.wires),
            "budget": known.budget,
            "brings": list(known.brings),
            "first_request_bytes": known.request_bytes,
            "memory_mb": known.memory,
            "path": str(here.path) if here is not None else None,
            "note": self.warning or self.missing or None,
        }


def known_agent(name: str) -> KnownAgent:
    """Return the row of an agent. Raises `AgentRefused` for an unknown name and suggests the nearest one."""
    row = AGENTS.get(name)
    if row is None:
        near = nearest(name, tuple(AGENTS))
        hint = f"did you mean {near}?" if near else f"known are {', '.join(AGENTS)}"
        raise AgentRefused(f"there is no agent `{name[:60]}`", hint=hint)
    return row


def agents_here(names: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[AgentHere]:
    """Yield the named agents, or all. Raises `AgentRefused` for an unknown name."""
    rows = [known_agent(name) for name in names] or list(AGENTS.values())
    isolated = isolation()
    for row in rows:
        try:
            yield AgentHere(row, find_agent(row.name, environ), "", isolated)
        except AgentMissing as missing:
            yield AgentHere(row, None, str(missing), isolated)
