"""A new skill as text: front matter in the order of the specification, then the instructions. Existing skills change
through edits, never through this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prosa.data import Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.skill_md.fields import SKILL


def write(fields: Mapping[str, Value], instructions: str) -> str:
    """The document. Fields that are None are left out, unknown ones come last; a list of tools becomes one text.

    Raises ValueError for data nested too deep, TypeError for what is no plain data.
    """
    known = {name: value for name, value in fields.items() if value is not None}
    tools = known.get("allowed-tools")
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        known["allowed-tools"] = " ".join(str(tool) for tool in tools)
    order = [field.name for field in SKILL if field.name in known]
    ordered = {name: known[name] for name in (*order, *(name for name in known if name not in order))}
    text = instructions.lstrip("\r\n")
    return f"---\n{write_yaml(ordered)}---\n" + (f"\n{text}" if text else "")
