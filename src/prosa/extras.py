"""The optional libraries: the modules of each extra, and the message about a missing one.

In: the name of an extra, or of a module that could not be imported. Out: whether it is installed, and the command that
installs it. Nothing is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple, TypeVar

Problem = TypeVar("Problem", bound=Exception)


class Extra(NamedTuple):
    """The module that an extra installs, and what it is for."""

    module: str
    purpose: str


EXTRAS = {
    "batch": Extra("psycopg", "batches that many workers share, over PostgreSQL"),
    "embedded": Extra("xllamacpp", "a model in a process of its own, `--model embedded`"),
    "improve": Extra("gepa", "the search of `prosa improve`"),
    "lsp": Extra("pygls", "the language server for editors, `prosa lsp`"),
    "otel": Extra("opentelemetry.exporter.otlp.proto.http", "traces of runs, with `--otel`"),
    "parquet": Extra("duckdb", "rows of Parquet files in `prosa batch`"),
    "semantic": Extra("numpy", "search by meaning over large corpora"),
    "signatures": Extra("cryptography", "signatures that `prosa check --keys` verifies"),
    "tokens": Extra("splintr", "exact counts of tokens in `prosa plan`"),
    "uvloop": Extra("uvloop", "`prosa serve` for many readers, with half the processor time of an answer"),
    "watch": Extra("watchfiles", "`--watch`, and a server that sees changes at once"),
}
"""Extras by name."""

EMPTY = ("anthropic", "google")
"""Extras that install nothing any more, and are kept for those who name them."""

LIBRARIES = (
    "genai_prices",
    "httpcore2",
    "httptools",
    "httpx2",
    "mcp",
    "minijinja",
    "nh3",
    "pygments",
    "uvicorn",
)
"""Modules that `prosa` installs beside those of `prosa-core`, for runs and sites."""

PUBLISHED = False
"""Whether the names on the package index belong to this project (X44). `tools.packaging.owner` writes it."""

_CHECKOUT = "in a checkout of Prosa: pip install"

ALL = "pip install prosa" if PUBLISHED else f"{_CHECKOUT} . ./sandbox ./packaging/prosa"
"""The command that installs everything but the extras: what `prosa-core` alone is without."""


def is_installed(extra: str) -> bool:
    """Return whether the module of an extra can be found."""
    try:
        return find_spec(EXTRAS[extra].module) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False


def install_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f'pip install "prosa[{extra}]"' if PUBLISHED else f'{_CHECKOUT} ".[{extra}]"'


def lacking(kind: Callable[..., Problem], what: str, extra: str) -> Problem:
    """Return a problem of the ``kind`` that a caller raises, which takes a message and a ``hint``: ``what`` needs an
    extra."""
    module = EXTRAS[extra].module.partition(".")[0]
    return kind(f"{what} needs the library `{module}`, which is not installed", hint=install_line(extra))


def line_for_module(module: str) -> str:
    """Return the command that installs a library of Prosa's, or of one of its extras, by the module that was
    missing."""
    top = module.partition(".")[0]
    brings = (name for name, entry in EXTRAS.items() if entry.module.partition(".")[0] == top)
    extra = next(brings, None)
    return install_line(extra) if extra else ALL
