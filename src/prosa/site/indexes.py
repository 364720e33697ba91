"""Descriptions of the whole site: the indexes of nodes and actions, `llms.txt`, the site map, `robots.txt` (HA1, H6),
and the list of what is in a folder without an `index.md`, so that every node can be reached by links from the root
(H7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from prosa.data import Value
from prosa.dialects.mdh.as_dialect import write
from prosa.site.layout import Form, NodeRow, NodeView, twin_of, url_of

SPEC = "mdh/1.0"

MAX_OVERVIEW = 1_000
"""Nodes that `llms.txt` names; a model reads no longer list."""

MAX_SITEMAP = 50_000
"""Addresses of one site map, as its protocol says."""

OTHERS = "Documents"


def nodes_index(rows: Iterable[NodeRow], prefix: str = "") -> dict[str, Value]:
    """Return `/mdh/nodes.json`."""
    nodes: list[Value] = [
        {"id": row.id, "type": row.type, "title": row.title, "md_url": f"{prefix}{row.url}"} for row in rows
    ]
    return {"spec": SPEC, "nodes": nodes}


def actions_index(actions: Iterable[tuple[str, Mapping[str, Value]]]) -> dict[str, Value]:
    """Return `/mdh/actions.json`, from pairs of a node's id and an action."""
    listed: list[Value] = [{"id": action.get("id"), "node_id": node, **_without_id(action)} for node, action in actions]
    return {"spec": SPEC, "actions": listed}


def overview(
    name: str,
    rows: Sequence[NodeRow],
    *,
    base: str,
    summaries: Mapping[str, str],
    closed: bool,
    static: bool = False,
    indexed: bool = True,
) -> str:
    """Return `/llms.txt`: a description of the site and its nodes, as Markdown. ``base`` precedes URL paths;
    ``summaries`` are by path. For a ``static`` site, features of a server are left out, and the index of
    all nodes for one that has none (not ``indexed``)."""
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
    if indexed:
        more = f", {left:,} more than here" if left > 0 else ""
        lines.append(f"- [All nodes]({base}/mdh/nodes.json): as JSON{more}")
    else:
        lines.append(f"- [All pages]({base}/llms-full.txt): as one text")
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


def robots(base: str, *, closed: bool, signal: str = "") -> str:
    """Return `/robots.txt` (RFC 9309). ``base`` is the absolute address of the site, empty if unknown; ``signal`` says
    what its content may be used for."""
    if closed:
        return "User-agent: *\nDisallow: /\n"
    signal_line = f"Content-Signal: {signal}\n" if signal else ""
    return f"User-agent: *\n{signal_line}Allow: /\n" + (f"Sitemap: {base}/sitemap.xml\n" if base else "")


def _sections(rows: Iterable[NodeRow]) -> dict[str, list[NodeRow]]:
    """Return the nodes by the folder that they lie in below the root; those in the root first."""
    sections: dict[str, list[NodeRow]] = {OTHERS: []}
    for row in rows:
        folder, slash, _ = row.path.partition("/")
        sections.setdefault(folder if slash else OTHERS, []).append(row)
    return {name: some for name, some in sections.items() if some}


def _line(row: NodeRow, base: str, summary: str) -> str:
    summary_part = f": {link_text(summary)}" if summary else ""
    return f"- [{link_text(row.title)}]({base}{link_target(twin_of(row.url, 'markdown'))}){summary_part}"


def _without_id(action: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in action.items() if name != "id"}


MAX_LISTED = 2_000
"""Nodes of one listing; the others are in `/mdh/nodes.json` and found by search."""

_MARKS = str.maketrans({char: f"\\{char}" for char in "\\[]<>*_`#&!|~"})


def listing_of(
    folder: str,
    *,
    site: str,
    folders: Sequence[str],
    nodes: Sequence[NodeRow],
    above: str = "",
    prefix: str = "",
    form: Form | None = None,
) -> NodeView:
    """Return the node of ``folder``, which is empty for the root and ends with `/` otherwise.

    ``site`` is the name of the site, ``folders`` the folders inside by their path, ``nodes`` those directly in it;
    ``above`` is the id of the document that represents the parent folder, empty if none does. ``prefix`` is the path
    of the site, which precedes its links; they lead to one ``form`` of each node if it is set.
    """
    title = folder.rstrip("/").rpartition("/")[2] or site
    own = listing_id(folder)
    fields: dict[str, Value] = {"id": own, "type": "folder", "title": title}
    if folder:
        fields["links"] = [{"rel": "in_section", "target": above or listing_id(folder_above(folder))}]
    inner = [(subfolder[len(folder) :], url_of(f"{subfolder}index.md")) for subfolder in folders]
    if form is not None:
        inner = [(name, twin_of(url, form)) for name, url in inner]
        nodes = [row._replace(url=twin_of(row.url, form)) for row in nodes]
    body = "\n".join(_lines(title, inner, nodes, prefix))
    text = write(fields, f"{body}\n")
    return NodeView(
        path="",
        url=url_of(f"{folder}index.md"),
        dialect="listing",
        id=own,
        type="folder",
        title=title,
        summary="",
        markdown=text.encode("utf-8", "replace"),
        body=f"\n{body}\n",
        fields=fields,
    )


def link_text(text: str) -> str:
    """Return a text that stands inside the brackets of a link as it is, on one line."""
    return " ".join(text.split()).translate(_MARKS) or "untitled"


def link_target(url: str) -> str:
    """Return a URL path as the destination of a link: no character ends the link, and none is a character reference."""
    return url.replace("(", "%28").replace(")", "%29").replace("&", "%26")


def listing_id(folder: str) -> str:
    """Return the id of the node of a folder that no document stands for."""
    return f"folder:/{folder}"


def folder_above(folder: str) -> str:
    """Return the folder around one, as `/` behind it; empty for the root."""
    return folder[: folder.rstrip("/").rfind("/") + 1]


def _lines(title: str, folders: Sequence[tuple[str, str]], nodes: Sequence[NodeRow], prefix: str) -> Iterator[str]:
    yield f"# {link_text(title)}"
    if folders:
        yield "\n## Folders\n"
        yield from (f"- [{link_text(name)}]({prefix}{link_target(url)})" for name, url in folders)
    if nodes:
        yield "\n## Documents\n"
        yield from (f"- [{link_text(row.title)}]({prefix}{link_target(row.url)})" for row in _first(nodes))
    if not folders and not nodes:
        yield "\nThere is nothing here yet."
    if len(nodes) > MAX_LISTED:
        yield f"\n{len(nodes) - MAX_LISTED:,} more are in [the index of nodes]({prefix}/mdh/nodes.json)."


def _first(nodes: Sequence[NodeRow]) -> Sequence[NodeRow]:
    """Return the nodes that are listed, the one that people read first at the top."""
    return sorted(nodes, key=lambda row: not row.path.rpartition("/")[2].lower().startswith("readme."))[:MAX_LISTED]
