"""MDH as a dialect like the others (`prosa.dialects.dialect`), and a new node as text."""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.dialect import Dialect
from prosa.dialects.fields import Field
from prosa.dialects.mdh.facts import corpus_facts, definitions, facts, references
from prosa.dialects.mdh.fields import ACTION, LINK, NODE
from prosa.dialects.mdh.fields import NODE as FRONT
from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.mdh.normal import format_edits
from prosa.dialects.mdh.read import read


def write(fields: Mapping[str, Value], body: str) -> str:
    """Return the document. ``fields`` are plain data; known fields come first in the order of the specification,
    unknown ones keep theirs. A single `action` becomes a list under `actions` (HA9); fields that are None are left
    out.

    Raises ValueError for data nested too deep, TypeError for anything but plain data.
    """
    known = {name: value for name, value in fields.items() if value is not None}
    if "action" in known and "actions" not in known:
        single = known.pop("action")
        known["actions"] = single if isinstance(single, list) else [single]
    for name, table in (("links", LINK), ("actions", ACTION)):
        listed = known.get(name)
        if isinstance(listed, list):
            known[name] = [_ordered(item, table) if isinstance(item, Mapping) else item for item in listed]
    text = body.lstrip("\r\n")
    return f"---\n{write_yaml(_ordered(known, NODE))}---\n" + (f"\n{text}" if text else "")


def _ordered(value: Mapping[str, Value], table: tuple[Field, ...]) -> dict[str, Value]:
    names = [field.name for field in table if field.name in value]
    return {name: value[name] for name in (*names, *(name for name in value if name not in names))}


DIALECT: Dialect[NodeModel] = Dialect(
    name="mdh",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    corpus_facts=corpus_facts,
    format_edits=format_edits,
)
