"""Reading settings: from the text of a file to `Settings` and the problems found, each at its key (X7).

In: the text of a user's `settings.toml`, or of a project's `prosa.toml` or `pyproject.toml` (`[tool.prosa]`). Out: the
valid settings, and a problem for each other one. A project may name a model and say how its documents are checked;
endpoints, keys, tools and permissions in it are refused, with a hint on how to allow them. It opens no files.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.diagnostics import Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.settings.model import (
    PROTOCOLS,
    REFUSED,
    SETTINGS,
    SIGNALS,
    GlobSettings,
    Level,
    ModelSettings,
    Path,
    Price,
    ProviderSettings,
    Raw,
    ServerSettings,
    Setting,
    Settings,
    SettingValue,
)
from prosa.source import LineIndex, Span
from prosa.source.wildmatch import MAX_GLOB, is_glob

NONE: Mapping[Path, SettingValue] = {}

# One more than the longest key of the table; anything nested deeper is unknown.
MAX_DEPTH = 4

# Longer names and values are cut in messages, and not compared with ours.
MAX_NAME = 64

# A file with more mistakes than this is some other file; finding the nearest name for each costs time.
MAX_PROBLEMS = 50

_BY_GLOB = frozenset({"dialects", "schemas", "per-glob"})

# What the writer of a settings file chooses, for each table.
_CHOSEN: Mapping[str, str] = {
    **dict.fromkeys(_BY_GLOB, "a glob"),
    "relations": "a field of front matter",
    "endpoints": "the base URL",
    "providers": "the name of the provider",
    "sites": "the origin of the site",
    "servers": "the origin of the MCP server",
    "prices": "the name of the model",
    "models": "the name of the model",
}


def read_user_settings(
    text: str, overrides: Mapping[Path, SettingValue] = NONE
) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the user's own settings, with the ``overrides`` of this call. Invalid ones are left out and
    reported."""
    values, problems = _read(text, "user", (), overrides)
    return _user(values), problems


