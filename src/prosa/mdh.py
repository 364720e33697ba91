"""MDH from Python: the request of an action, without sending it; documented in `prosa.api.mdh`."""

from __future__ import annotations

from prosa.api.mdh import RequestError, RequestProblem, request

__all__ = ["RequestError", "RequestProblem", "request"]
