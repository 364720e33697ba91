"""What `prosa show` prints about a document: as lines its fields and parsed content, as JSON the keys of interface.md.

Every text of the document is made safe first (`render.plain`), and long lists are cut: `--format json` has everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.data import Value
from prosa.diagnostics import Diagnostic, Severity
from prosa.dialects import DialectName
from prosa.dialects.table import dialect
from prosa.render.json import diagnostic_object, dump, finite
from prosa.render.plain import safe
from prosa.rules.engine import CheckedDocument

if TYPE_CHECKING:
    from prosa.dialects import facts as shapes
    from prosa.dialects.facts import DialectFacts
    from prosa.dialects.magi.meta import Inherited
    from prosa.schema.walk import References

MAX_VALUE = 100
"""Characters of one value in an outline; `--format json` has all of it."""

MAX_ITEMS = 30
"""Items of one list that are shown."""

MAX_DEPTH = 8
"""Lists in lists whose items are named; a schema may contain itself."""

_WIDTH = 12
_MAX_WIDTH = 24
"""Cells of the column of names: as many as the longest name needs, within these."""


class Structure(Struct, frozen=True):
    """The Markdown of a document: ``headings`` as (level, text, line), ``links`` as (target, line)."""

    headings: Sequence[tuple[int, str, int]] = ()
    links: Sequence[tuple[str, int]] = ()


class _Row(Struct, frozen=True):
    """One line: a name, empty below the first of a list, and a value."""

    name: str
    value: str


class ShownFacts(Struct, frozen=True):
    """The facts of a document: those that all documents share, with the fields ``inherited`` from meta files (X33), and
    those of its dialect. Front matter that is not a mapping is None."""

    path: str
    front_matter: dict[str, Value] | None
    inherited: Mapping[str, Inherited[Value]]
    diagnostics: Sequence[Diagnostic]
    own: DialectFacts

    def as_dict(self) -> dict[str, Value]:
        """Return what `--format json` prints: inherited fields stand apart from the document's own."""
        return {
            "path": self.path,
            "dialect": self.own["dialect"],
            "front_matter": self.front_matter,
            **({"lent": {name: field.as_dict() for name, field in self.inherited.items()}} if self.inherited else {}),
            "diagnostics": [diagnostic_object(diagnostic) for diagnostic in self.diagnostics],
            **{key: finite(value) for key, value in self.own.items()},
        }


def document_facts(
    document: CheckedDocument,
    diagnostics: Sequence[Diagnostic],
    *,
    strict: bool | None = None,
    inherited: Mapping[str, Inherited[Value]] | None = None,
) -> ShownFacts:
    """Return the facts of a document; ``diagnostics`` are its own, ``strict`` is the user's mode (YA11)."""
    errors = frozenset(diagnostic.rule for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR)
    mode = document.strict if strict is None else strict
    reading = document.reading
    own = reading.judged_facts(strict=bool(mode), errors=errors)
    return ShownFacts(document.front.source.path, reading.front_matter, inherited or {}, diagnostics, own)


def render_outline(facts: ShownFacts, structure: Structure | None = None) -> str:
    """Return the outline of the facts of a document."""
    rows = list(_rows(facts, structure or Structure()))
    width = max(_WIDTH, *(len(_shown(row.name, _MAX_WIDTH)) for row in rows))
    lines = [f"  {_shown(row.name, _MAX_WIDTH):<{width}} {_shown(row.value, MAX_VALUE)}".rstrip() for row in rows]
    return "\n".join([f"{safe(facts.path)}: {dialect(facts.own['dialect']).title}", *lines])


def _rows(facts: ShownFacts, structure: Structure) -> Iterator[_Row]:
    own = facts.own
    yield from _of_dialect(own, facts)
    if own["dialect"] in _WITH_STRUCTURE and not (own["dialect"] == "ymj" and own.get("calls")):
        yield from _structure(own["dialect"], structure)
    yield _Row("findings", _findings(facts.diagnostics))


def _fields(shown: ShownFacts, *, without: Sequence[str] = ()) -> Iterator[_Row]:
    return _fields_of(shown.front_matter, shown, without)


