"""Descriptions of the whole site: the indexes of nodes and actions, `llms.txt`, the site map, `robots.txt` (HA1, H6).

In: rows of nodes and the actions they declare. Out: plain data and texts. Clients do not need them: every node can be
reached by links from the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from prosa.data import Value
from prosa.site.layout import twin_of
from prosa.site.listing import link_target, link_text
from prosa.site.view import NodeRow

SPEC = "mdh/1.0"

MAX_OVERVIEW = 1_000
"""Nodes that `llms.txt` names; a model reads no longer list."""

MAX_SITEMAP = 50_000
"""Addresses of one site map, as its protocol says."""

OTHERS = "Documents"


def nodes_index(rows: Iterable[NodeRow], prefix: str = "") -> dict[str, Value]:
    """Return `/mdh/nodes.json`."""
    nodes = [{"id": row.id, "type": row.type, "title": row.title, "md_url": f"{prefix}{row.url}"} for row in rows]
    return {"spec": SPEC, "nodes": nodes}


def actions_index(actions: Iterable[tuple[str, Mapping[str, Value]]]) -> dict[str, Value]:
    """Return `/mdh/actions.json`, from pairs of a node's id and an action."""
    listed = [{"id": action.get("id"), "node_id": node, **_without_id(action)} for node, action in actions]
    return {"spec": SPEC, "actions": listed}


def overview(
    name: str, rows: Sequence[NodeRow], *, base: str, summaries: Mapping[str, str], closed: bool, static: bool = False
) -> str:
    """Return `/llms.txt`: a description of the site and its nodes, as Markdown. ``base`` precedes URL paths;
    ``summaries`` are by path. For a ``static`` site, features of a server are left out."""
    lines = [f"# {link_text(name)}", ""]
    how = "" if static else ": ask with `Accept: text/markdown`, or add `.md`"
    lines += [f"> Every page is Markdown with YAML front matter{how}.", ""]
    if closed:
        lines += ["Every request needs `Authorization: Bearer TOKEN`.", ""]
    for section, some in _sections(rows[:MAX_OVERVIEW]).items():
        lines += [f"## {link_text(section)}", ""]
        lines += [_line(row, base, summaries.get(row.path, "")) for row in some]
        lines.append("")
    left = len(rows) - MAX_OVERVIEW
    lines += ["## Optional", ""]
    lines.append(f"- [All nodes]({base}/mdh/nodes.json): as JSON" + (f", {left:,} more than here" if left > 0 else ""))
    if not static:
        lines.append(f"- [All actions]({base}/mdh/actions.json): as JSON")
        lines.append(f"- [Search]({base}/mdh/search?q=): put words behind `q=`")
    return "\n".join(lines) + "\n"


def sitemap(rows: Iterable[NodeRow], base: str) -> str:
    """Return `/sitemap.xml`. ``base`` is the absolute address of the site."""
    entries = [
        f"<url><loc>{escape(base + row.url)}</loc>"
        + (f"<lastmod>{escape(row.updated)}</lastmod>" if row.updated else "")
        + "</url>"
        for row in list(rows)[:MAX_SITEMAP]
    ]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return "\n".join([head, *entries, "</urlset>"]) + "\n"


def robots(base: str, *, closed: bool) -> str:
    """Return `/robots.txt` (RFC 9309). ``base`` is the absolute address of the site, empty if unknown."""
    if closed:
        return "User-agent: *\nDisallow: /\n"
    return "User-agent: *\nAllow: /\n" + (f"Sitemap: {base}/sitemap.xml\n" if base else "")


def _sections(rows: Iterable[NodeRow]) -> dict[str, list[NodeRow]]:
    """Return the nodes by the folder that they lie in below the root; those in the root first."""
    found: dict[str, list[NodeRow]] = {OTHERS: []}
    for row in rows:
        folder, slash, _ = row.path.partition("/")
        found.setdefault(folder if slash else OTHERS, []).append(row)
    return {name: some for name, some in found.items() if some}


def _line(row: NodeRow, base: str, summary: str) -> str:
    said = f": {link_text(summary)}" if summary else ""
    return f"- [{link_text(row.title)}]({base}{link_target(twin_of(row.url, 'markdown'))}){said}"


def _without_id(action: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in action.items() if name != "id"}
