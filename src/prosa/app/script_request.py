"""What a program that calls asks for: a document or a text, scripts in it or beside it, a choice (M41).

In: plain data. Out: scripts that were loaded, and a `Choice`. Options that contradict each other are a ValueError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from prosa.app.choices import Choices, Surroundings
from prosa.app.scripts import TOOLS, ScriptFile, load_scripts
from prosa.dialects.magi.choosing import Choice
from prosa.runtime.errors import RunError
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.results import Writer

Instructions: TypeAlias = str | Path | Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""Scripts beside a document: the path of a JSON file, or what such a file holds."""

BESIDE = "<scripts>"
"""What instructions that are data are called in messages."""


def choice_of(
    ids: str | Iterable[str], text: str | Mapping[str, str] | None, *, auto: bool, stale: bool, write: bool, **more: Any
) -> Choice:
    """The choice: these, those that ask for it, or all. ``more`` are further fields of `Choice`. Raises ValueError."""
    names = (ids,) if isinstance(ids, str) else tuple(ids)
    if names and auto:
        raise ValueError("`ids` and `auto` choose differently: give one of them")
    texts = dict(text) if isinstance(text, Mapping) else {}
    every, text = not names and not auto, text if isinstance(text, str) else None
    return Choice(names, auto, every, stale, writes=write or stale, text=text, texts=texts, **more)


def requested(
    document: Path | SourceText, scripts: Instructions | None, choice: Choice, choices: Choices, around: Surroundings
) -> ScriptFile:
    """The document with its scripts, or those beside it. Raises `RunError`, `FileProblem`, and ValueError for results
    that have no place."""
    if choice.writes and isinstance(document, SourceText):
        raise ValueError("results are written into a document that is a file, and this is a text")
    if choice.writes and scripts is not None:
        raise ValueError("results are written below blocks of the document, and `scripts` come beside it")
    file = load_scripts(document, choices, around.settings, _beside(scripts))
    if choice.auto:
        _require_trust(file, around)
    return file


def require_tools(names: Iterable[str]) -> tuple[str, ...]:
    """The names of tools that are granted (X15). Raises ValueError for one that does not exist."""
    tools = tuple(dict.fromkeys(names))
    for name in tools:
        if name not in TOOLS:
            raise ValueError(f"there is no tool {name!r}; known: {', '.join(TOOLS)}")
    return tools


def writer_of(file: ScriptFile, choice: Choice, choices: Choices, around: Surroundings) -> Writer | None:
    """What writes results into the document, where that was asked for."""
    from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, config_dir
    from prosa.app.results import writer_for

    if not choice.writes:
        return None
    files = RootedFiles(max_size=choices.max_size or around.settings.max_size or MAX_DOCUMENT_BYTES)
    return writer_for(file, files, config_dir(around.environ), force=choice.force)


def _beside(scripts: Instructions | None) -> Path | SourceText | None:
    """The file of instructions, or the text that data make. Raises TypeError for data that JSON does not have."""
    if scripts is None or isinstance(scripts, str | Path):
        return None if scripts is None else Path(scripts)
    data = dict(scripts) if isinstance(scripts, Mapping) else list(scripts)
    return SourceText(json.dumps(data, ensure_ascii=False, indent=1), BESIDE)


def _require_trust(file: ScriptFile, around: Surroundings) -> None:
    """X7: that a document asks to run by itself is a wish; who trusts it decides."""
    from prosa.adapters.files import config_dir
    from prosa.adapters.files.trust_store import TrustStore

    source = file.trusted_source
    if not TrustStore(config_dir(around.environ)).trusts(Path(source.path), source.digest):
        hint = f"read it, then run: prosa trust {source.path}" if source.digest else "only a file can be trusted"
        raise RunError(f"{source.path} is not trusted, so nothing in it runs by itself", hint=hint)
