"""`/openapi.json` is valid OpenAPI 3.1, whatever the pages declare (X40)."""

from __future__ import annotations

from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from prosa.site.openapi import openapi
from tests.web.conftest import Serve
from tests.web.test_discovery import FILES


def action(own: str, method: str, url: str, **more: Any) -> dict[str, Any]:
    return {"id": own, "method": method, "url": url, **more}


ACTIONS = [
    action("a", "GET", "/a/{id}/{id2}", auth={"type": "api_key", "in": "query", "name": "k"}),
    action("a", "DELETE", "/a/{id}/{id2}", auth={"type": "api_key"}),
    action("a b/ü", "POST", "/b?x=1&x=2", body_schema="/schema.json", auth={"type": "oauth2"}),
    action("c", "PUT", "/c", content_type="text/plain", auth={"type": "cookie", "name": "s"}),
    action("d", "PATCH", "/d", body_schema={"properties": {"x": {"$ref": "#/$defs/y"}}}),
    action("m", "PATCH", "/m", body_schema={"properties": {"x": {"$ref": "#"}}, "title": "M"}),
    action("e", "POST", "/e", body_schema={"$id": "https://x.example/", "type": "object"}),
    action("f", "GET", "/f?q=1", query={"required": ["q"], "properties": {"q": {"type": ["string"]}}}),
    action("g", "GET", "/a/{id}/{id2}"),
    action("h", "GET", "https://elsewhere.example/h"),
    action("", "GET", "/i"),
    action("j", "FETCH", "/j"),
    action("k", "GET", "/k", query={"properties": {"q": {"$ref": "#/away"}}}),
    action("l", "POST", "/l", accept="text/csv; charset=utf-8, */*", description="D"),
]


@pytest.mark.parametrize("origin", ["", "https://harbour.example"])
def test_x40_every_action_makes_a_valid_description(origin: str) -> None:
    made = openapi("Harbour", ACTIONS, origin=origin, prefix="/docs")
    assert [error.message for error in OpenAPIV31SpecValidator(made).iter_errors()] == []
    paths = [
        "/docs/mdh/nodes.json",
        "/docs/mdh/actions.json",
        "/a/{id}/{id2}",
        "/b",
        "/c",
        "/m",
        "/e",
        "/f",
        "/k",
        "/l",
    ]
    assert list(made["paths"]) == paths
    ids = [each["operationId"] for path in made["paths"].values() for each in path.values()]
    assert ids == ["mdh.nodes", "mdh.actions", "a", "a-2", "a-b--", "c", "m", "e", "f", "k", "l"]
    schemes = made["components"]["securitySchemes"]
    assert schemes.keys() == {"api_key.query.k", "api_key.header.X-API-Key", "oauth2", "cookie.s"}


def test_x40_what_a_site_serves_is_valid(serve: Serve) -> None:
    found = serve(FILES).get("/openapi.json").json
    OpenAPIV31SpecValidator(found).validate()
