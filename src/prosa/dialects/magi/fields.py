"""The fields of MAGI as tables: front matter (M5–M22), ai-script blocks (M24–M39), relationships (M44–M49)."""

from __future__ import annotations

import re

from prosa.dialects.fields import Field
from prosa.dialects.magi.dates import date_form
from prosa.dialects.magi.globs import glob_form

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:[^\s<>\"]+")
_REFERENCE = re.compile(r"[^\s<>\"]+")

DATE_FIELDS = ("published-date", "created-date", "updated-date", "expired-date")
LIST_FIELDS = ("images-list", "tags", "globs", "audience", "entities", "relationships")

PRIORITIES = ("high", "medium", "low")
OUTPUT_FORMATS = ("markdown", "text", "json", "image-url")
INTERACTIVE_TYPES = ("button", "inputbox")


def _url(text: str) -> str | None:
    return None if _ABSOLUTE.fullmatch(text.strip()) else "must be an absolute URL such as `https://example.org/page`"


def _url_reference(text: str) -> str | None:
    return None if _REFERENCE.fullmatch(text.strip()) else "must be a URL, without spaces"


def _not_negative(text: str) -> str | None:
    return "must not be negative" if text.startswith("-") and text != "-0" else None


def _unit_interval(text: str) -> str | None:
    return None if 0.0 <= float(text) <= 1.0 else "must be a number from 0.0 to 1.0"


FRONT: tuple[Field, ...] = (
    Field("doc-id", "string"),
    Field("title", "string"),
    Field("description", "string"),
    Field("author", "string"),
    Field("author-id", "string"),
    Field("image", "string", form=_url_reference),
    Field("images-list", "strings", form=_url_reference),
    Field("published-date", "string", form=date_form),
    Field("tags", "strings"),
    Field("created-date", "string", form=date_form),
    Field("updated-date", "string", form=date_form),
    Field("expired-date", "string", form=date_form),
    Field("globs", "strings", form=glob_form),
    Field("audience", "strings"),
    Field("purpose", "string"),
    Field("entities", "strings"),
    Field("relationships", "strings"),
    Field("source-url", "string", form=_url),
)

SCRIPT: tuple[Field, ...] = (
    Field("script-id", "text", required=True, why="a run names the script by it"),
    Field("prompt", "text", required=True, why="it is what the model is asked to do"),
    Field("priority", "text"),
    Field("auto-run", "boolean"),
    Field("provider", "text"),
    Field("model-name", "text"),
    Field("system-prompt", "text"),
    Field("parameters", "mapping"),
    Field("retry-times", "integer", form=_not_negative),
    Field("runtime-env", "text"),
    Field("output-format", "text"),
    Field("output-schema", "mapping"),
    Field("stream", "boolean"),
    Field("interactive-type", "text"),
    Field("interactive-label", "text"),
    Field("interactive-placeholder", "text"),
)

RELATIONSHIP: tuple[Field, ...] = (
    Field("rel-type", "text", required=True, why="it says what the connection means"),
    Field("doc-id", "text"),
    Field("source-url", "text", form=_url),
    Field("rel-desc", "text", required=True, why="it tells a reader why the documents belong together"),
    Field("rel-strength", "number", form=_unit_interval),
    Field("bi-directional", "boolean"),
    Field("context", "mapping"),
)

CONTEXT: tuple[Field, ...] = (
    Field("section", "text"),
    Field("relevance", "text"),
)
