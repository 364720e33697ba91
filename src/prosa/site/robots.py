"""The rules of a site for robots (RFC 9309). In: the text of `robots.txt`, and paths as they are sent. Out: whether a
path may be requested, and the delay between two requests. Unknown lines are skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from prosa.regex import regex
from prosa.source.url import normal_path

AGENT = "prosa"
"""The name that groups of rules are chosen by."""

MAX_ROBOTS = 512 * 1024
"""Bytes of the file that are read; the standard requires at least 500 KiB."""

MAX_RULES = 10_000
MAX_DELAY = 3_600.0
"""Maximum `Crawl-delay` in seconds; longer ones are reduced to it."""

_NUMBER = regex(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", re.ASCII)


class Rule(Struct, frozen=True):
    """`Allow` or `Disallow` with its pattern: `*` stands for any text, `$` at its end for the end of the path."""

    allows: bool
    pattern: str

    def matches(self, path: str) -> bool:
        """Return whether a path matches the pattern as a prefix."""
        ends = self.pattern.endswith("$")
        first, *others = (self.pattern[:-1] if ends else self.pattern).split("*")
        if not path.startswith(first):
            return False
        at = len(first)
        for part in others[:-1] if ends and others else others:
            position = path.find(part, at)
            if position < 0:
                return False
            at = position + len(part)
        if not ends:
            return True
        last = others[-1] if others else ""
        return len(path) - len(last) >= at and path.endswith(last) and (bool(others) or at == len(path))


class Robots(Struct, frozen=True):
    """The rules for us. ``delay`` are the seconds of `Crawl-delay`, 0 without one."""

    rules: tuple[Rule, ...] = ()
    delay: float = 0.0

    def allows(self, path: str) -> bool:
        """Return whether a path with its query may be requested: the longest pattern counts, of two equal ones
        `Allow`."""
        if path == "/robots.txt":
            return True
        rules = [rule for rule in self.rules if rule.matches(normal_path(path))]
        return max(rules, key=lambda rule: (len(rule.pattern), rule.allows)).allows if rules else True


ALL = Robots()
"""For a site without a file: every path is allowed."""


def read_robots(text: str, agent: str = AGENT) -> Robots:
    """Return the rules of the groups for ``agent``, else of those for `*`. Never fails."""
    own = _rules(text, agent.lower())
    return own if own is not None else _rules(text, "*") or ALL


def _rules(text: str, agent: str) -> Robots | None:
    """Return what all groups of that agent say together; None where it has no group."""
    rules: list[Rule] = []
    delay, mentioned, inside, naming = 0.0, False, False, False
    for name, value in _lines(text):
        if name == "user-agent":
            named = _product(value) == agent
            inside, naming = named or (naming and inside), True
            mentioned = mentioned or named
            continue
        naming = False
        if not inside:
            continue
        if name in ("allow", "disallow") and value.startswith(("/", "*")) and len(rules) < MAX_RULES:
            rules.append(Rule(name == "allow", normal_path(value)))
        elif name == "crawl-delay" and _NUMBER.fullmatch(value):
            delay = max(delay, min(float(value), MAX_DELAY))
    return Robots(tuple(rules), delay) if mentioned else None


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text[:MAX_ROBOTS].removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _product(value: str) -> str:
    """Return the name of a robot without what stands behind it."""
    match = re.match(r"[A-Za-z_-]+|\*", value)
    return match[0].lower() if match else ""
