"""What each command does besides printing: files that it writes, the network, money. In: nothing. Out: one table.

True is always, False is never, and flags or arguments say with which of them. Prosa's own records (cache, index, store,
trust) are no files of the user and do not count; what a program that runs does with its tools is its own matter.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

When: TypeAlias = bool | tuple[str, ...]


class Effects(NamedTuple):
    """``writes``: files of the user, unless a flag such as `--dry-run` prevents it. ``network``: it listens, or sends
    anything off this machine. ``costs``: a service may charge for it."""

    writes: When = False
    network: When = False
    costs: When = False


UNKNOWN = Effects(writes=True, network=True, costs=True)
"""Of a command without a row: the worst."""

_STORE = ("--store",)

EFFECTS: dict[str, Effects] = {
    "run": Effects(("--output", "--write", "--record", "--events"), network=True, costs=True),
    "plan": Effects(),
    "render": Effects(),
    "chat": Effects(writes=True, network=True, costs=True),
    "test": Effects(("--record", "--update", "--report", "--workspace-out"), network=True, costs=True),
    "improve": Effects(("--output", "--write", "--record", "--report", "--workspace-out"), network=True, costs=True),
    "batch": Effects(("--output", "--export"), network=True, costs=True),
    "mail": Effects(network=_STORE),
    "worker": Effects(network=True, costs=True),
    "runs": Effects(("--trace",), network=_STORE),
    "report": Effects(("--output",), network=_STORE),
    "check": Effects(("--fix", "--unsafe-fixes", "--report", "--write-baseline")),
    "fmt": Effects(writes=True),
    "show": Effects(),
    "convert": Effects(writes=True),
    "explain": Effects(),
    "lsp": Effects(("--log",)),
    "index": Effects(),
    "search": Effects(network=("--semantic",), costs=("--semantic",)),
    "links": Effects(),
    "graph": Effects(("--output",)),
    "rename": Effects(writes=True),
    "query": Effects(network=_STORE),
    "enrich": Effects(writes=True, network=True, costs=True),
    "serve": Effects(network=True, costs=("--allow-run",)),
    "view": Effects(network=True),
    "mcp": Effects(network=("--http", "--allow-run"), costs=("--allow-run",)),
    "build": Effects(writes=True),
    "visit": Effects(("--crawl", "--output"), network=True),
    "call": Effects(network=True, costs=True),
    "probe": Effects(network=True),
    "init": Effects(writes=True),
    "new": Effects(("NAME", "--output"), network=("--model",), costs=("--model",)),
    "trust": Effects(),
    "agree": Effects(),
    "login": Effects(network=("SERVER",)),
    "logout": Effects(network=True),
    "models": Effects(network=("SERVICE", "--online")),
    "agents": Effects(),
    "doctor": Effects(network=("--online",)),
    "completion": Effects(),
    "demo": Effects(),
}
"""A row for each command."""
