"""Completion at an offset of a document, in any context.

In: a workspace, a real path, an offset. Out: `Completions`, each an exact change of the typed text. It also works in a
document that cannot be parsed yet, since the context is found from lines. The names of other documents come from
memory; before the corpus has been read only the document itself is used. Nothing is run and nothing fetched.
"""

from __future__ import annotations

from pathlib import Path

from prosa.app.check.workspace import Workspace
from prosa.app.editor.candidates import NOTHING, Completions
from prosa.app.editor.complete_body import body_completions, fence_completions, front_words
from prosa.app.editor.complete_data import data_completions
from prosa.app.editor.complete_settings import settings_completions
from prosa.app.editor.complete_template import template_completions, template_spot
from prosa.app.editor.spot import EditorSpot
from prosa.settings.model import PROJECT_FILES

TRIGGERS = ("[", "(", "#", "^", "{", ".", "$", "|", "@", "/", "%", '"', ":", " ", "-", "`", "!")
"""Characters behind which something may be offered that was not there before."""


def complete(workspace: Workspace, path: Path, offset: int) -> Completions:
    """Return the completions at an offset, if there are any."""
    spot = EditorSpot.at(workspace, path, offset)
    if spot is None:
        return NOTHING
    if path.name in PROJECT_FILES:
        return settings_completions(spot)
    part = spot.standing.part
    if part == "front":
        words = front_words(spot)
        return words if words is not None else _of_data(spot)
    if part == "mark":
        return NOTHING
    if (found := template_spot(spot)) is not None:
        return template_completions(spot, *found)
    if part == "opening":
        return fence_completions(spot)
    made = _of_data(spot)
    return made if made.items or part == "fence" else body_completions(spot)


def _of_data(spot: EditorSpot) -> Completions:
    data = spot.data
    return data_completions(spot, data) if data is not None else NOTHING