def _fields_of(fields: Mapping[str, Value] | None, shown: ShownFacts, without: Sequence[str]) -> Iterator[_Row]:
    """Yield the fields of a front matter except those shown elsewhere, and the inherited ones (X33)."""
    if not fields:
        yield _Row("front matter", "none")
    for key, value in (fields or {}).items():
        if key not in without:
            yield _Row(key, _value(value))
    for key, field in shown.inherited.items():
        by = f"  (inherited from {field.by})"
        yield _Row(key, _shown(_value(field.value), MAX_VALUE - len(by)) + by)


def _structure(name: DialectName, structure: Structure) -> Iterator[_Row]:
    headings = [f"{'  ' * (level - 1)}{text}, line {line}" for level, text, line in structure.headings]
    yield from _list("headings", headings)
    if name != "ymj":
        yield from _list("links", [f"{target}, line {line}" for target, line in structure.links])


def _context(facts: shapes.ContextFacts, shown: ShownFacts) -> Iterator[_Row]:
    yield from _fields(shown)
    yield from _list("read by", [f"{host['host']} ({host['kind']}, {host['loaded']})" for host in facts["hosts"]])
    yield from _list("imports", [f"{imported['path']}, line {imported['line']}" for imported in facts["imports"]])
    yield from _list("skills", facts["skills"])


def _program(facts: shapes.MarkdownlangFacts, shown: ShownFacts) -> Iterator[_Row]:
    own = "has none" if (shown.front_matter or {}).get("description") is None else "has no text there"
    derived = f" (derived: the program {own})" if facts["description_derived"] else ""
    yield _Row("name", facts["name"])
    yield _Row("description", _shown(facts["description"], MAX_VALUE - len(derived)) + derived)
    yield _Row("model", facts["model"] or "(the default)")
    yield from _schema("input", facts["input"])
    yield from _schema("output", facts["output"])
    yield from _list("imports", facts["imports"])
    yield from _list("servers", [_server(server) for server in facts["mcp_servers"]])
    yield from _list("sites", facts["mdh"])
    if facts["mailbox"]:
        yield _Row("mailbox", facts["mailbox"]["name"])
    yield from _list("uses", [f".{name}" for name in facts["variables"]])


def _schema(name: str, schema: Value) -> Iterator[_Row]:
    """Yield one line per property; a schema without properties on one line."""
    from prosa.schema.inputs import Declared
    from prosa.schema.walk import References

    if schema is None:
        yield _Row(name, "(missing)")
        return
    references = References(schema)
    declared = Declared(schema, references)
    if not declared.properties:
        yield _Row(name, dump(schema))
        return
    yield from _list(
        name,
        [
            f"{key}: {_type(value, references)}{'' if key in declared.required else ', optional'}"
            for key, value in declared.properties.items()
        ],
    )


def _type(schema: Value, references: References, depth: int = 0) -> str:
    """Return a word or two for the type of a property."""
    from prosa.schema.inputs import accepted_types, first, merged

    if not isinstance(schema, dict):
        return "anything"
    parts = list(merged(schema, references))
    written_type = first(parts, "type")
    if written_type == "array" and depth < MAX_DEPTH and isinstance(items := first(parts, "items"), dict):
        return f"array of {_type(items, references, depth + 1)}"
    if written_type is None:
        return " or ".join(accepted_types(schema, references)) or "anything"
    return " or ".join(str(option) for option in written_type) if isinstance(written_type, list) else str(written_type)


def _server(server: shapes.Server) -> str:
    how = server.get("url") or " ".join((server.get("command") or "(built in)", *server.get("args", ())))
    return f"{server['name']}: {how}{' (disabled)' if server.get('disabled') else ''}"


def _magi(facts: shapes.MagiFacts, shown: ShownFacts) -> Iterator[_Row]:
    yield from _fields(shown)
    states: dict[str | None, str] = {region["script-id"]: region["state"] for region in facts["regions"]}
    yield from _list("scripts", [_script(script, states) for script in facts["scripts"]])
    yield from _list("relationships", [_relationship(relationship) for relationship in facts["relationships"]])
    yield from _list("results", [_region(region) for region in facts["regions"]])


def _script(script: shapes.ScriptBlock, states: Mapping[str | None, str]) -> str:
    """Return a script by its address: its output, its beginning, and whether it has a result."""
    data = script["data"]
    if not isinstance(data, dict):
        return f"{script['address']}, line {script['line']}: cannot be read"
    details = [
        str(data[name]) for name in ("provider", "model-name", "interactive-type", "output-format") if name in data
    ]
    if data.get("auto-run") is True:
        details.append("auto-run")
    details.append(f"result {states[script['script-id']]}" if script["script-id"] in states else "no result")
    return f"{script['address']}, line {script['line']} ({', '.join(details)}): {data.get('prompt', '')}"


