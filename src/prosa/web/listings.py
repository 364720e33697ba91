"""The generated node of a folder, from the catalogue, or from the folder itself while there is none yet."""

from __future__ import annotations

from prosa.app.site.live import LiveSite
from prosa.app.site.unindexed import folder_now
from prosa.dialects.mdh.url import is_reserved
from prosa.site.listing import folder_above, listing_of
from prosa.site.view import Form, NodeView


def folder_view(site: LiveSite, folder: str, *, prefix: str = "", form: Form | None = None) -> NodeView:
    """The node of a folder whose path ends with `/` or is empty. ``prefix`` stands in front of its links, which may
    lead to one ``form`` of each node."""
    if site.index.is_ready:
        catalogue = site.index.catalogue
        folders, rows = catalogue.folders.get(folder, ()), catalogue.nodes_in(folder)
    else:
        folders, rows = folder_now(site, folder)
    folders = tuple(each for each in folders if not is_reserved(f"/{each}"))
    index = site.index.catalogue.index_of(folder_above(folder))
    above = index.id if index is not None else ""
    return listing_of(
        folder, site=site.options.name, folders=folders, nodes=rows, above=above, prefix=prefix, form=form
    )
