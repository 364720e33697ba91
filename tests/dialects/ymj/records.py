"""Records for the tests of YMJ: text in, model, facts and findings out."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from prosa.diagnostics import Diagnostic
from prosa.dialects import ymj
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.front import read_front
from prosa.dialects.ymj.model import YmjModel
from prosa.document import parse
from prosa.render.outline import document_facts
from prosa.rules.engine import check_text
from prosa.source import SourceText, apply_edits

HEADER = """\
doc_summary: Opening hours of the ferry
kind: note
version: 1.0.0
subject: Ferry hours
maintained_by: Harbour office
"""
BODY = "# Ferry hours\n\nThe ferry opens its gate at six.\n\n"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def record(
    *,
    header: str = HEADER,
    more: str = "",
    body: str = BODY,
    footer: dict[str, Any] | str | None = None,
    ops: dict[str, Any] | None = None,
) -> str:
    """A record in Strict form but for what is given."""
    if footer is None:
        footer = {"schema": "1", "payload_hash": sha(body), "index": {"tags": []}}
    if isinstance(footer, dict):
        footer = json.dumps(footer | ({"ops": ops} if ops is not None else {}), ensure_ascii=False)
    return f"---\n{header}{more}---\n{body}```json\n{footer}\n```\n"


def read(text: str) -> YmjModel:
    front = read_front(SourceText(text, "record.ymj"))
    return ymj.read(front, parse(front.source, body=front.body))[0]


def facts(text: str, *, strict: bool | None = None) -> dict[str, Any]:
    """What `prosa show` prints."""
    checked = check_text(SourceText(text, "record.ymj"), strict=strict)
    (document,) = checked.documents
    return document_facts(document, checked.of(document.front.source), strict=strict).as_dict()


def diagnostics(text: str, *, strict: bool | None = None) -> tuple[Diagnostic, ...]:
    return check_text(SourceText(text, "record.ymj"), strict=strict).diagnostics


def found(text: str, *, strict: bool | None = None) -> dict[str, str]:
    """Rule → severity, of everything but hints about profiles."""
    return {each.rule: each.severity.value for each in diagnostics(text, strict=strict) if each.rule != "profile-gap"}


def formatted(text: str, *, rehash: bool = False) -> str:
    model = read(text)
    return apply_edits(text, ymj.format_edits(model, FormatOptions(rehash=rehash)))
