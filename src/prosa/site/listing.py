"""The node of a folder that has no `index.md`: a list of what is in it, so that every node can be reached by links
from the root (H7). In: the folder and its nodes. Out: a `NodeView` without a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.data import Value
from prosa.dialects.mdh.as_dialect import write
from prosa.site.layout import twin_of, url_of
from prosa.site.view import Form, NodeRow, NodeView

MAX_LISTED = 2_000
"""Nodes of one listing; the others are in `/mdh/nodes.json` and found by search."""

_MARKS = str.maketrans({each: f"\\{each}" for each in "\\[]<>*_`#&!|~"})


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
    fields: dict[str, Value] = {"id": listing_id(folder), "type": "folder", "title": title}
    if folder:
        fields["links"] = [{"rel": "in_section", "target": above or listing_id(folder_above(folder))}]
    inner = [(each[len(folder) :], url_of(f"{each}index.md")) for each in folders]
    if form is not None:
        inner = [(name, twin_of(url, form)) for name, url in inner]
        nodes = [row._replace(url=twin_of(row.url, form)) for row in nodes]
    body = "\n".join(_lines(title, inner, nodes, prefix))
    text = write(fields, f"{body}\n")
    return NodeView(
        path="",
        url=url_of(f"{folder}index.md"),
        dialect="listing",
        id=fields["id"],
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