def read_project_settings(
    text: str, source: str = "prosa.toml", overrides: Mapping[Path, SettingValue] = NONE
) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings of a project, with the ``overrides`` of this call; ``source`` is the name of the
    file: in `pyproject.toml` only `[tool.prosa]` counts."""
    inside = ("tool", "prosa") if source.endswith("pyproject.toml") else ()
    values, problems = _read(text, "project", inside, overrides)
    return _project(values), problems


def _read(
    text: str, level: Level, inside: Path, overrides: Mapping[Path, SettingValue]
) -> tuple[dict[Path, SettingValue], tuple[Problem, ...]]:
    """Return the checked values of one level by path, and what is wrong with the others."""
    tree, problems = load(text, inside)
    spans = key_spans(text) if tree else {}
    values: dict[Path, SettingValue] = {}
    for path, raw in _leaves(tree):
        outcome = checked(path, raw, level)
        if path in values:
            outcome = Wrong(
                "bad-setting", f"`{'.'.join(path)}` is set twice, with `-` and with `_`", "delete one of them"
            )
            problems.append(outcome.at(_last_span(text, (*inside, *path)) or span_of(spans, (*inside, *path))))
        elif isinstance(outcome, Valid):
            values[path] = outcome.value
        elif outcome is not None:
            problems.append(outcome.at(span_of(spans, (*inside, *path))))
        if len(problems) == MAX_PROBLEMS:
            break
    values = {path: value for path, value in values.items() if path not in overrides} | dict(overrides)
    problems += [wrong.at(span_of(spans, path)) for path, wrong in _half_prices(values)]
    return values, tuple(problems)


class Valid(Struct, frozen=True):
    """A value that passed its check."""

    value: SettingValue


class Wrong(Struct, frozen=True):
    """What is wrong with a setting, before its place is known."""

    rule: str
    message: str
    note: str = ""
    severity: Severity = Severity.ERROR

    def at(self, span: Span) -> Problem:
        """Return the problem at its place."""
        return Problem(self.rule, self.message, span, (self.note,) if self.note else (), severity=self.severity)


def checked(path: Path, raw: Raw, level: Level) -> Valid | Wrong | None:
    """Return the value of a setting, or what is wrong with it; None for an empty table where one is allowed."""
    name = ".".join(path)
    setting = next((candidate for candidate in SETTINGS if _matches(candidate.path, path)), None)
    if level == "project" and (how := _refusal(path, setting)):
        return Wrong("refused-setting", f"a project cannot set `{name}`", how)
    if setting is None:
        return None if raw == {} and _is_table(path, level) else _unknown(path, level)
    if setting.level != level:
        note = "it is a setting of a project: move it to prosa.toml"
        return Wrong("misplaced-setting", f"`{name}` has no effect here", note, Severity.WARNING)
    expected, convert = KINDS[setting.kind]
    value = convert(raw)
    if value is None:
        # Where a variable name is expected, the user may have written the key itself; it is never shown (X7).
        fault = "" if setting.kind == "variable" else _fault(raw)
        return Wrong("bad-setting", f"`{name}` must be {expected}{fault}")
    return _bad_name(setting, path) or Valid(value)


def _bad_name(setting: Setting, path: Path) -> Wrong | None:
    """Return what is wrong with the name that the user chose, where the table has a `*`."""
    name = next((part for want, part in zip(setting.path, path, strict=True) if want == "*"), None)
    if name is None:
        return None
    table = setting.path[0]
    if not name.strip():
        return Wrong("bad-setting", f"a name in `{table}` is empty", f"write {_CHOSEN[table]} in its place")
    if table not in _BY_GLOB or is_glob(name):
        return None
    note = "a `[` needs its `]`, and a backslash a character behind it; `\\[` is the bracket itself"
    cut = f"it is longer than {MAX_GLOB:,} characters" if len(name) > MAX_GLOB else note
    return Wrong("bad-setting", f"`{_cut(name)}` in `{table}` is a glob that matches nothing", cut)


def _leaves(tree: dict[str, Raw]) -> Iterator[tuple[Path, Raw]]:
    """Yield every value but tables, and every empty table, with its path, in the order written."""
    stack: list[tuple[Path, Raw]] = [((), tree)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and len(path) < MAX_DEPTH and (value or not path):
            stack.extend(((*path, _spelled(path, key)), member) for key, member in reversed(value.items()))
        else:
            yield path, value


def _spelled(parent: Path, key: str) -> str:
    """Return the key as the table spells it, with `-` for `_`; names that the user chooses stay as they are."""
    depth = len(parent)
    chosen = any(
        setting.path[depth : depth + 1] == ("*",) and _matches(setting.path[:depth], parent) for setting in SETTINGS
    )
    return key if chosen else key.replace("_", "-")


def _matches(pattern: Path, path: Path) -> bool:
    return len(pattern) == len(path) and all(want in ("*", part) for want, part in zip(pattern, path, strict=True))


def _refusal(path: Path, setting: Setting | None) -> str:
    """Return what allows this instead, where a project may not choose it; empty where it may."""
    if setting is not None and setting.level == "project":
        return ""
    return REFUSED.get(path[0], "") or REFUSED.get(path[-1], "")


def _is_table(path: Path, level: Level) -> bool:
    """Return whether a table of settings may stand at this path."""
    return any(setting.level == level and _matches(setting.path[: len(path)], path) for setting in SETTINGS)


def _unknown(path: Path, level: Level) -> Wrong:
    """Return what to say about a key that is in no line of the table."""
    name = ".".join(path)
    if _is_table(path, level):
        return Wrong("bad-setting", f"`{name}` is a table", f"write [{name}] and its settings below it")
    keys = [setting.key for setting in SETTINGS if setting.level == level]
    near = nearest(name, keys, cutoff=0.75)
    note = f"did you mean `{near}`?" if near else "docs/settings.md lists all settings"
    return Wrong("unknown-setting", f"there is no setting `{name[:MAX_NAME]}`", note, Severity.WARNING)


def _shown(raw: Raw) -> str:
    """Return a value for a message, short."""
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, date | time):
        return raw.isoformat()
    return _cut(str(raw).lower() if isinstance(raw, bool | Decimal) else repr(raw))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


def _fault(raw: Raw) -> str:
    """Return what is wrong with a value, as the end of a sentence that says what it must be."""
    subject = "it" if isinstance(raw, str) else "one of them"
    texts = [raw] if isinstance(raw, str) else raw if isinstance(raw, list) else []
    if "" in texts:
        return f", and {subject} is empty"
    if any(isinstance(text, str) and not text.isprintable() for text in texts):
        return f", and {subject} has a line break or a control character: {_shown(raw)}"
    return f", not {_shown(raw)}"


def _half_prices(values: Mapping[Path, SettingValue]) -> list[tuple[Path, Wrong]]:
    """Return prices that name one direction only: half a price is no price."""
    names = dict.fromkeys(path[1] for path in values if path[0] == "prices")
    return [
        (("prices", name), Wrong("bad-setting", f"the price of `{name}` needs both `input` and `output`"))
        for name in names
        if ("prices", name, "input") not in values or ("prices", name, "output") not in values
    ]


def _user(values: Mapping[Path, SettingValue]) -> Settings:
    """Return the user's part of the settings."""
    named = ("endpoints", "prices", "providers", "sites", "servers", "models")
    plain = {_field(path): value for path, value in values.items() if path[0] not in named}
    providers = _tables(values, "providers", str.lower).items()
    tables = Settings(
        key_variables={url.rstrip("/"): variable for url, variable in _pairs(values, "endpoints")},
        site_variables=dict(_pairs(values, "sites")),
        servers=_servers(values),
        prices=_prices(values),
        providers={name: replace(ProviderSettings(), **fields) for name, fields in providers},
        models={name: replace(ModelSettings(), **fields) for name, fields in _tables(values, "models").items()},
    )
    return replace(tables, **plain)


