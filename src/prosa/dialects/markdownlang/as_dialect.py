"""Programs as a dialect (`prosa.dialects.dialect`), answered by their reader. The facts that `prosa show` prints have
the keys of interface.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from prosa.dialects.facts import Mailbox, MarkdownlangFacts, Server, ServerTool
    from prosa.document import Document


def facts(model: ProgramModel) -> MarkdownlangFacts:
    """Return the keys of a program. ``description`` is the derived one (LA1) where `description_derived` says so."""
    return {
        "dialect": "markdownlang",
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


def _mailbox(mailbox: MailboxModel | None) -> Mailbox | None:
    """Null where the program has none."""
    if mailbox is None:
        return None
    sends = None if mailbox.sends is None else [*mailbox.sends]
    return {"name": mailbox.name, "send": sends, "expires": mailbox.expires}


def _server(server: ServerModel) -> Server:
    """Return what was written; keys that were left out are left out."""
    written: Server = {"name": server.name}
    if server.command is not None:
        written["command"] = server.command
    if server.args:
        written["args"] = [*server.args]
    if server.env is not None:
        written["env"] = {**server.env}
    if server.url is not None:
        written["url"] = server.url
    if server.transport != "auto":
        written["transport"] = server.transport
    if server.disabled:
        written["disabled"] = True
    if server.tools is not None:
        written["tools"] = [_tool(tool) for tool in server.tools]
    return written


def _tool(tool: ServerToolModel) -> ServerTool:
    written: ServerTool = {"name": tool.name}
    if tool.description is not None:
        written["description"] = tool.description
    if tool.parameters is not None:
        written["parameters"] = tool.parameters
    if tool.read_only is not None:
        written["read_only"] = tool.read_only
    return written


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
