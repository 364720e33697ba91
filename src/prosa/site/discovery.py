"""The files by which agents find what a site offers: Agent Skills Discovery 0.2.0, the API catalogue of RFC 9727 as a
linkset (RFC 9264), the card of an MCP server (SEP-2127) with the AI Catalog that names it, and `llms-full.txt`.

In: values. Out: plain data, and text. `app.site.discovery` knows what is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from prosa.data import Value
from prosa.regex import regex

WELL_KNOWN = ".well-known/"
SKILLS = f"{WELL_KNOWN}agent-skills/"
SKILLS_INDEX = f"{SKILLS}index.json"
API_CATALOG = f"{WELL_KNOWN}api-catalog"
SERVER_CARD = f"{WELL_KNOWN}mcp/server-card.json"
AI_CATALOG = f"{WELL_KNOWN}ai-catalog.json"
LLMS_FULL = "llms-full.txt"
OPENAPI = "openapi.json"

LINKED = (SKILLS_INDEX, API_CATALOG, SERVER_CARD, OPENAPI)
"""The files of agents alone."""

SKILLS_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CATALOG_PROFILE = "https://www.rfc-editor.org/info/rfc9727"

JSON = "application/json"
GZIP = "application/gzip"
LINKSET = f'application/linkset+json; profile="{CATALOG_PROFILE}"'
CARD = "application/mcp-server-card+json"
AI_CATALOG_TYPE = "application/ai-catalog+json"

MAX_FULL = 2 * 1024 * 1024
"""Bytes of `llms-full.txt`: half a million tokens, more than most models read at once."""

_CARD_TEXT = 100
_NAMED = regex(r"\.[a-zA-Z]")
_ODD = regex(r"[^a-zA-Z0-9._-]+")


class Link(NamedTuple):
    """A link to one of these files: its relation, its path below the site, its media type."""

    rel: str
    path: str
    media_type: str


class SkillRow(NamedTuple):
    """A skill in the index: the digest of what it is fetched as, and whether that is an archive."""

    name: str
    description: str
    digest: str
    is_archive: bool


def skill_path(name: str, *, is_archive: bool) -> str:
    """Return where a skill is fetched, relative to the folder of the index."""
    return f"{name}.tar.gz" if is_archive else f"{name}/SKILL.md"


def skills_index(rows: Iterable[SkillRow]) -> dict[str, Value]:
    """Return `index.json`. URLs are relative to it, so it is true wherever the site lives."""
    listed: list[Value] = [
        {
            "name": row.name,
            "type": "archive" if row.is_archive else "skill-md",
            "description": row.description,
            "url": skill_path(row.name, is_archive=row.is_archive),
            "digest": f"sha256:{row.digest}",
        }
        for row in rows
    ]
    return {"$schema": SKILLS_SCHEMA, "skills": listed}


def api_catalog(base: str, mcp: str, *, described: bool = True) -> dict[str, Value]:
    """Return the linkset. ``base`` is the address of the site as far as it is known, ``mcp`` that of its MCP server,
    empty without one. A site without an interface of its own is not ``described``."""
    api: dict[str, Value] = {
        "anchor": f"{base}/",
        "service-desc": [{"href": f"{base}/{OPENAPI}", "type": JSON}],
        "service-doc": [{"href": f"{base}/llms.txt", "type": "text/markdown"}],
    }
    sets: list[Value] = [api] if described else []
    if mcp:
        sets.append({"anchor": mcp, "service-desc": [{"href": f"{base}/{SERVER_CARD}", "type": CARD}]})
    items: list[Value] = [{"href": entry["anchor"]} for entry in sets if isinstance(entry, Mapping)]
    return {"linkset": [{"anchor": f"{base}/{API_CATALOG}", "item": items}, *sets]}


def server_card(name: str, url: str, version: str, *, closed: bool) -> dict[str, Value]:
    """Return the card of the MCP server at ``url`` over the site called ``name``."""
    remote: dict[str, Value] = {"type": "streamable-http", "url": url}
    if closed:
        remote["headers"] = [{"name": "Authorization", "isRequired": True, "isSecret": True}]
    title = " ".join(name.split())[:_CARD_TEXT]
    return {
        "$schema": CARD_SCHEMA,
        "name": card_name(name, url),
        "title": title,
        "description": f"Search and read the documents of {title}"[:_CARD_TEXT],
        "version": version,
        "remotes": [remote],
    }


def card_name(name: str, url: str) -> str:
    """Return the name of a server in reverse DNS form: that of its host, and the name of the site; a server
    without a name in DNS is one of this machine."""
    named = urlsplit(url).hostname or ""
    host = ".".join(reversed(named.split("."))) if _NAMED.search(named) else "localhost"
    return f"{_ODD.sub('-', host)}/{_ODD.sub('-', name).strip('-.')[:60] or 'site'}"


def ai_catalog(card: Mapping[str, Value], url: str) -> dict[str, Value]:
    """Return the AI Catalog that names a card; ``url`` is where that is, if it is known, else the card is inside."""
    namespace, _, name = str(card["name"]).partition("/")
    publisher = ".".join(reversed(namespace.split(".")))
    entry: dict[str, Value] = {"identifier": f"urn:air:{publisher}:mcp:{name}", "type": CARD}
    return {"specVersion": "1.0", "entries": [entry | ({"url": url} if url else {"data": dict(card)})]}


class FullPage(NamedTuple):
    """A page of `llms-full.txt`: its title, the address of its Markdown, and its text without front matter."""

    title: str
    url: str
    text: str


def full_text(name: str, pages: Iterable[FullPage], total: int, llms: str, most: int = MAX_FULL) -> str:
    """Return `llms-full.txt`: the pages, as many whole ones as fit, and how many of ``total`` are left out; ``llms`` is
    the address of the list of all."""
    parts, size = [f"# {name}\n"], 0
    for page in pages:
        text = page.text.strip()
        title = "" if text.startswith("# ") else f"# {page.title}\n\n"
        part = f"\n---\n\nSource: {page.url}\n\n{title}{text}\n"
        size += len(part.encode("utf-8", "replace"))
        if size > most:
            break
        parts.append(part)
    left = total - len(parts) + 1
    if left > 0:
        parts.append(f"\n---\n\n{left:,} more pages do not fit into this file. All are in {llms}\n")
    return "".join(parts)


def link_header(links: Iterable[Link], prefix: str) -> str:
    """Return the value of `Link` (RFC 8288)."""
    return ", ".join(f'<{prefix}/{link.path}>; rel="{link.rel}"; type="{_plain(link.media_type)}"' for link in links)


def _plain(media_type: str) -> str:
    return media_type.partition(";")[0]