def _servers(values: Mapping[Path, SettingValue]) -> dict[str, ServerSettings]:
    """Return the settings for the servers of each origin, as written."""
    servers: dict[str, ServerSettings] = {}
    for path, value in values.items():
        if path[0] == "servers":
            had = servers.get(path[1], ServerSettings())
            if path[2] == "header-env":
                servers[path[1]] = replace(had, header_env={**had.header_env, path[3]: value})
            else:
                servers[path[1]] = replace(had, **{_field(path): value})
    return servers


def _tables(
    values: Mapping[Path, SettingValue], table: str, spelled: Callable[[str], str] = str
) -> dict[str, dict[str, SettingValue]]:
    """Return the settings of each table in a table, by the name that the user chose, with keys in their official
    spelling."""
    tables: dict[str, dict[str, SettingValue]] = {}
    for path, value in values.items():
        if path[0] == table:
            tables.setdefault(spelled(path[1]), {})[_field(path)] = value
    return tables


def _field(path: Path) -> str:
    """Return the field of `Settings` for a plain key: `limits.x` is x."""
    return path[-1].replace("-", "_")


def _prices(values: Mapping[Path, SettingValue]) -> dict[str, Price]:
    """Return the price of each model that has one for both directions."""
    halves = {path[1] for path, _ in _half_prices(values)}
    amounts = cast("Mapping[Path, Decimal]", values)  # as those of prices are
    return {
        path[1]: Price(value, amounts[("prices", path[1], "output")], amounts.get(("prices", path[1], "cached-input")))
        for path, value in amounts.items()
        if path[0] == "prices" and path[2] == "input" and path[1] not in halves
    }


def _project(values: Mapping[Path, SettingValue]) -> Settings:
    """Return the project's part of the settings."""
    plain = {path[0]: value for path, value in values.items() if len(path) == 1}
    dialects, relations, schemas = (_pairs(values, name) for name in ("dialects", "relations", "schemas"))
    globs = dict.fromkeys(path[1] for path in values if path[0] == "per-glob")
    per_glob = tuple(
        replace(
            GlobSettings(glob), **{path[2]: value for path, value in values.items() if path[:2] == ("per-glob", glob)}
        )
        for glob in globs
    )
    site = {f"site_{_field(path)}": value for path, value in values.items() if path[0] == "site"}
    tables = Settings(dialects=dialects, per_glob=per_glob, relations=relations, schemas=schemas)
    return replace(tables, **plain, **site)


def _pairs(values: Mapping[Path, SettingValue], table: str) -> tuple[tuple[str, str], ...]:
    """Return the keys of a table of texts with their values, in the order written."""
    return tuple((path[1], cast("str", value)) for path, value in values.items() if path[0] == table)


