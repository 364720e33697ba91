"""Settings that are given for one call, as `KEY=VALUE` with the names of either file.

In: these texts. Out: checked values, which `prosa.settings.read` puts in the place of those of the files. The user
wrote them, so all that the user's own file may choose is allowed (X7).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal

from prosa.diagnostics.nearest import nearest
from prosa.settings.model import SETTINGS, Given, Path, Raw, Setting, SettingValue
from prosa.settings.read import KINDS, MAX_SETTINGS_CHARACTERS, Valid, Wrong, checked


class BadSetting(Exception):
    """A text that sets nothing. ``message`` stands alone; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def given_settings(texts: Sequence[str]) -> Given:
    """Return the settings in these texts. Raises `BadSetting` for the first that is none."""
    levels: dict[str, dict[Path, SettingValue]] = {"user": {}, "project": {}}
    for text in texts:
        level, path, value = _setting(text)
        levels[level].pop(path, None)  # of several globs that match, the last one counts
        levels[level][path] = value
    return Given(levels["user"], levels["project"])


def _setting(text: str) -> tuple[str, Path, SettingValue]:
    """Return the level, the path and the value of one text."""
    key, equals, written = text.partition("=")
    key = key.strip()
    if not equals or not key or len(text.splitlines()) != 1:
        raise BadSetting("it is no setting", "write KEY=VALUE, such as limits.iterations=3")
    match = next(((candidate, path) for candidate in SETTINGS if (path := _path(candidate.path, key.split(".")))), None)
    if match is None:
        near = nearest(key.replace("_", "-"), [candidate.key for candidate in SETTINGS], cutoff=0.75)
        hint = f"did you mean {near}?" if near else "docs/settings.md lists all settings"
        raise BadSetting(f"there is no setting `{key[:60]}`", hint)
    setting, path = match
    raw = next((reading for reading in _readings(written.strip()) if _fits(setting, reading)), written.strip())
    result = checked(path, raw, setting.level)
    if isinstance(result, Valid):
        return setting.level, path, result.value
    raise BadSetting(*((result.message, result.note) if isinstance(result, Wrong) else (f"`{key[:60]}` is a table",)))


def _path(pattern: Path, parts: list[str]) -> Path | None:
    """Return the path that a key of these parts is, where it fits a key of the table: a `*` stands for one part or
    more, without the quotes around them that TOML needs for a dot in a name."""
    if "*" not in pattern:
        return pattern if [_plain(part) for part in parts] == list(pattern) else None
    star = pattern.index("*")
    before, after = pattern[:star], pattern[star + 1 :]
    last = len(parts) - len(after)
    if last <= star or not _match(before, parts[:star]) or not _match(after, parts[last:]):
        return None
    rest = tuple(part if want == "*" else want for want, part in zip(after, parts[last:], strict=True))
    return (*before, _unquoted(".".join(parts[star:last])), *rest)


def _match(pattern: Path, parts: list[str]) -> bool:
    return all(want in ("*", _plain(part)) for want, part in zip(pattern, parts, strict=True))


def _plain(part: str) -> str:
    return part.strip().replace("_", "-")


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'" else name


def _readings(written: str) -> Iterator[Raw]:
    """Yield what a value may be: TOML, a text as it stands, or texts between commas."""
    with suppress(ValueError, RecursionError):
        yield tomllib.loads(f"value = {written[:MAX_SETTINGS_CHARACTERS]}", parse_float=Decimal)["value"]
    yield written
    yield [part.strip() for part in written.split(",")]


def _fits(setting: Setting, raw: Raw) -> bool:
    return KINDS[setting.kind][1](raw) is not None
