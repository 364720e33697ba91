"""The templates of the pages. In: a name and values. Out: HTML.

Every value is escaped unless it is `Html`, which only what was sanitised may become.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from prosa.data import Value

if TYPE_CHECKING:
    from minijinja import Environment

Html: TypeAlias = str
"""A text that is already HTML, the result of `html`."""


def html(text: str) -> Html:
    """Sanitised HTML as a value that no template escapes again."""
    from minijinja import safe

    return safe(text)


def render(name: str, values: Mapping[str, Any]) -> str:
    """Return the template ``name`` with ``values``."""
    return _environment().render_template(name, **values)


def text_of(name: str) -> str:
    """Return a file beside the templates as text."""
    return files("prosa.render.page").joinpath("files", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    import minijinja

    return minijinja.Environment(
        loader=text_of,
        finalizer=_escaped,
        debug=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined_behavior="strict",
    )


def _escaped(value: Value) -> Value:
    """Return every value of a template passes here, so that paths keep their slashes and None prints nothing."""
    if value is None:
        return ""
    return html(escape(value)) if isinstance(value, str) and not hasattr(value, "__html__") else value