# What a value in a settings file must be: for each kind the words for a message and the check.  In: a value as the
# TOML reader gives it, numbers with a fraction as `Decimal`. Out: the value as `Settings` holds it, or None for an
# invalid one. It converts units (MiB to bytes) and never guesses.

MIB = 1024 * 1024


def _text(raw: Raw) -> str | None:
    return raw if isinstance(raw, str) and raw and raw.isprintable() else None


def _url(raw: Raw) -> str | None:
    text = _text(raw)
    return text if text and text.startswith(("http://", "https://")) and " " not in text else None


def _signal(raw: Raw) -> str | None:
    """Return a content signal as it is sent (contentsignals.org)."""
    parts = (
        [[part.strip() for part in part.split("=")] for part in raw.lower().split(",")] if isinstance(raw, str) else []
    )
    names = [part[0] for part in parts]
    fits = all(len(part) == 2 and part[0] in SIGNALS and part[1] in ("yes", "no") for part in parts)
    return ", ".join("=".join(part) for part in parts) if fits and parts and len(set(names)) == len(names) else None


def _one_of(raw: Raw, words: Collection[str]) -> str | None:
    return raw if isinstance(raw, str) and raw in words else None


def _variable(raw: Raw) -> str | None:
    return raw if isinstance(raw, str) and raw.isascii() and raw.isidentifier() else None


def _texts(raw: Raw) -> tuple[str, ...] | None:
    fits = isinstance(raw, list) and all(_text(item) for item in raw)
    return tuple(cast("list[str]", raw)) if fits else None


def _nav(raw: Raw, depth: int = 4) -> list[Raw] | None:
    """Return a list of paths, or of tables that give titles a path or a list."""
    if not isinstance(raw, list) or not depth:
        return None
    parts = (part for item in raw for part in (item.values() if isinstance(item, dict) else (item,)))
    return raw if all(_nav(part, depth - 1) if isinstance(part, list) else _text(part) for part in parts) else None


def _whole(raw: Raw) -> int | None:
    # Nothing that is counted here needs more than 2^53, and larger numbers are typing mistakes.
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= 2**53 else None


def _store(raw: Raw) -> str | None:
    text = _text(raw)
    return text if isinstance(text, str) and (text.startswith("/") or "://" in text or text[1:3] == ":\\") else None


def _count(raw: Raw) -> int | None:
    return _whole(raw) or None


def _mebibytes(raw: Raw) -> int | None:
    count = _count(raw)
    return count * MIB if count else None


def _number(raw: Raw) -> Decimal | None:
    number = Decimal(raw) if isinstance(raw, int | Decimal) and not isinstance(raw, bool) else None
    return number if number is not None and number.is_finite() and 0 <= number <= 2**53 else None


def _seconds(raw: Raw) -> float | None:
    number = _number(raw)
    return float(number) if number else None


def _amount(raw: Raw) -> float | None:
    number = _number(raw)
    return None if number is None or number > 2 else float(number)


KINDS: Mapping[str, tuple[str, Callable[[Raw], SettingValue | None]]] = {
    "text": ("a text", _text),
    "texts": ("a list of texts", _texts),
    "nav": ("a list of paths, and of titles with a path or a list", _nav),
    "flag": ("true or false", lambda raw: raw if isinstance(raw, bool) else None),
    "url": ("a URL that starts with http:// or https://", _url),
    "api": ('"chat" or "responses"', lambda raw: _one_of(raw, ("chat", "responses"))),
    "protocol": ('"openai", "anthropic" or "google"', lambda raw: _one_of(raw, PROTOCOLS)),
    "history": ('"off", "summary" or "full"', lambda raw: _one_of(raw, ("off", "summary", "full"))),
    "store": ("an absolute path, or an address such as postgresql://HOST/DATABASE", _store),
    "variable": ("the name of an environment variable", _variable),
    "signal": ("`yes` or `no` for some of `search`, `ai-input` and `ai-train`", _signal),
    "whole": ("a whole number from 0", _whole),
    "count": ("a whole number from 1", _count),
    "mebibytes": ("a whole number of MiB from 1", _mebibytes),
    "seconds": ("a number of seconds above 0", _seconds),
    "price": ("an amount in US dollars", _number),
    "amount": ("a number from 0 to 2", _amount),
}
"""What each kind of setting must be, in words, and the check that gives the value or None."""


