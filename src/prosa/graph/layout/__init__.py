"""Where the nodes of a drawing go: positions from links, without overlaps, in pure Python."""

from prosa.graph.layout.arrange import Wanted, arrange
from prosa.graph.layout.box import Box, Size, centred, hull, overlapping

__all__ = ["Box", "Size", "Wanted", "arrange", "centred", "hull", "overlapping"]
