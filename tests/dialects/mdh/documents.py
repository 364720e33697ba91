"""What the tests of MDH share: a reading of a text, its rules, and a site in memory."""

from __future__ import annotations

from pathlib import Path

from prosa.diagnostics import Diagnostic, Problem
from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.reading import DialectReading, open_as
from prosa.dialects.table import MDH
from prosa.rules.engine import check_documents
from prosa.source import SourceText
from tests.rules.literate import MemoryFiles

HEAD = "id: desk\ntype: page\ntitle: The front desk\n"


def node(fields: str = "", body: str = "Ask at the desk.\n", head: str = HEAD) -> str:
    """A node with these further fields."""
    return f"---\n{head}{fields}---\n\n{body}"


def page(name: str, body: str = "", fields: str = "") -> str:
    """A node with an id of its own."""
    return node(fields, body, f"id: {name}\ntype: page\ntitle: About {name}\n")


def reading(text: str) -> DialectReading[NodeModel]:
    """A text read as a node, whatever it looks like."""
    return open_as(SourceText(text, "desk.md"), MDH)


def model_of(text: str) -> NodeModel:
    """Its model."""
    model = reading(text).model
    assert isinstance(model, NodeModel)
    return model


def problems_of(text: str) -> tuple[Problem, ...]:
    """What its reader finds."""
    return reading(text).problems


def rules_of(text: str) -> list[str]:
    """The rules its reader names."""
    return [problem.rule for problem in problems_of(text)]


def checked(documents: dict[str, str | None], *names: str, strict: bool | None = None) -> tuple[Diagnostic, ...]:
    """The findings in documents below `/project`; only ``names`` are checked where some are given."""
    files = MemoryFiles({f"/project/{name}": text for name, text in documents.items()})
    chosen = names or tuple(name for name in documents if name.endswith(".md"))
    return check_documents([Path("/project", name) for name in chosen], files, strict=strict).diagnostics


def found(documents: dict[str, str | None], *names: str) -> list[tuple[str, str]]:
    """Rule and marked text of each finding, but for what is said of sites without a root."""
    return [
        (each.rule, each.source.slice(each.span))
        for each in checked(documents, *names)
        if each.rule != "site-without-root"
    ]
