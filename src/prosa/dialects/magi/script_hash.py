"""The hash of everything that produces the result of an ai-script (X19): a script and its context in, SHA-256 out.

What counts is what the document says: prompt, system prompt, provider, model, parameters, output format and schema, and
the context that is sent, without results. Line ends, blank lines and white space at the end of a line make no
difference, so that writing a result below a block, or a checkout with other line ends, ages nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from prosa.dialects.magi.context import ContextMode, Visible, section_up_to, visible
from prosa.dialects.magi.model import MagiModel, Script

if TYPE_CHECKING:
    from hashlib import _Hash

DEFAULT_CONTEXT: ContextMode = "document"
"""The context mode of a run that names none, and of a marker that records none (MA11)."""

_MODES: Mapping[str, ContextMode] = {"section": "section", "document": "document", "none": "none"}
_FIELDS = ("prompt", "system-prompt", "provider", "parameters", "output-schema")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Contexts:
    """The contexts of all scripts of a document as hashes, made in one pass: a document with many results, each of
    which was sent all that stands above it, is checked in time linear in its length."""

    model: MagiModel

    def of(self, script: Script, mode: ContextMode) -> list[str]:
        """The hashes of the parts that are sent."""
        if mode == "none":
            return []
        section = self._sections.get(script.fence.span.start, "")
        return [section] if mode == "section" else [self._whole, section]

    @cached_property
    def _seen(self) -> Visible:
        return visible(self.model)

    @cached_property
    def _whole(self) -> str:
        text = hashlib.sha256()
        _add(text, self._seen.text)
        return text.hexdigest()

    @cached_property
    def _sections(self) -> dict[int, str]:
        """By the place of the block: each section is read once, however many blocks stand in it."""
        digests: dict[int, str] = {}
        begin = done = -1
        text = hashlib.sha256()
        for script in self.model.scripts:
            span = section_up_to(self._seen, script)
            if span.start != begin or span.end < done:
                begin = done = span.start
                text = hashlib.sha256()
            _add(text, self._seen.between(done, span.end))
            done = span.end
            digests[script.fence.span.start] = text.hexdigest()
        return digests


def script_hash(
    model: MagiModel, script: Script, context: str, model_name: str, *, contexts: Contexts | None = None
) -> str:
    """64 hex digits. ``context`` is the mode: section, document or none; any other word is the default.

    ``model_name`` is the model that answers. It counts only where the block names none: `--model` for one run makes no
    result stale for those who run without it, and a result is compared with the model that its own marker records.
    ``contexts`` saves making them again.
    """
    said = {name: script.fields.value(name) for name in _FIELDS if name in script.fields}
    said["model-name"] = script.fields.text("model-name") or model_name
    said["output-format"] = script.output_format
    mode = context_mode(context)
    said["context"] = [mode, *(contexts or Contexts(model)).of(script, mode)]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def context_mode(word: str) -> ContextMode:
    """The context mode of a word."""
    return _MODES.get(word, DEFAULT_CONTEXT)


def _add(digest: _Hash, text: str) -> None:
    """The lines that say something. Marks of quotations alone say nothing: they may be left over around a block, and a
    byte-order mark is one only where nothing stands in front of it."""
    for line in _LINE_END.split(text.replace("\ufeff", "")):
        if line.replace(">", "").strip():
            digest.update(line.rstrip().encode("utf-8", "surrogatepass") + b"\n")
