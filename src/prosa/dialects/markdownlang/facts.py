"""What `prosa show` says about a program, with the keys that interface.md fixes."""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.markdownlang.model import ProgramModel, ServerModel


def facts(model: ProgramModel) -> dict[str, Value]:
    """The keys of a program. ``description`` is the derived one (LA1) where `description_derived` says so."""
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
    }


def variables(model: ProgramModel) -> tuple[str, ...]:
    """The names of the input that the template uses, each once, in the order of their first use."""
    if model.template is None:
        return ()
    firsts = (use.path[0] for use in model.template.uses if use.path)
    return tuple(dict.fromkeys(name for name in firsts if name is not None))


def _server(server: ServerModel) -> dict[str, Value]:
    """What was written; keys that were left out are left out."""
    written = {
        "name": server.name,
        "command": server.command,
        "args": list(server.args) or None,
        "env": dict(server.env) if server.env is not None else None,
        "url": server.url,
        "transport": None if server.transport == "auto" else server.transport,
        "disabled": server.disabled or None,
    }
    return {key: value for key, value in written.items() if value is not None}
