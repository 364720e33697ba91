"""The types of arguments, checked where a function of the Python interface is called: a wrong one is a TypeError that
names the argument, and no failure deep inside. Values are checked by what takes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from prosa.app.options import declared
from prosa.data import Value

P = ParamSpec("P")
T = TypeVar("T")
Kind = TypeVar("Kind")


def checked(work: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises TypeError for an argument of a type that its parameter does not have."""

    @wraps(work)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        require_types(work, args, kwargs)
        return work(*args, **kwargs)

    return call


def require_types(
    work: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object], record: type | None = None
) -> None:
    """Raise TypeError for the first argument of a wrong type. ``record`` declares the further keywords."""
    kinds = _kinds_of(work, record)
    code = getattr(work, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        kind, text = kinds.get(name, (object, ""))
        if not _fits(value, kind):
            raise TypeError(f"{name} is of the type {type(value).__name__}; expected {text}")


@cache
def _kinds_of(work: Callable[..., object], record: type | None) -> dict[str, tuple[object, str]]:
    """Return the type of each parameter, and how it is written."""
    written = {name: kind for name, kind in work.__annotations__.items() if name not in ("return", "options")}
    hints = get_type_hints(SimpleNamespace(__annotations__=written), getattr(work, "__globals__", {}))
    kinds = {name: (kind, str(written[name])) for name, kind in hints.items()}
    return kinds | {option.name: (option.annotation, option.type) for option in (declared(record) if record else ())}


def _fits(value: T, kind: Kind) -> bool:
    """Return whether a value is of a type, as far as the type can be asked."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str)  # which words there are is said by what takes them
    if kind is float or kind is int:
        return hasattr(type(value), "__index__") or (kind is float and hasattr(type(value), "__float__"))
    if kind is Path:
        return isinstance(value, os.PathLike)
    known = origin or kind
    if not isinstance(known, type) or known in (type, Value):
        return True
    if getattr(known, "_is_protocol", False):
        return callable(value) or "__call__" not in vars(known)
    if not isinstance(value, known):
        return False
    if len(parts) != 1 or not isinstance(value, list | tuple | set | frozenset | bytes):
        return True
    return all(_fits(item, parts[0]) for item in value)
