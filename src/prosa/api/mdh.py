"""MDH from Python: the request of an action, without sending it. `prosa call` sends the same.

action = prosa.load("offices.md").front_matter["actions"][0]
prosa.mdh.request(action, {"query": {"city": "Oslo"}}, site_root="https://example.org")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prosa.api.checked import checked
from prosa.data import Value
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.mdh.model import ActionModel
from prosa.site.problems import RequestError, RequestProblem
from prosa.site.request import build_request

__all__ = ["RequestError", "RequestProblem", "request"]


@checked
def request(
    action: Mapping[str, Value] | ActionModel,
    input: Mapping[str, Value] | None = None,  # noqa: A002 - the name of the interface
    *,
    site_root: str,
    token: str | None = None,
    allow_undeclared: bool = False,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """Return the request as it would be sent: ``{"method", "url", "query": [[name, value]…], "headers", "body"}``
    (HA8–HA19).

    ``action`` is an entry of `actions` as plain data. ``input`` is ``{"query": {…}, "path": {…}, "body": …}``, each
    part optional. ``url`` has no query. ``body`` is a value for JSON, a text for other types, None without one. The
    ``token`` is in the result as it is sent; an action that declares no authentication gets none (HA14).

    A state-changing request has an `Idempotency-Key` if ``idempotency_key`` is set (H19). A `body_schema` that is a
    URL is not fetched, so its body is not checked. Raises `RequestError` with all ``problems``.
    """
    value = action_value(action) if isinstance(action, ActionModel) else action
    built = build_request(
        value,
        input,
        site_root=site_root,
        token=token,
        allow_undeclared=allow_undeclared,
        idempotency_key=idempotency_key,
    )
    return built.as_dict(show=True)