def _relationship(entry: shapes.FootnoteRelationship) -> str:
    data = entry["data"]
    target = data.get("doc-id") or data.get("source-url") or "nothing"
    more = [str(data["rel-strength"])] if "rel-strength" in data else []
    more += ["both ways"] if data.get("bi-directional") is True else []
    more += [] if entry["referenced_at"] else ["nothing refers to it"]
    extras = f" ({', '.join(more)})" if more else ""
    return (
        f"[^{entry['ref']}], line {entry['line']}: {data.get('rel-type')} {target}{extras}: {data.get('rel-desc', '')}"
    )


def _mda(facts: shapes.MdaFacts, shown: ShownFacts) -> Iterator[_Row]:
    below = ("metadata", "requires", "depends-on", "relationships", "integrity", "signatures")
    yield from _fields(shown, without=below)
    yield from _list("requires", [f"{name}: {_inline(value)}" for name, value in facts["requires"].items()])
    yield from _list("depends on", [f"{need['name']} {need['range']}" for need in facts["depends_on"]])
    yield from _list("relationships", [_related(relationship) for relationship in facts["relationships"]])
    if (integrity := facts["integrity"]) is not None:
        matches = integrity["matches"]
        state = "not computed" if matches is None else "matches" if matches else "does not match"
        yield _Row("integrity", f"{state}: {integrity.get('digest')}")
    signatures = (
        f"{signature['signer']}, key {signature['key_id']}: {signature['state']}" for signature in facts["signatures"]
    )
    yield from _list("signatures", [*signatures])


def _related(entry: shapes.ListedRelationship) -> str:
    data = entry["data"]
    place = f"[^{entry['ref']}], line {entry['line']}" if entry["ref"] is not None else f"line {entry['line']}"
    return f"{place}: {data.get('rel-type')} {data.get('doc-id')}: {data.get('rel-desc', '')}"


