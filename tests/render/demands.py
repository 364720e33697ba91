"""What the readers of reports demand, written down here: JUnit XML as build servers check it, SARIF 2.1.0 as its schema
says.

The names and the rules are those of Jenkins' `junit-10.xsd` and of the OASIS schema `sarif-schema-2.1.0.json`, as far
as this program writes them; whatever stands in none of them is refused, as both refuse it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator


class Element(NamedTuple):
    """An element of JUnit XML: attributes that it must have, that it may have, and what may stand in it."""

    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    children: frozenset[str] = frozenset()
    has_text: bool = False


def _element(must: str = "", may: str = "", children: str = "", *, has_text: bool = False) -> Element:
    return Element(frozenset(must.split()), frozenset(may.split()), frozenset(children.split()), has_text)


JUNIT = {
    "testsuites": _element("", "name time tests failures errors", "testsuite"),
    "testsuite": _element(
        "name tests failures errors",
        "group time skipped timestamp hostname id package file log url",
        "testsuite properties testcase system-out system-err",
    ),
    "testcase": _element("name", "time classname group", "skipped error failure system-out system-err"),
    "properties": _element(children="property"),
    "property": _element("name value"),
    **{name: _element("", "type message", has_text=True) for name in ("failure", "error", "skipped")},
    **{name: _element(has_text=True) for name in ("system-out", "system-err")},
}


def junit_complaints(report: str) -> list[str]:
    """What a build server would refuse."""
    root = ElementTree.fromstring(report)
    return list(_complaints(root)) if root.tag == "testsuites" else [f"begins with {root.tag}"]


def _complaints(found: ElementTree.Element) -> Iterator[str]:
    known = JUNIT[found.tag]
    yield from (f"{found.tag} lacks {name}" for name in known.must - set(found.attrib))
    yield from (f"{found.tag} has {name}" for name in set(found.attrib) - known.must - known.may)
    texts = [found.text, *(each.tail for each in found)]
    if not known.has_text and any(text and text.strip() for text in texts):
        yield f"{found.tag} has text"
    for each in found:
        if each.tag not in known.children:
            yield f"{found.tag} holds {each.tag}"
        else:
            yield from _complaints(each)


def _object(must: str = "", /, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"properties": {"$ref": "#/$defs/bag"}, **properties},
        "required": must.split(),
        "additionalProperties": False,
    }


def _list(of: Any, *, least: int = 0, unique: bool = False) -> dict[str, Any]:
    return {"type": "array", "items": of, "minItems": least, "uniqueItems": unique}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


TEXT = {"type": "string"}
PLACE = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}

SARIF = {
    **_object("version runs", version={"const": "2.1.0"}, runs=_list(_ref("run"))),
    "$defs": {
        "bag": {"type": "object", "properties": {"tags": _list(TEXT, unique=True)}},
        "message": {**_object("", text=TEXT, id=TEXT), "anyOf": [{"required": ["text"]}, {"required": ["id"]}]},
        "words": _object("text", text=TEXT, markdown=TEXT),
        "run": _object(
            "tool",
            tool=_object("driver", driver=_ref("driver")),
            invocations=_list(_object("executionSuccessful", executionSuccessful={"type": "boolean"})),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results=_list(_ref("result")),
        ),
        "driver": _object("name", name=TEXT, semanticVersion=TEXT, rules=_list(_ref("rule"), unique=True)),
        "rule": _object(
            "id",
            id=TEXT,
            name=TEXT,
            shortDescription=_ref("words"),
            fullDescription=_ref("words"),
            help=_ref("words"),
            defaultConfiguration=_object("", level=LEVEL),
        ),
        "result": _object(
            "message",
            ruleId=TEXT,
            ruleIndex={"type": "integer", "minimum": -1},
            level=LEVEL,
            message=_ref("message"),
            locations=_list(_ref("location")),
            relatedLocations=_list(_ref("location"), unique=True),
            fixes=_list(_ref("fix"), unique=True),
            partialFingerprints={"type": "object", "additionalProperties": TEXT},
        ),
        "location": _object("", physicalLocation=_ref("place"), message=_ref("message")),
        "place": _object("artifactLocation", artifactLocation=_ref("artifact"), region=_ref("region")),
        "artifact": _object(
            "",
            uri={"type": "string", "pattern": r"^[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*$"},
            uriBaseId={"const": "%SRCROOT%"},
        ),
        "region": _object("", startLine=PLACE, startColumn=PLACE, endLine=PLACE, endColumn=PLACE),
        "fix": _object(
            "artifactChanges",
            description=_ref("message"),
            artifactChanges=_list(_ref("change"), least=1, unique=True),
        ),
        "change": _object(
            "artifactLocation replacements",
            artifactLocation=_ref("artifact"),
            replacements=_list(_ref("replacement"), least=1),
        ),
        "replacement": _object("deletedRegion", deletedRegion=_ref("region"), insertedContent=_object("", text=TEXT)),
    },
}
SARIF["properties"]["$schema"] = {"type": "string", "format": "uri"}
_SARIF = Draft202012Validator(SARIF)


def sarif_complaints(report: Any) -> list[str]:
    """What a reader of SARIF would refuse."""
    found = [f"{error.json_path}: {error.message}" for error in _SARIF.iter_errors(report)]
    for run in report["runs"]:
        rules = run["tool"]["driver"]["rules"]
        wrong = [each["ruleId"] for each in run["results"] if rules[each["ruleIndex"]]["id"] != each["ruleId"]]
        found += [f"{each} is another rule than its index says" for each in wrong]
    return found


GITLAB = {
    "$defs": {},
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "additionalProperties": False,
                "properties": {
                    "path": {"type": "string", "not": {"pattern": r"^\./"}},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "additionalProperties": False,
                        "properties": {"begin": PLACE, "end": PLACE},
                    },
                },
            },
        },
    },
}
"""A Code Quality report, as GitLab documents its fields."""

_RANGE = {
    "type": "object",
    "required": ["start"],
    "additionalProperties": False,
    "properties": {
        name: {
            "type": "object",
            "required": ["line"],
            "additionalProperties": False,
            "properties": {"line": PLACE, "column": PLACE},
        }
        for name in ("start", "end")
    },
}
_LOCATION = {
    "type": "object",
    "required": ["path"],
    "additionalProperties": False,
    "properties": {"path": TEXT, "range": _RANGE},
}
RDJSON = {
    "type": "object",
    "required": ["message", "location"],
    "additionalProperties": False,
    "properties": {
        "message": TEXT,
        "location": _LOCATION,
        "severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
        "source": {"type": "object", "required": ["name"], "properties": {"name": TEXT, "url": TEXT}},
        "code": {"type": "object", "properties": {"value": TEXT, "url": TEXT}},
        "suggestions": _list(
            {
                "type": "object",
                "required": ["range", "text"],
                "additionalProperties": False,
                "properties": {"range": _RANGE, "text": TEXT},
            }
        ),
        "original_output": TEXT,
        "related_locations": _list(
            {
                "type": "object",
                "required": ["location"],
                "additionalProperties": False,
                "properties": {"message": TEXT, "location": _LOCATION},
            }
        ),
    },
}
"""A line of reviewdog's Diagnostic Format, by the names of its `reviewdog.proto`."""


def complaints(schema: dict[str, Any], value: Any) -> list[str]:
    """What a reader that demands this would refuse."""
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


def checkstyle_complaints(report: str) -> list[str]:
    """What a reader of Checkstyle's XML would refuse."""
    root = ElementTree.fromstring(report)
    found = [] if (root.tag, root.get("version")) == ("checkstyle", "4.3") else ["is not a checkstyle 4.3"]
    for file in root:
        found += [] if file.tag == "file" and "name" in file.attrib else ["a file without a name"]
        for error in file:
            wanted = {"line", "column", "severity", "message", "source"}
            good = error.tag == "error" and set(error.attrib) == wanted
            good = good and error.get("severity") in ("ignore", "info", "warning", "error")
            found += [] if good and int(error.get("line", 0)) > 0 else [f"an error with {error.attrib}"]
    return found
