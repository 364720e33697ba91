"""Baselines: the findings of a project that are known, so that a check fails for new ones alone.

In: diagnostics, and the path of each from the folder of the baseline. Out: which are known, which entries are stale,
the next baseline. A finding is known by its rule, its path and the text of its line, blank space aside, and as often
as it was there: moving a line makes nothing new, and neither does renaming a file. No text is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from prosa.diagnostics import Diagnostic
from prosa.source.files import sha256

VERSION = 1
"""The version of the form of a baseline."""

MAX_BYTES = 64_000_000
"""Bytes of a baseline that is read."""

_DIGITS = 16
"""Hexadecimal digits that stand for a line; two lines of one file hardly ever share them."""

Key: TypeAlias = tuple[str, str]
"""A rule, and the digest of a line."""

Entries: TypeAlias = Mapping[str, Mapping[Key, int]]
"""How many findings of each key a file has, by its path."""


class BaselineError(ValueError):
    """A text is no baseline that can be read; the message says why."""


class _Stored(Struct, rename={"version": "prosa-baseline"}):
    version: int
    findings: dict[str, dict[str, dict[str, int]]] = {}


class Split(Struct, frozen=True):
    """The findings of a check under a baseline: the ``new`` ones, the ``known`` ones, and how many entries are
    ``stale``: nothing was found for them."""

    new: tuple[Diagnostic, ...]
    known: tuple[Diagnostic, ...]
    stale: int


def read_baseline(text: str) -> Entries:
    """Return the entries of a baseline. Raises `BaselineError`."""
    text = text.removeprefix("\ufeff")  # an editor may have written one
    try:
        head = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        version = msgspec.json.decode(head.get("prosa-baseline", b"null"))
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise BaselineError(f"is not a baseline: {error}") from None
    if not isinstance(version, int):
        raise BaselineError("is not a baseline: it has no `prosa-baseline` with a version")
    if version != VERSION:
        raise BaselineError(f"has version {version} of the form of baselines, and this Prosa reads version {VERSION}")
    try:
        stored = msgspec.json.decode(text, type=_Stored)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BaselineError(f"is damaged: {error}") from None
    return {
        path: {(rule, line): count for rule, lines in rules.items() for line, count in lines.items()}
        for path, rules in stored.findings.items()
    }


def baseline_text(entries: Entries) -> str:
    """Return the text of a baseline: sorted, one entry on a line, so that two branches merge."""
    findings: dict[str, dict[str, dict[str, int]]] = {}
    for path in sorted(entries):
        for (rule, line), count in sorted(entries[path].items()):
            if count > 0:
                findings.setdefault(path, {}).setdefault(rule, {})[line] = count
    data = msgspec.json.encode(_Stored(VERSION, findings))
    return msgspec.json.format(data, indent=1).decode() + "\n"


def entries_of(diagnostics: Sequence[Diagnostic], paths: Sequence[str]) -> Entries:
    """Return the entries for diagnostics, each at its path."""
    entries: dict[str, Counter[Key]] = {}
    for diagnostic, path in zip(diagnostics, paths, strict=True):
        entries.setdefault(path, Counter())[_key(diagnostic)] += 1
    return entries


def split(
    diagnostics: Sequence[Diagnostic],
    paths: Sequence[str],
    entries: Entries,
    *,
    checked: Collection[str],
    gone: Collection[str],
) -> Split:
    """Return which of the diagnostics, each at its path, are known. ``checked`` are the paths of all checked documents,
    ``gone`` those of the baseline that are no files any more: a document that the baseline does not know takes the
    entries of the one among them that it has most in common with."""
    names = _renamed(entries_of(diagnostics, paths), entries, gone)
    left = {path: Counter(entries[path]) for path in entries}
    new: list[Diagnostic] = []
    known: list[Diagnostic] = []
    for diagnostic, path in zip(diagnostics, paths, strict=True):
        counts, key = left.get(names.get(path, path)), _key(diagnostic)
        if counts is not None and counts[key] > 0:
            counts[key] -= 1
            known.append(diagnostic)
        else:
            new.append(diagnostic)
    judged = {*checked, *gone, *names.values()}
    return Split(tuple(new), tuple(known), sum(sum(left[path].values()) for path in left if path in judged))


def kept(entries: Entries, checked: Collection[str], gone: Collection[str]) -> Entries:
    """Return the entries that a check of some documents says nothing about."""
    judged = {*checked, *gone}
    return {path: counts for path, counts in entries.items() if path not in judged}


def count(entries: Entries) -> int:
    """Return how many findings a baseline holds."""
    return sum(sum(counts.values()) for counts in entries.values())


def _key(diagnostic: Diagnostic) -> Key:
    line = " ".join(diagnostic.source.lines.line_text(diagnostic.start.line).split()) if diagnostic.source.text else ""
    return diagnostic.rule, sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _renamed(fresh: Entries, entries: Entries, gone: Collection[str]) -> dict[str, str]:
    """Return the former path of each document that was renamed: most findings in common come first, each once."""
    free = [path for path in sorted(gone) if path in entries]
    new = [path for path in fresh if path not in entries]
    if not free or not new:
        return {}
    holders: dict[Key, list[str]] = {}
    for path in free:
        for key in entries[path]:
            holders.setdefault(key, []).append(path)
    common = Counter(pair for path in new for pair in _shared(path, fresh[path], entries, holders))
    names: dict[str, str] = {}
    for (path, former), _ in sorted(common.items(), key=lambda item: (-item[1], item[0])):
        if path not in names and former not in names.values():
            names[path] = former
    return names


MAX_HOLDERS = 20
"""Files of one key that are compared; a line that more of them have tells them not apart."""


def _shared(path: str, keys: Mapping[Key, int], entries: Entries, holders: Mapping[Key, list[str]]) -> Iterator[Key]:
    for key, number in keys.items():
        for former in holders.get(key, ())[:MAX_HOLDERS]:
            yield from [(path, former)] * min(number, entries[former][key])
