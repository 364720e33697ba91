"""The action of a program (H11): a POST request whose body is its input and whose answer is its output.

In: the reading of a document, and its path below the root. Out: one action as plain data, or none for a document that
is no program. Nothing is run or looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.dialects.mdh.url import md_url
from prosa.dialects.table import MARKDOWNLANG
from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.dialects.markdownlang import ProgramModel
    from prosa.dialects.reading import DialectReading

RUN = "/mdh/run"
SCHEMA = "/mdh/schema"

TOKEN_HELP = "The token of this site, as printed where it was started. It goes into the header `Authorization: Bearer`."  # noqa: S105
MAX_TITLE = 200

_ODD = regex(r"[^A-Za-z0-9_-]+")


def program_action(reading: DialectReading[object], path: str, prefix: str = "") -> tuple[Mapping[str, Value], ...]:
    """Return the action of the document at ``path``. ``prefix`` is the path of the site.

    Its id is made of the path, as `tools.greet.run`, so that it does not depend on other documents.
    """
    model = reading.model_of(MARKDOWNLANG)
    if model is None:
        return ()
    url, schema = md_url(path), input_schema(model)
    action = {
        "id": action_id(path),
        "title": " ".join(f"Run {model.name}: {model.description}".split())[:MAX_TITLE],
        "method": "POST",
        "url": f"{prefix}{RUN}{url}",
        "accept": "application/json",
        "content_type": "application/json",
        "auth": {"type": "bearer", "token_help": TOKEN_HELP},
        "body_schema": schema,
        "response_schema": f"{prefix}{SCHEMA}{url}",
    }
    examples = _examples(schema)
    return ({**action, **({"examples": examples} if examples else {})},)


def action_id(path: str) -> str:
    """Return the id of the action of the program at ``path``, unique on a site: if the path has characters that ids
    should not have, a part of its hash is added."""
    written = path.removesuffix(".md").split("/")
    parts = [_ODD.sub("-", each).strip("-") or "-" for each in written]
    same = parts == written
    return ".".join((*parts, "run")) + ("" if same else f"-{sha256(path.encode('utf-8', 'replace')).hexdigest()[:6]}")


def input_schema(model: ProgramModel) -> dict[str, Value]:
    """Return what the body of the action must be. A program that declares no input takes any object."""
    value = model.input.value if model.input is not None else None
    return dict(value) if isinstance(value, dict) and value else {"type": "object"}


def output_schema(model: ProgramModel) -> dict[str, Value] | bool:
    """Return the schema of the answer of the action."""
    value = model.output.value if model.output is not None else None
    return value if isinstance(value, dict | bool) else {}


def _examples(schema: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Return the examples that the author gave for the input."""
    found = schema.get("examples")
    return [{"request": {"body": each}} for each in found] if isinstance(found, list) else []
