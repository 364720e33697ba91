"""Which result belongs to which ai-script. A model in; the region of each script, and the regions of none, out.

A region says the id of its script. Where several blocks share an id (MA9), it belongs to the one that it stands below;
a region above all of them belongs to the first. Of several regions of one script the first is its result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.regions import Region


@dataclass(frozen=True, slots=True)
class Owners:
    """``regions`` by the place of their script's fence; ``pairs`` in the order of the regions; ``orphans`` are regions
    without a script, ``spare`` those of a script that has another one above."""

    regions: Mapping[int, Region]
    pairs: tuple[tuple[Script, Region], ...]
    orphans: tuple[Region, ...]
    spare: tuple[Region, ...]

    def region_of(self, script: Script) -> Region | None:
        """The result of a script of this document."""
        return self.regions.get(script.fence.span.start)


def owners_of(model: MagiModel) -> Owners:
    """The owners of all regions of a document."""
    named: dict[str, list[Script]] = {}
    for script in model.scripts:
        if script.script_id:
            named.setdefault(script.script_id, []).append(script)
    found: dict[int, Region] = {}
    pairs: list[tuple[Script, Region]] = []
    orphans: list[Region] = []
    spare: list[Region] = []
    for region in model.regions:
        candidates = named.get(region.script_id)
        if candidates is None:
            orphans.append(region)
            continue
        above = bisect_right(candidates, region.span.start, key=_start)
        script = candidates[max(above - 1, 0)]
        if found.setdefault(_start(script), region) is region:
            pairs.append((script, region))
        else:
            spare.append(region)
    return Owners(found, tuple(pairs), tuple(orphans), tuple(spare))


def _start(script: Script) -> int:
    return script.fence.span.start
