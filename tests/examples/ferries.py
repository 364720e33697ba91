"""The example site for its tests: its files, and a fresh API that is called in this process."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

from starlette.testclient import TestClient

import prosa
from prosa.demo.example_places import ferries

FOLDER = ferries()
PAGES = FOLDER / "pages"
HOST = "https://ferries.example"
TOKEN = {"Authorization": "Bearer skerry-demo"}
WISH = {"sailing": "HAR-KEL-20260701-0630", "name": "Ada Quay", "passengers": 2, "vehicle": "bicycle"}
SEARCH = {"from": "HAR", "to": "KEL", "date": "2026-07-01"}


@cache
def api() -> ModuleType:
    """The module, loaded from its file, as somebody would who copied it."""
    spec = importlib.util.spec_from_file_location("ferries_api_under_test", FOLDER / "api.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def client() -> TestClient:
    """A caller of an API with a memory of its own."""
    return TestClient(api().create_app(), base_url=HOST, follow_redirects=False)


def found(at: TestClient, **query: Any) -> Any:
    """A search that succeeds; `from_` stands for `from`."""
    asked = SEARCH | {name.rstrip("_"): value for name, value in query.items()}
    answer = at.get(f"/api/sailings?{urlencode(asked)}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def booked(at: TestClient, key: str = "", **changes: Any) -> Any:
    """The answer to a wish for a booking."""
    headers = TOKEN | ({"Idempotency-Key": key} if key else {})
    return at.post("/api/bookings", headers=headers, json=WISH | changes)


def sent(at: TestClient, request: Mapping[str, Any]) -> Any:
    """The answer to a request as `prosa.mdh.request` describes it."""
    body = None if request["body"] is None else json.dumps(request["body"])
    query = urlencode([tuple(pair) for pair in request["query"]])
    return at.request(
        request["method"],
        f"{request['url']}?{query}" if query else request["url"],
        headers=request["headers"],
        content=body,
    )


@cache
def actions() -> dict[str, dict[str, Any]]:
    """Every action that the pages declare, by id."""
    nodes = [prosa.load(str(page)) for page in sorted(PAGES.rglob("*.md"))]
    every = [action for node in nodes for action in node.front_matter.get("actions", ())]
    named = {action["id"]: action for action in every}
    assert len(named) == len(every)
    return named
