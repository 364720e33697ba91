"""Actions to call in tests: a small ferry line."""

from __future__ import annotations

from typing import Any

ROOT = "https://ferries.example"

SAILINGS: dict[str, Any] = {
    "id": "sailings.list",
    "method": "GET",
    "url": "/api/sailings",
    "accept": "application/json",
    "auth": {"type": "none"},
    "query": {
        "required": ["harbour"],
        "optional": ["day", "deck"],
        "properties": {
            "day": {"type": "string", "format": "date"},
            "deck": {"type": "array", "items": {"enum": ["upper", "lower"]}},
            "seats": {"type": "integer", "minimum": 1, "default": 1},
        },
    },
    "pagination": {
        "type": "cursor",
        "request": {"cursor_param": "cursor", "limit_param": "page_size"},
        "response": {"next_cursor_jsonpath": "$.page.next_cursor", "next_link_jsonpath": "$.links.next"},
    },
}

BOOK: dict[str, Any] = {
    "id": "sailings.book",
    "method": "POST",
    "url": "/api/sailings/{sailing}/bookings",
    "accept": "application/json",
    "content_type": "application/json",
    "auth": {"type": "bearer", "token_help": "Ask at the harbour office"},
    "body_schema": {
        "properties": {"name": {"type": "string"}, "seats": {"type": "integer", "minimum": 1}},
        "required": ["name"],
        "additionalProperties": False,
    },
}


def with_auth(**auth: Any) -> dict[str, Any]:
    """The list of sailings behind some authentication."""
    return {**SAILINGS, "auth": auth}


def at(url: str, **more: Any) -> dict[str, Any]:
    """A plain GET of a URL."""
    return {"id": "any", "method": "GET", "url": url, **more}
