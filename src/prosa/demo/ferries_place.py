"""Where the example site is: beside this file where prosa is installed, else in the repository around it."""

from __future__ import annotations

from pathlib import Path

_PLACES = (Path(__file__).parent / "ferries", Path(__file__).parents[3] / "examples" / "ferries")


def ferries() -> Path:
    """The folder with `pages/` and `api.py`. Raises `FileNotFoundError` where neither place has it."""
    for place in _PLACES:
        if (place / "api.py").is_file():
            return place
    raise FileNotFoundError(2, "the example site is not in this installation; install prosa again", str(_PLACES[0]))
