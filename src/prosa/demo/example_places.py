"""Where the examples are: beside this file where prosa is installed, else in the repository around it."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
_REPOSITORY = Path(__file__).parents[3] / "examples"


def ferries() -> Path:
    """Return the example site, with `pages/` and `api.py`. Raises `FileNotFoundError` where neither place has it."""
    return _found("ferries", "api.py", "site")


def skills() -> Path:
    """Return the folder of the example skills. Raises `FileNotFoundError` where neither place has it."""
    return _found("skills", "delay-notice/SKILL.md", "skills")


def reviews() -> Path:
    """Return the folder of the example suite. Raises `FileNotFoundError` where neither place has it."""
    return _found("reviews", "plain.test.md", "reviews")


def _found(name: str, file: str, what: str) -> Path:
    for place in (_HERE / name, _REPOSITORY / name):
        if (place / file).is_file():
            return place
    message = f"the example {what} cannot be found in this installation; install prosa again"
    raise FileNotFoundError(2, message, str(_HERE / name))
