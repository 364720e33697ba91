"""Programs as a dialect (`prosa.dialects.dialect`), answered by their reader. The facts that `prosa show` prints have
the keys of interface.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from prosa.data import Value
from prosa.diagnostics import Problem
from prosa.dialects.dialect import Dialect
from prosa.dialects.front import FrontReading
from prosa.dialects.markdownlang.fields import PROGRAM as FRONT
from prosa.dialects.markdownlang.model import MailboxModel, ProgramModel, ServerModel, ServerToolModel
from prosa.dialects.markdownlang.read import read as read_program
from prosa.document import Def, Ref
from prosa.source import Span
from prosa.template.mask import action_spans

if TYPE_CHECKING:
    from prosa.document import Document


def facts(model: ProgramModel) -> dict[str, Value]:
    """Return the keys of a program. ``description`` is the derived one (LA1) where `description_derived` says so."""
    return {
        "name": model.name,
        "description": model.description,
        "model": model.model_name,
        "input": model.input.value if model.input else None,
        "output": model.output.value if model.output else None,
        "imports": [ref.text for ref in model.imports],
        "mcp_servers": [_server(server) for server in model.mcp_servers],
        "variables": list(variables(model)),
        "description_derived": model.derived_description,
        "mdh": list(model.mdh),
        "mailbox": _mailbox(model.mailbox),
    }


def variables(model: ProgramModel) -> tuple[str, ...]:
    """Return the names of the input that the template uses, each once, in the order of their first use."""
    if model.template is None:
        return ()
    firsts = (use.path[0] for use in model.template.uses if use.path)
    return tuple(dict.fromkeys(name for name in firsts if name is not None))


def _mailbox(mailbox: MailboxModel | None) -> Value:
    """Null where the program has none."""
    if mailbox is None:
        return None
    sends: list[Value] | None = None if mailbox.sends is None else list(mailbox.sends)
    return {"name": mailbox.name, "send": sends, "expires": mailbox.expires}


def _server(server: ServerModel) -> dict[str, Value]:
    """Return what was written; keys that were left out are left out."""
    written: dict[str, Value] = {
        "name": server.name,
        "command": server.command,
        "args": list(server.args) or None,
        "env": dict(server.env) if server.env is not None else None,
        "url": server.url,
        "transport": None if server.transport == "auto" else server.transport,
        "disabled": server.disabled or None,
        "tools": None if server.tools is None else [_tool(each) for each in server.tools],
    }
    return {key: value for key, value in written.items() if value is not None}


def _tool(tool: ServerToolModel) -> dict[str, Value]:
    return {key: value for key, value in asdict(tool).items() if key != "span" and value is not None}


__all__ = ["DIALECT", "FRONT", "definitions", "facts", "masked", "read", "references"]


def masked(front: FrontReading) -> tuple[Span, ...]:
    """Return the template actions of the body (X2)."""
    text = front.source.slice(front.body)
    return tuple(span.shift(front.body.start) for span in action_spans(text))


def read(front: FrontReading, document: Document) -> tuple[ProgramModel, tuple[Problem, ...]]:
    """Return the program, and the problems of its text outside the front matter block."""
    del document  # the body of a program is a template first
    model, problems = read_program(front.source, front)
    return model, problems[len(front.problems) :]


def references(model: ProgramModel) -> tuple[Ref, ...]:
    """Return the imports (L6)."""
    return tuple(Ref("import", ref.text, "path", ref.span, rel="import") for ref in model.imports)


def definitions(model: ProgramModel) -> tuple[Def, ...]:
    """Return the name that the author gave the program."""
    return (Def("id", model.name, model.span("name")),) if "name" in model.spans else ()


DIALECT: Dialect[ProgramModel] = Dialect(
    name="markdownlang",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    masked=masked,
)