def _inline(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return dump(value) if isinstance(value, dict) else str(value)


def _region(region: shapes.WrittenResult) -> str:
    by = region["answered_by"] or region["model"]
    made = [region["state"], *([f"by {by}"] if by else []), *(["cut off"] if region["cut"] else [])]
    return f"{region['script-id']}, lines {region['line']}–{region['end_line']}: {', '.join(made)}"


def _record(facts: shapes.YmjFacts, shown: ShownFacts) -> Iterator[_Row]:
    yield from _fields_of(facts["header"], shown, ("attachments",))
    footer = facts["footer"] or {}
    yield from _footer(footer)
    yield from _list("attachments", [_attachment(attachment) for attachment in facts["attachments"]])
    yield from _payload(facts["payload"])
    yield from _list("calls", [_call(call) for call in facts.get("calls", ())])
    yield from _list("wikilinks", [f"[[{link['target']}]], line {link['line']}" for link in facts["wikilinks"]])
    yield _Row("accepted", f"{'yes' if facts['accepted'] else 'no'} ({facts['mode']})")


def _call(call: shapes.RecordedCall) -> str:
    """Return a call of a recording: its path, who answered, its tokens, what came of it."""
    used = f", {call['input_tokens']} → {call['output_tokens']} tokens" if call["kind"] == "model" else ""
    where = f" in {call['program']}" if "/" in call["path"] else ""
    return f"{call['path']} {call['name']}{where}{used}, line {call['line']}: {call['said']}"


def _footer(footer: Mapping[str, Value]) -> Iterator[_Row]:
    """Yield the handling options of the footer; edges and names of other records one by one."""
    if not footer:
        yield _Row("footer", "none that can be read")
        return
    index = footer.get("index")
    tags = index.get("tags") if isinstance(index, dict) else None
    if isinstance(tags, list):
        yield _Row("tags", ", ".join(map(str, tags)))
    ops = footer.get("ops")
    ops = ops if isinstance(ops, dict) else {}
    handling = {name: value for name, value in ops.items() if name not in ("attachments", "graph")}
    yield from _list("handling", [f"{name}: {_value(value)}" for name, value in handling.items()])
    graph = ops.get("graph")
    edges = graph.get("edges") if isinstance(graph, dict) else None
    edge_facts = [edge for edge in edges if isinstance(edge, dict)] if isinstance(edges, list) else []
    yield from _list("edges", [f"{edge.get('type')} {edge.get('to')}" for edge in edge_facts])


def _value(value: Value) -> str:
    """Return a text as it is, texts in a row, anything else as JSON."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else dump(value)


def _attachment(attachment: shapes.AttachmentFacts) -> str:
    details = [str(attachment["note"])] if attachment["note"] else []
    details += ["with its hash" if attachment["sha256"] else "without a hash"]
    details += [
        f"{name} {_value(attachment[name])}"
        for name in ("select", "transform", "cache", "auth_ref")
        if attachment[name]
    ]
    return f"{attachment['uri'] or '(no uri)'}: {', '.join(details)}"


def _payload(payload: shapes.PayloadContent | None) -> Iterator[_Row]:
    if payload is None:
        return
    selector = payload["selector"] or "the whole body"
    content = payload["content"]
    if content is None:
        yield _Row(
            "payload", f"{selector}: {'cannot be decoded' if payload['found'] else 'nothing in the body is that'}"
        )
        return
    lines = content.count("\n") + 1
    yield _Row("payload", f"{selector}: {lines} line{'' if lines == 1 else 's'}; see --payload")


def _chat(facts: shapes.PraptiFacts, shown: ShownFacts) -> Iterator[_Row]:
    if shown.front_matter:
        yield from _fields(shown)
    yield from _list(
        "settings",
        [
            f"{assignment['key']} = {dump(assignment['value'])}, line {assignment['line']}"
            for assignment in facts["assignments"]
        ],
    )
    actions = [line for message in facts["messages"] for line in message["config"] if line["kind"] == "action"]
    yield from _list(
        "commands", [f"{action['raw'].strip()}, line {action['line']}" for action in actions if not action["disabled"]]
    )
    sent = frozenset(facts["sent"])
    spoken = [(at, message) for at, message in enumerate(facts["messages"]) if message["line"]]
    yield from _list("messages", [_message(message, sent=at in sent) for at, message in spoken])
    yield _Row("sent", f"{len(sent)} of {len(spoken)}")


def _message(message: shapes.ChatTurn, *, sent: bool) -> str:
    name = f"/{message['name']}" if message["name"] else ""
    content = " ".join(message["content"].split())
    why = "disabled" if message["disabled"] else "hidden" if message["hidden"] else "not sent"
    marks = "" if sent else f" ({why})"
    return f"@{message['role']}{name}, line {message['line']}{marks}: {content or '(empty)'}"


def _node(facts: shapes.MdhFacts, shown: ShownFacts) -> Iterator[_Row]:
    yield from _fields(shown, without=("links", "actions", "action"))
    if facts["md_url"]:
        yield _Row("url", facts["md_url"])
    yield from _list("links", [_link(link) for link in facts["links"]])
    yield from _list("in the text", [f"{link['href']}, line {link['line']}" for link in facts["inline_links"]])
    yield from _list("actions", [line for action in facts["actions"] for line in _action(action)])


def _link(link: shapes.NodeLink) -> str:
    return f"{link['rel'] or 'link'} {link.get('href') or link['target'] or 'nothing'}, line {link['line']}"


def _action(action: Mapping[str, Value]) -> Iterator[str]:
    """Yield an action with its call, and its parameters, marking optional ones."""
    from prosa.schema.walk import References

    title = action.get("description") or action.get("title") or action.get("summary")
    yield f"{action.get('id')}: {action.get('method') or 'GET'} {action.get('url')}{f' ({title})' if title else ''}"
    query = action.get("query")
    query = query if isinstance(query, dict) else {}
    types = query.get("properties")
    types = types if isinstance(types, dict) else {}
    references = References(query)
    for part in ("required", "optional"):
        names = query.get(part)
        for name in names if isinstance(names, list) else []:
            type_text = _type(types.get(name) if isinstance(name, str) else None, references)
            yield f"    {name}: {type_text} in the query{'' if part == 'required' else ', optional'}"
    if action.get("body_schema") is not None:
        yield f"    body: {_value(action['body_schema'])}"
    auth = action.get("auth")
    if isinstance(auth, dict) and auth.get("type") not in (None, "none"):
        yield f"    with a credential: {auth['type']}"


def _skill(facts: shapes.SkillFacts, shown: ShownFacts) -> Iterator[_Row]:
    yield from _fields(shown, without=("allowed-tools",))
    if facts["bare"]:
        yield _Row("name", facts["name"] or "(none)")
        yield _Row("description", facts["description"] or "(none)")
    yield from _list("tools", facts["allowed_tools"])
    yield from _list("parameters", [_parameter(parameter) for parameter in facts["parameters"]])
    yield from _reaches(facts.get("reaches", ()))


def _reaches(reach_lines: Sequence[shapes.ReachLine]) -> Iterator[_Row]:
    """Yield what scripts reach: for each target and file the names, with their lines."""
    for target in sorted({reach["target"] for reach in reach_lines}):
        by_path: dict[str, dict[str, list[str]]] = {}
        for reach in reach_lines:
            if reach["target"] == target:
                name = reach["name"] if reach["method"] == "ast" else f"{reach['name']} (pattern)"
                by_path.setdefault(reach["path"], {}).setdefault(name, []).append(str(reach["line"]))
        lines = (
            f"{path}:{', '.join(places)}  {name}" for path, names in by_path.items() for name, places in names.items()
        )
        yield from _list(target, list(lines))


def _parameter(parameter: shapes.SkillParameter) -> str:
    optional = "" if parameter["required"] else ", optional"
    return f"{parameter['name']}{optional}, line {parameter['line']}: {parameter['description'] or ''}"


def _suite(facts: shapes.TestFacts) -> Iterator[_Row]:
    yield _Row("tests", facts["tests"] or "(missing)")
    yield _Row("repeats", f"{facts['repeat']}, required: {facts['require']}")
    yield from _list("models", facts["models"])
    for name, path in (("rows", facts["rows"]), ("grader", facts["grader"])):
        if path:
            yield _Row(name, path)
    yield from _list("cases", [_case(case) for case in facts["cases"]])


def _case(case: shapes.TestCase) -> str:
    parts = [name for name in ("expect", "run", "grade") if name in case]
    return f"{case['name']}, line {case['line']}: {', '.join(parts) or 'any answer'}"


def _evals(facts: shapes.EvalsFacts) -> Iterator[_Row]:
    yield _Row("skill", facts["skill_name"] or "(that of its folder)")
    if facts["evals"]:
        yield _Row("repeats", f"{facts['repeat'] or 1}, required: {facts['require']}")
    yield from _list("models", facts["models"])
    yield from _list("cases", [_tried(case) for case in facts["evals"]])
    yield from _list("requests", [_request(query) for query in facts["queries"]])


def _tried(case: shapes.SkillCase) -> str:
    decided, graded = len(case["decided"]), len(case["graded"])
    counts = [f"{decided} decided" if decided else "", f"{graded} graded" if graded else ""]
    return f"{case['name']}, line {case['line']}: {', '.join(filter(None, counts)) or 'any answer'}"


def _request(query: shapes.TriggerQuery) -> str:
    belongs = query.get("expected_skill")
    return f"{'yes' if query['should_trigger'] else f'no, {belongs}' if belongs else 'no'}: {query['query']}"


def _of_dialect(facts: DialectFacts, shown: ShownFacts) -> Iterator[_Row]:
    match facts["dialect"]:
        case "markdownlang":
            return _program(facts, shown)
        case "magi":
            return _magi(facts, shown)
        case "mda":
            return _mda(facts, shown)
        case "ymj":
            return _record(facts, shown)
        case "prapti":
            return _chat(facts, shown)
        case "mdh":
            return _node(facts, shown)
        case "skill_md":
            return _skill(facts, shown)
        case "test":
            return _suite(facts)
        case "evals":
            return _evals(facts)
        case "context":
            return _context(facts, shown)
        case "plain":
            return _fields(shown)


_WITH_STRUCTURE = frozenset(("magi", "mda", "skill_md", "context", "plain", "ymj"))
"""Dialects shown as Markdown; for the others more than headings is known."""


def _findings(diagnostics: Sequence[Diagnostic]) -> str:
    return f"{len(diagnostics)}; see: prosa check" if diagnostics else "none"


def _list(name: str, values: Sequence[str]) -> Iterator[_Row]:
    for at, value in enumerate(values[:MAX_ITEMS]):
        yield _Row(name if at == 0 else "", value)
    if len(values) > MAX_ITEMS:
        yield _Row("", f"… and {len(values) - MAX_ITEMS} more; --format json has all of them")


def _shown(value: str, most: int) -> str:
    text = safe(value)
    return text if len(text) <= most else text[: most - 1] + "…"
