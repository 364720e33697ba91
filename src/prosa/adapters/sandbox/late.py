"""`LateSandbox`: most runs that may use Python never call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from prosa.adapters.sandbox.process import WasmSandbox
    from prosa.runtime.ports import SandboxResult


class LateSandbox(Struct):
    """A `WasmSandbox` that is made for the first call."""

    cache_dir: Path
    notice: Callable[[str], None]
    opened: WasmSandbox | None = None

    async def run(
        self, code: str, *, timeout: float, memory: int, folder: str | None = None, outputs: str | None = None
    ) -> SandboxResult:
        """Run code as the sandbox does."""
        if self.opened is None:
            from prosa.adapters.sandbox.process import WasmSandbox

            self.opened = WasmSandbox(self.cache_dir, notice=self.notice)
        return await self.opened.run(code, timeout=timeout, memory=memory, folder=folder, outputs=outputs)

    async def aclose(self) -> None:
        """End the workers, if there are any."""
        if self.opened is not None:
            await self.opened.aclose()
