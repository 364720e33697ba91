"""Compiling an MDA document into the file of one host (§01-4, §06): fields that the open standard has stay at the top,
those of MDA go below `metadata.mda`, where the relationships of the footnotes are repeated; the text stays as it is.

In: a document without errors. Out: the text of each file and a report. The caller checks both ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from prosa.convert.neutral import Item, Report
from prosa.data import Value, members_of
from prosa.data.yaml_write import write_yaml
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.digest import BOUNDARY, canonical_bytes, digest_of, is_true
from prosa.dialects.mda.fields import EXTENDED, TargetName
from prosa.dialects.mda.model import MdaModel
from prosa.dialects.mda.sidecar import SIDECAR
from prosa.regex import regex

COMPILED: Mapping[str, TargetName] = {
    "skill": "SKILL.md",
    "agents-md": "AGENTS.md",
    "claude-md": "CLAUDE.md",
    "mcp-server-md": "MCP-SERVER.md",
}
"""What `prosa convert --to` calls the outputs, and their files."""

PACKED = ("SKILL.md", "MCP-SERVER.md")
"""Outputs in a folder of their name."""

_STANDARD = ("name", "description", "license", "compatibility")
_LINE_END = regex(r"\r\n?")


class Compilation(Struct, frozen=True):
    """The files by name, and the report."""

    files: tuple[tuple[TargetName | str, str], ...]
    report: Report


def compiled(model: MdaModel, target: TargetName, sidecar: dict[str, Value] | None = None) -> Compilation:
    """Return what a document becomes; ``sidecar`` is the JSON that lies beside it, for an MCP server."""
    fields = _fields(model, target)
    source = model.source
    body = _LINE_END.sub("\n", source.slice(model.front.body))
    beside = _sidecar(fields, sidecar) if target == "MCP-SERVER.md" else None
    algorithm = model.integrity("algorithm")
    if algorithm is not None:
        data = canonical_bytes(fields, body)
        data = data if beside is None else data + BOUNDARY + canonical(beside)
        fields["integrity"] = {"algorithm": algorithm.text, "digest": digest_of(data, algorithm.text)}
    front = f"---\n{write_yaml(fields)}---\n" if fields else ""
    files: tuple[tuple[TargetName | str, str], ...] = ((target, f"{front}{body}"),)
    if beside is not None:
        files += ((SIDECAR, json.dumps(beside, ensure_ascii=False, indent="\t") + "\n"),)
    items = tuple(_items(model, target))
    moved = sum(item.level != "manual" for item in items)
    return Compilation(files, Report(len(model.fields) + 1 - moved, items))


def _fields(model: MdaModel, target: TargetName) -> dict[str, Value]:
    fields = {name: model.value(name) for name in _STANDARD if name in model.fields}
    tools = model.value("allowed-tools")
    metadata = {**members_of(model.value("metadata"))}
    if tools is not None and target == "SKILL.md":
        fields["allowed-tools"] = tools
    elif tools is not None:
        metadata["claude-code"] = {**members_of(metadata.get("claude-code")), "allowed-tools": tools}
    own = {**members_of(metadata.get("mda"))}
    own |= {field.name: model.value(field.name) for field in EXTENDED if field.name in model.fields}
    if model.relations:
        own["relationships"] = [relation.data for relation in model.relations]
    if own:
        metadata["mda"] = own
    return {**fields, "metadata": metadata} if metadata else fields


def _sidecar(fields: dict[str, Value], sidecar: dict[str, Value] | None) -> dict[str, Value]:
    """Return the second file of an MCP server: the one that is there, else one to be completed."""
    if sidecar is not None:
        return sidecar
    version = members_of(members_of(fields.get("metadata")).get("mda")).get("version") or "0.1.0"
    return {"name": fields.get("name"), "version": version, "transport": "stdio"}


def _items(model: MdaModel, target: TargetName) -> Iterator[Item]:
    source = model.source

    def item(level: str, name: str, to: str, message: str) -> Item:
        line = source.position(model.span(name).start).line
        return Item(level, source.path, line, f"/{name}", to, message, name)  # type: ignore[arg-type]

    for field in EXTENDED:
        if field.name in model.fields:
            yield item("moved", field.name, "/metadata/mda", f"`{field.name}` is below `metadata.mda`")
    if "allowed-tools" in model.fields and target != "SKILL.md":
        yield item("moved", "allowed-tools", "/metadata/claude-code", "`allowed-tools` is below `metadata.claude-code`")
    if "signatures" in model.fields:
        yield item("lost", "signatures", "", "the signatures are of the source: the output has to be signed anew")
    if is_true(model) is False:
        yield item(
            "manual", "integrity", "", "the digest of the source does not match its text; the output has its own"
        )
    if target == "MCP-SERVER.md":
        yield item("manual", "name", SIDECAR, f"`{SIDECAR}` has to say how the server is started")
