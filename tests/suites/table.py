"""The suites, where each is looked for, and why some of their cases differ."""

from __future__ import annotations

from collections.abc import Mapping

from tests.mcp_server.test_peers import BASELINE
from tests.suites.logins import logins
from tests.suites.mda import mda
from tests.suites.peers import mcp, obsidiantools, skills_ref
from tests.suites.standards import commonmark, dotprompt, gfm, gitignore, json_schema
from tests.suites.suite import Suite

GITHUB = "https://github.com/"
ELSEWHERE = "a schema at another address is not fetched"
OURS = "`[[…]]` is a wikilink"
NO_COUNTERPART = "it has no counterpart in a program, stays as text, and the report of the conversion says so"

SCHEMAS = {
    "refRemote": ELSEWHERE,
    "vocabulary": ELSEWHERE,
    "dynamicRef: strict-tree": ELSEWHERE,
    "dynamicRef: tests for implementation": ELSEWHERE,
    "dynamicRef: $ref and $dynamicAnchor": ELSEWHERE,
    "dynamicRef: $ref to $dynamicRef": ELSEWHERE,
    "format:": "a `format` is checked",
}
MARKDOWN = {
    "example 556": OURS,
    "example 567": OURS,
    "example 598": OURS,
    "autolink": "a bare address is not a link",
    "example 645": "comments are those of CommonMark 0.31",
    "example 646": "comments are those of CommonMark 0.31",
    "table 205": "a table without rows has an empty body",
    "tagfilter": "reading keeps all tags; a site leaves out those that are not safe",
}
TYPES = "Go's `eq` does not compare values of different types"
PROMPTS = {
    "ifEquals: type_safety": TYPES,
    "unlessEquals: type_safety": TYPES,
    "picoschema: named_schema": "there is no registry of schemas by name",
    "picoschema: nested_named_schema": "there is no registry of schemas by name",
    **dict.fromkeys(
        ("json", "role: system_only", "section", "partials", "metadata", "media", "history", "unicode: unicode_iter"),
        NO_COUNTERPART,
    ),
}


def _baseline() -> Mapping[str, str]:
    """Return the scenarios that the tests of the server expect to fail."""
    names = (line.strip(" -") for line in BASELINE.read_text(encoding="utf-8").splitlines() if line.startswith("  - "))
    return dict.fromkeys(names, "this server has no such thing, or the protocol gives it up")


LOGINS = {
    "2025-03-26-oauth-metadata-backcompat": "its metadata names an issuer other than its address, against RFC 8414",
    "client-credentials": "an extension for programs without a user",
    "cross-app-access": "an extension for the identity provider of a company",
}

CANVAS = {"Alimenta": "a link to a canvas is a link"}

SUITES: tuple[Suite, ...] = (
    Suite("JSON Schema", "json-schema", f"{GITHUB}json-schema-org/JSON-Schema-Test-Suite", json_schema, SCHEMAS),
    Suite("CommonMark", "commonmark", f"{GITHUB}commonmark/commonmark-spec", commonmark, {}),
    Suite("GFM", "gfm", f"{GITHUB}github/cmark-gfm", gfm, MARKDOWN),
    Suite("gitignore", "gitignore", f"{GITHUB}BurntSushi/ripgrep", gitignore, {}),
    Suite("dotprompt", "dotprompt", f"{GITHUB}google/dotprompt", dotprompt, PROMPTS),
    Suite("skills-ref", "skills-ref", "pip install --target DIR/skills-ref skills-ref", skills_ref, {}),
    Suite("obsidiantools", "obsidiantools", f"{GITHUB}mfarragher/obsidiantools", obsidiantools, CANVAS),
    Suite("MDA", "mda", f"{GITHUB}sno-ai/magi-markdown", mda, {}),
    Suite("MCP, servers", "mcp", "npm install @modelcontextprotocol/conformance", mcp, _baseline()),
    Suite("MCP, clients that log in", "mcp", "npm install @modelcontextprotocol/conformance", logins, LOGINS),
)
