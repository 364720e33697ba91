"""The runner of Prosa, by its public Python interface: `python -m conformance.runners.of_prosa`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import prosa
from conformance.runners.lines import Rejected, Unsupported, loop
from prosa.testing import ScriptedProvider, ScriptProblem

SUFFIXES = {"magi": ".mda", "ymj": ".ymj"}
AGREED = {"MARKDOWNLANG_AGREE": "Trans rights are human rights"}


def do(name: str, op: str, given: dict[str, Any]) -> Any:
    """Answer one request."""
    if (name, op) not in ANSWERS:
        raise Unsupported
    return ANSWERS[name, op](name, given)


@contextmanager
def folder_of(name: str, given: dict[str, Any]) -> Iterator[Path]:
    """Yield the document of a request, in a folder with its other files."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder).resolve() / f"document{SUFFIXES.get(name, '.md')}"
        for file, text in {document.name: given["text"], **given.get("files", {})}.items():
            place = document.parent / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode("utf-8"))
        yield document


def accepted(name: str, given: dict[str, Any]) -> prosa.Document:
    """Return the document. Raises `Rejected` at the first error."""
    with folder_of(name, given) as document:
        strict = True if given.get("mode") == "strict" else None
        found = prosa.check(document, dialect=name, strict=strict, root=document.parent)  # type: ignore[arg-type]
        for each in found:
            if each.severity == "error":
                raise Rejected(each.start.line)
        return prosa.load(document, name)  # type: ignore[arg-type]


def read_magi(name: str, given: dict[str, Any]) -> Any:
    """Return front matter, scripts and relationships."""
    found = accepted(name, given)
    model: Any = found.model
    return {
        "front_matter": found.front_matter,
        "scripts": [{"line": each.line, **each.data} for each in model.scripts],
        "relationships": [{"ref": each.label, "line": each.line, **each.data} for each in model.relationships],
    }


def read_program(name: str, given: dict[str, Any]) -> Any:
    """Return the declarations of a program."""
    model: Any = accepted(name, given).model
    return {
        "name": model.name,
        "description": model.description,
        "model": model.model_name,
        "input": model.input and model.input.value,
        "output": model.output and model.output.value,
        "imports": [each.text for each in model.imports],
        "servers": [
            {"name": each.name, "command": each.command, "args": [*each.args], "url": each.url, "off": each.disabled}
            for each in model.mcp_servers
        ],
    }


def render(_: str, given: dict[str, Any]) -> Any:
    """Return the text of a template."""
    try:
        return prosa.template.Template(given["template"]).render(given["data"])
    except prosa.template.TemplateError as error:
        raise Rejected(error.line) from None


def validate(_: str, given: dict[str, Any]) -> Any:
    """Return whether an instance satisfies a schema."""
    try:
        return not prosa.schema.Schema(given["schema"]).problems(given["instance"])
    except prosa.schema.SchemaError:
        raise Rejected from None


def run(name: str, given: dict[str, Any]) -> Any:
    """Return what a run of a program gave, with fixed replies instead of a model."""
    provider = ScriptedProvider(given.get("replies", []))
    with folder_of(name, given) as document:
        agreed = AGREED if given.get("agreed", True) else {}
        environ = {"HOME": str(document.parent), **agreed}
        try:
            done = prosa.run(document, given.get("input"), provider=provider, environ=environ)
        except (prosa.RunError, ScriptProblem):
            if not given.get("failing"):
                raise Rejected from None
            return {"output": None, **_calls(provider)}
    return {"output": done.output, **_calls(provider)}


def _calls(provider: ScriptedProvider) -> dict[str, Any]:
    calls = provider.requests
    return {
        "calls": len(calls),
        "model": calls[0].model_name if calls else None,
        "tools": sorted(each.name for each in calls[0].tools) if calls else [],
        "first": [{"role": each.role, "content": each.content.strip()} for each in calls[0].messages] if calls else [],
        "last": calls[-1].messages[0].content if calls else "",
    }


def command(_: str, given: dict[str, Any]) -> Any:
    """Return whether the command line of the specification ends with an error."""
    entry = "from prosa.cli.markdownlang import entry; entry()"
    with folder_of("", {"text": "", **given}) as document:
        environ = {**os.environ, "HOME": str(document.parent), **(AGREED if given.get("agreed", True) else {})}
        line = [sys.executable, "-c", entry, *given["arguments"]]
        done = subprocess.run(line, cwd=document.parent, env=environ, capture_output=True, check=False)
    return {"failed": done.returncode != 0}


def read_ymj(name: str, given: dict[str, Any]) -> Any:
    """Return header, body, footer, and what follows from them."""
    model: Any = accepted(name, given).model
    payload = model.payload
    return {
        "header": {key: entry.value.text for key, entry in model.fields.items() if hasattr(entry.value, "text")},
        "body": model.body_text,
        "body_sha256": model.body_sha256,
        "footer": model.footer_value,
        "payload": payload.content if payload is not None and payload.found else None,
        "attachments": [each.facts() for each in model.attachments],
        "wikilinks": [each.target for each in model.document.wikilinks],
        "summary": model.catalog,
    }


def read_node(name: str, given: dict[str, Any]) -> Any:
    """Return the fields of a node, its links and its actions."""
    found = accepted(name, given)
    model: Any = found.model
    front = found.front_matter or {}
    return {
        **{key: each and each.text for key, each in (("id", model.id), ("type", model.type), ("title", model.title))},
        "links": front.get("links", []),
        "actions": front.get("actions", []),
        "inline_links": [each.href for each in model.inline_links],
        "front_matter": front,
    }


def request(_: str, given: dict[str, Any]) -> Any:
    """Return the request of an action."""
    parts = {key: given[key] for key in ("query", "path", "body") if key in given}
    try:
        return prosa.mdh.request(given["action"], parts, site_root=given["site"], token=given.get("token"))
    except prosa.mdh.RequestError:
        raise Rejected from None


def read_chat(name: str, given: dict[str, Any]) -> Any:
    """Return the messages of a chat."""
    found = accepted(name, given)
    model: Any = found.model
    return {
        "messages": [
            {
                "role": each.role,
                "name": each.name,
                "hidden": each.hidden,
                "disabled": each.disabled,
                "line": found.source.position(each.heading.start).line if each.heading else 0,
                "content": each.content.strip(),
            }
            for each in model.messages
        ]
    }


def send(name: str, given: dict[str, Any]) -> Any:
    """Return what a model would get, and with which settings."""
    provider = ScriptedProvider([{"content": "Yes."}])
    with folder_of(name, given) as document:
        try:
            prosa.chat(document, provider=provider, default_config=False, environ={"HOME": str(document.parent)})
        except prosa.RunError:
            raise Rejected from None
    (sent,) = provider.requests
    return {
        "messages": [{"role": each.role, "name": each.name, "content": each.content.strip()} for each in sent.messages],
        "settings": {"model": sent.model_name, **sent.parameters},
    }


ANSWERS = {
    ("magi", "read"): read_magi,
    ("markdownlang", "read"): read_program,
    ("markdownlang", "render"): render,
    ("markdownlang", "validate"): validate,
    ("markdownlang", "run"): run,
    ("markdownlang", "command"): command,
    ("ymj", "read"): read_ymj,
    ("mdh", "read"): read_node,
    ("mdh", "request"): request,
    ("prapti", "read"): read_chat,
    ("prapti", "send"): send,
}
"""What it can do: everything but to be a server, which `prosa serve conformance/site` is."""


if __name__ == "__main__":
    loop(do)
