"""The normal form of a node: `actions` for `action`, methods in capital letters, URLs of actions from the root, `url:`
in front of URL targets (HA4, HA9, H11).

The edits are the fixes of the tolerated forms, so nothing else moves, and a document without such forms stays as it is:
formatting twice is formatting once.
"""

from __future__ import annotations

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.mdh.normal import tolerated
from prosa.source import Edit


def format_edits(model: NodeModel, options: FormatOptions) -> tuple[Edit, ...]:
    """The edits that bring a node to its normal form; MDH has no hashes, so ``options`` changes nothing."""
    del options
    return tuple(edit for problem in tolerated(model) if problem.fix for edit in problem.fix.edits)
