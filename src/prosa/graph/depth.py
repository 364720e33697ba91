"""How deep a graph goes: the longest chain to every node. Cycles count as one step; linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prosa.graph.cycles import Key, components


def chain_depths(edges: Mapping[Key, Sequence[Key]]) -> dict[Key, int]:
    """For every node the number of edges on the longest chain that ends at it; 0 where nothing points at a node.

    Nodes of one cycle share their depth: how often a cycle is walked is not a question of depth.
    """
    groups = components(edges)
    group_of = {node: number for number, group in enumerate(groups) for node in group}
    depth = [0] * len(groups)
    for number in range(len(groups) - 1, -1, -1):  # components come after what they point at, so walk backwards
        for node in groups[number]:
            for target in edges[node]:
                other = group_of.get(target)
                if other is not None and other != number:
                    depth[other] = max(depth[other], depth[number] + 1)
    return {node: depth[number] for node, number in group_of.items()}
