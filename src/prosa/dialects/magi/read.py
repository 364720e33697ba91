"""Read a MAGI document: its front reading and parsed body in, `MagiModel` and problems out (M1–M51).

Never fails, opens nothing, runs nothing. Reported here is what one part shows by itself; what weighs one part against
another, or one document against others, is found by rules. The problems of `FrontReading` itself are not repeated.
"""

from __future__ import annotations

from prosa.diagnostics import Problem
from prosa.dialects.front import FrontReading
from prosa.dialects.magi.front_fields import read_front_fields
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.regions import inside, read_regions
from prosa.dialects.magi.relationships import read_relationships
from prosa.dialects.magi.scripts import read_scripts
from prosa.document import Document


def read(front: FrontReading, document: Document) -> tuple[MagiModel, tuple[Problem, ...]]:
    """The document and everything that is wrong with the text of it."""
    fields, field_problems = read_front_fields(front)
    regions, stray = read_regions(document)
    within = inside(regions)
    scripts, script_problems = read_scripts(document, within)
    relationships, relationship_problems = read_relationships(document, within)
    model = MagiModel(front, document, fields, scripts, relationships, regions, stray)
    return model, (*field_problems, *script_problems, *relationship_problems)
