"""The templates of the pages with their style and scripts.

Every value in a template is escaped unless it is `Html`, which only what was sanitised may become. The address of a
file changes with its content, so that a browser may keep it for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from prosa.data import Value
from prosa.render.page.model import Frame

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


_MEDIA_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "actions.js": "text/javascript; charset=utf-8",
    "records.css": "text/css; charset=utf-8",
    "records.js": "text/javascript; charset=utf-8",
    "search.js": "text/javascript; charset=utf-8",
    "scripts.js": "text/javascript; charset=utf-8",
}
_MARK = 10
"""Hexadecimal digits of the hash in an address."""


class _Assets(Mapping[str, tuple[str, bytes]]):
    """The files by name, each read on first access."""

    def __getitem__(self, name: str) -> tuple[str, bytes]:
        return _MEDIA_TYPES[name], _read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MEDIA_TYPES)

    def __len__(self) -> int:
        return len(_MEDIA_TYPES)


@cache
def _read(name: str) -> bytes:
    return text_of(name).encode("utf-8")


ASSETS: Mapping[str, tuple[str, bytes]] = _Assets()
"""Name → media type and bytes."""


def asset_url(frame: Frame, name: str) -> str:
    """Return where a page finds the file ``name``. Raises `KeyError` for one that is not there."""
    return f"{frame.prefix}/mdh/assets/{name}?v={_digest(name)}"


@cache
def _digest(name: str) -> str:
    return sha256(ASSETS[name][1]).hexdigest()[:_MARK]