# TOML with places. The standard reader reports none, so a second pass over the lines finds the keys; a key inside an
# inline table takes the span of the key in front of it.

# A settings file is written by hand; a larger one is some other file.
MAX_SETTINGS_CHARACTERS = 64 * 1024

# Settings have three parts at most. The standard reader takes quadratic time over long dotted keys.
MAX_PARTS = 16

_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_LINE = regex(rf"[ \t\ufeff]*(?:\[\[?[ \t]*(?P<header>{_DOTTED})[ \t]*\]|(?P<key>{_DOTTED})[ \t]*=)")
_PLACE = regex(r"\(at line (\d{1,9}), column (\d{1,9})\)$")


def load(text: str, inside: Path = ()) -> tuple[dict[str, Raw], list[Problem]]:
    """Return the table at ``inside`` (empty where there is none), and a problem when the text is no TOML."""
    if len(text) > MAX_SETTINGS_CHARACTERS:
        return {}, [_problem(f"the settings are longer than {MAX_SETTINGS_CHARACTERS:,} characters", Span(0, 0))]
    deep = next((key for key, _ in _lines(text) if len(key) > MAX_PARTS), None)
    if deep:
        return {}, [_problem(f"a key has more than {MAX_PARTS} parts", Span(0, 0))]
    try:
        # A byte-order mark becomes a space, so that every offset stays what it is.
        marked = " " + text[1:] if text.startswith("\ufeff") else text
        tree: Raw = tomllib.loads(marked, parse_float=Decimal)
    except RecursionError:
        return {}, [_problem("the settings are nested too deeply", Span(0, 0))]
    except ValueError as error:
        return {}, [_not_toml(text, str(error))]
    for part in inside:
        tree = tree.get(part, {}) if isinstance(tree, dict) else {}
    return tree if isinstance(tree, dict) else {}, []


def key_spans(text: str) -> dict[Path, Span]:
    """Return the span of every header and key that stands at the beginning of a line, by its whole path with `-` for
    `_`."""
    spans: dict[Path, Span] = {}
    table: Path = ()
    for parts, (span, is_header) in _lines(text):
        path = parts if is_header else (*table, *parts)
        table = path if is_header else table
        spans.setdefault(path, span)
    return spans


def _last_span(text: str, path: Path) -> Span | None:
    """Return the place of the last key of a path, None where it stands behind another key of its line."""
    last: Span | None = None
    table: Path = ()
    for parts, (span, is_header) in _lines(text):
        if not is_header and (*table, *parts) == path:
            last = span
        table = parts if is_header else table
    return last


def span_of(spans: Mapping[Path, Span], path: Path) -> Span:
    """Return the span of a key, else of the nearest one around it, else the start of the file."""
    plain = tuple(part.replace("_", "-") for part in path)
    return next((spans[plain[:end]] for end in range(len(plain), 0, -1) if plain[:end] in spans), Span(0, 0))


def _lines(text: str) -> Iterator[tuple[Path, tuple[Span, bool]]]:
    """Yield, for each line that starts with a header or a key, its parts, its span, and whether it is a header."""
    offset = 0
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match:
            name = "header" if match["header"] else "key"
            start, end = match.span(name)
            parts = (part.strip("\"'").replace("_", "-") for part in re.findall(_PART, match[name]))
            yield tuple(parts), (Span(offset + start, offset + end), name == "header")
        offset += len(line) + 1


def _not_toml(text: str, message: str) -> Problem:
    """Return the complaint of the reader, at its place."""
    place = _PLACE.search(message)
    index = LineIndex(text)
    at_end = place is None or int(place[1]) > index.count
    offset = len(text) if at_end or place is None else index.offset(int(place[1]), int(place[2]))
    reason = _PLACE.sub("", message).strip().removesuffix("(at end of document)").strip()
    return _problem(f"the settings are not valid TOML: {reason}", Span(offset, offset))


def _problem(message: str, span: Span) -> Problem:
    return Problem("bad-settings-file", message, span, severity=Severity.ERROR)
