"""What all runs of one server may cost together (X26).

In: what the user named, the environment. Out: a `Budget`.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal

from msgspec import Struct

from prosa.app.options import Environment
from prosa.app.run.world import known_prices
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.budget import Budget, Ledger
from prosa.runtime.usage import NANO, nano

DEFAULT_BUDGET = Decimal(5)
"""US dollars of all runs of one server, where the user says nothing."""

_NAME = "budget of servers"
_AT_ONCE = 8


def server_budget(cap: Decimal | None, environment: Environment, store: StorePlace | None = None) -> Budget:
    """Return the budget of all runs of one server, or of all servers that keep their runs in one database. Without a
    cap of the user's it counts known prices only."""
    whole = DEFAULT_BUDGET if cap is None else cap
    ledger = Ledger(whole)
    if isinstance(store, StoreServer):
        ledger = Ledger(Decimal(0), grants=_TogetherGrants(store, whole), whole=whole)
    return Budget(known_prices(environment.settings), ledger, cap is not None, environment.notice)


class _TogetherGrants(Struct, frozen=True):
    """A budget in a database, of which each server draws parts for some calls."""

    store: StoreServer
    cap: Decimal

    async def draw(self, wanted: Decimal) -> Decimal:
        """Money for some calls, else for the one that asks. Raises `StoreProblem`."""
        from prosa.adapters.store.leases import draw_together
        from prosa.adapters.store.writer import living, writer_of

        writer, least = writer_of(self.store), nano(wanted)  # in use until the server ends: that shows it is alive
        alive = await asyncio.to_thread(living, self.store)
        holder = await writer.do(lambda _: writer.holder)
        work = draw_together(_NAME, holder, alive, least, least * _AT_ONCE, int(self.cap / NANO))
        return (await writer.do(work)) * NANO
