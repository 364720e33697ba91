"""The tests of a configuration: from its list, from files, and of scenarios, each with its variables filled in.

In: a configuration as plain data. Out: drafts of cases, in order. Files of code, tables on other computers and
generated tests are not read, which is reported.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from prosa.convert.nunjucks import filled
from prosa.convert.promptfoo.log import Log, Unreadable, content_of, file_of
from prosa.data import JsonError, Value, parse_json
from prosa.data.limits import MAX_CELL
from prosa.regex import regex

MAX_CASES = 1_000
MAX_COMBINATIONS = 100
"""Cases of one configuration, and of one test whose variables are lists: more are a matter for `rows`."""

MAX_ASSERTED = 200
"""Assertions of one case."""


class Draft(Struct, frozen=True):
    """A test: its name, its variables, and what it asserts, each with its place. ``options`` are those of promptfoo for
    its answer."""

    name: str
    pointer: str
    variables: Mapping[str, Value]
    asserted: tuple[tuple[str, Value], ...]
    options: Mapping[str, Value]


def drafts(config: Mapping[str, Value], log: Log) -> list[Draft]:
    """Return the tests of a configuration."""
    default = _test_of(config.get("defaultTest"), "/defaultTest", log) or {}
    named: dict[str, None] = {}
    cases: list[Draft] = []
    for pointer, test in _tests(config, log):
        for variables in _combined(_variables(test, default, pointer, log), test, default, pointer, log):
            if len(cases) == MAX_CASES:
                log.add("lost", pointer, f"there are more than {MAX_CASES:,} cases; this and the next are left out")
                return cases
            cases.append(_draft(test, default, pointer, variables, named, log))
    return cases


def _draft(
    test: Mapping[str, Value],
    default: Mapping[str, Value],
    pointer: str,
    variables: Mapping[str, Value],
    named: dict[str, None],
    log: Log,
) -> Draft:
    asserted = [(f"{pointer}/assert/{at}", check) for at, check in enumerate(_list(test.get("assert")))]
    asserted += [(f"/defaultTest/assert/{at}", check) for at, check in enumerate(_list(default.get("assert")))]
    if len(asserted) > MAX_ASSERTED:
        log.add("lost", f"{pointer}/assert", f"a case has more than {MAX_ASSERTED} assertions; the others are left out")
        del asserted[MAX_ASSERTED:]
    options = {**_mapping(default.get("options")), **_mapping(test.get("options"))}
    if options.get("disableDefaultAsserts"):
        asserted = [pair for pair in asserted if not pair[0].startswith("/defaultTest")]
    for place, one in ((pointer, test), ("/defaultTest", default)):
        for key in one:
            if key in _LOST:
                log.add("lost", f"{place}/{key}", f"`{key}`: {_LOST[key]}")
            elif key not in _KNOWN:
                log.add("lost", f"{place}/{key}", f"`{key}` of a test has no counterpart")
    log.kept += 1
    return Draft(_name(test, variables, named), pointer, variables, tuple(asserted), options)


_KNOWN = ("vars", "assert", "description", "options")
_LOST = {
    "threshold": "a case passes if all that is expected holds",
    "metadata": "a case has none",
    "provider": "models are named when the test runs (`-m`)",
    "providers": "models are named when the test runs (`-m`)",
    "prompts": "every case is tried with the program that the document names",
    "assertScoringFunction": "a case passes or fails, and has no score",
    "providerOutput": "an answer comes from the model, or from a recording",
}


def _name(test: Mapping[str, Value], variables: Mapping[str, Value], named: dict[str, None]) -> str:
    """Return the name of a case: its description, else its only short variable, else its number."""
    texts = [variable for variable in variables.values() if isinstance(variable, str)]
    text = test.get("description")
    if not isinstance(text, str) or not text.strip():
        text = texts[0] if len(variables) == len(texts) == 1 and len(texts[0]) <= _MAX_NAME else ""
    text = filled(text, variables) or text
    name = " ".join(regex(r"[^\w '&/().,:;!?%+$€@-]+").sub(" ", text).split())[:_MAX_NAME].strip(" #")
    name = name if regex(r"\w").search(name) else f"Case {len(named) + 1}"
    chosen, number = name, 1
    while chosen in named:
        number += 1
        chosen = f"{name} ({number})"
    named[chosen] = None
    return chosen


_MAX_NAME = 80


# ---- where tests stand ----


def _tests(config: Mapping[str, Value], log: Log) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Yield the tests with their places; one without variables where a configuration only has prompts."""
    count = 0
    for pointer, test in itertools.chain(
        _listed(config.get("tests"), "/tests", log), _scenarios(config.get("scenarios"), log)
    ):
        count += 1
        yield pointer, test
    if not count and not config.get("tests") and not config.get("scenarios") and "redteam" not in config:
        yield "", {}


def _listed(value: Value, pointer: str, log: Log) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Yield the tests of a list, or of a file that is named in its place or in it."""
    if value is None:
        return
    if isinstance(value, dict) and ("vars" in value or "assert" in value):
        value = [value]
    if not isinstance(value, list):
        yield from ((pointer, test) for test in _in_file(value, pointer, log))
        return
    for at, item in enumerate(value):
        place = f"{pointer}/{at}"
        if isinstance(item, dict) and ("path" not in item or "vars" in item):
            yield place, item
        else:
            yield from ((place, one) for one in _in_file(item, place, log))


def _in_file(value: Value, pointer: str, log: Log) -> Iterator[Mapping[str, Value]]:
    """Yield the tests of a file."""
    path = file_of(value) or (value if isinstance(value, str) else None)
    if path is None:
        log.add("lost", pointer, "these tests are made by code, which is not run")
        return
    if regex(r"[a-z]+://").match(path):
        log.add("lost", pointer, f"the tests of `{path[:80]}` are elsewhere: nothing is fetched")
        return
    try:
        rows = _rows(path, log)
    except Unreadable as problem:
        log.add("lost", pointer, f"the tests of `{path[:80]}` are left out: {problem}")
        return
    yield from rows


def _rows(path: str, log: Log) -> list[Mapping[str, Value]]:
    """Return the tests of a file by its form. Raises `Unreadable`."""
    if path.endswith(".csv"):
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))  # of the process: what reads rows sets the same
        table = io.StringIO(str(content_of(path, log)), newline="")
        try:
            return [_of_row(row) for row in csv.DictReader(table) if any(row.values())]
        except csv.Error as error:
            raise Unreadable(f"it is not a table: {error}") from None
    if path.endswith(".jsonl"):
        return [row for row in map(_json, str(content_of(path, log)).splitlines()) if row]
    content = content_of(path, log)
    content = content if isinstance(content, list) else [content]
    tests: list[Mapping[str, Value]] = [test for test in content if isinstance(test, dict)]
    if not tests:
        raise Unreadable("it holds no list of tests")
    return tests


def _json(line: str) -> Mapping[str, Value]:
    try:
        value = parse_json(line) if line.strip() else {}
    except JsonError as error:
        raise Unreadable(f"a line is not JSON: {error.message}") from None
    return value if isinstance(value, dict) else {}


def _of_row(row: Mapping[str | None, str | list[str] | None]) -> Mapping[str, Value]:
    """Return the test in a row of a table: columns that begin with `__` say what is expected."""
    cells = {name.strip(): text or "" for name, text in row.items() if name and not isinstance(text, list)}
    asserted = [
        shorthand(text) for name, text in cells.items() if regex(r"__expected\d*").fullmatch(name) and text.strip()
    ]
    test: dict[str, Value] = {"vars": {name: text for name, text in cells.items() if not name.startswith("__")}}
    if asserted:
        test["assert"] = asserted
    if cells.get("__description"):
        test["description"] = cells["__description"]
    lost = [name for name in cells if name.startswith("__") and not name.startswith(("__expected", "__description"))]
    return test | {name.strip("_"): cells[name] for name in lost if cells[name]}


_SHORT = regex(
    r"(?P<type>(?:not-)?[a-z][a-z0-9-]*)(?:\((?P<threshold>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\))?\s*:\s*(?P<value>.*)", 16
)


def shorthand(text: str) -> Value:
    """Return the assertion that a text stands for in a table."""
    text = text.strip()
    for start, kind in (("fn:", "javascript"), ("eval:", "javascript"), ("grade:", "llm-rubric")):
        if text.startswith(start):
            return {"type": kind, "value": text.removeprefix(start).strip()}
    if file_of(text) is not None:
        return {"type": "python" if ".py" in text else "javascript", "value": text}
    match = _SHORT.fullmatch(text)
    if match is None:
        return (
            {"type": text, "value": None}
            if text in ("is-json", "is-xml", "is-sql")
            else {
                "type": "equals",
                "value": text,
            }
        )
    kind, value = match["type"], match["value"]
    several = kind.removeprefix("not-").removeprefix("i") in ("contains-any", "contains-all")
    assertion: dict[str, Value] = {
        "type": kind,
        "value": [cell.strip() for cell in _cells(value)] if several else value,
    }
    return assertion | ({"threshold": float(match["threshold"])} if match["threshold"] else {})


def _cells(row: str) -> list[str]:
    """Return what commas separate outside quotes; of a row that no table can have, what they separate anywhere."""
    try:
        return next(csv.reader([row], skipinitialspace=True), [])
    except csv.Error:
        return row.split(",")


def _scenarios(value: Value, log: Log) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Yield each test of a scenario with each of its sets of variables."""
    for at, scenario in enumerate(_list(value)):
        pointer = f"/scenarios/{at}"
        if not isinstance(scenario, dict):
            log.add("lost", pointer, "this scenario stands in a file; put it here to convert it")
            continue
        tests = list(_listed(scenario.get("tests"), f"{pointer}/tests", log)) or [(pointer, {})]
        for where, config in _listed(scenario.get("config"), f"{pointer}/config", log):
            for place, test in tests:
                joined = {**config, **test, "vars": {**_mapping(config.get("vars")), **_mapping(test.get("vars"))}}
                joined["assert"] = [*_list(test.get("assert")), *_list(config.get("assert"))]
                yield place if test else where, joined


def _test_of(value: Value, pointer: str, log: Log) -> Mapping[str, Value] | None:
    """Return a test that may stand in a file."""
    path = file_of(value)
    if path is None:
        return value if isinstance(value, dict) else None
    try:
        content = content_of(path, log)
    except Unreadable as problem:
        log.add("lost", pointer, f"`{path[:80]}` is left out: {problem}")
        return None
    return content if isinstance(content, dict) else None


# ---- variables ----


def _variables(
    test: Mapping[str, Value], default: Mapping[str, Value], pointer: str, log: Log
) -> dict[str, tuple[str, Value]]:
    """Return the variables of a test with their places, those in files read."""
    variables: dict[str, tuple[str, Value]] = {}
    for place, one in (("/defaultTest", default), (pointer, test)):
        value = one.get("vars")
        path = file_of(value) or (value if isinstance(value, str) else None)
        if path is not None:
            value = _read(path, f"{place}/vars", log)
        for name, variable in _mapping(value).items():
            inner = file_of(variable)
            variable = variable if inner is None else _read(inner, f"{place}/vars/{name}", log)
            if variable is not None:
                variables[str(name)] = (f"{place}/vars/{name}", variable)
    return variables


def _read(path: str, pointer: str, log: Log) -> Value:
    try:
        return content_of(path, log)
    except Unreadable as problem:
        log.add("lost", pointer, f"the value in `{path[:80]}` is left out: {problem}")
        return None


def _combined(
    variables: Mapping[str, tuple[str, Value]],
    test: Mapping[str, Value],
    default: Mapping[str, Value],
    pointer: str,
    log: Log,
) -> Iterator[dict[str, Value]]:
    """Yield the variables of each case: promptfoo tries a list item by item."""
    options = {**_mapping(default.get("options")), **_mapping(test.get("options"))}
    values = {name: value for name, (_, value) in variables.items()}
    lists = (
        {}
        if options.get("disableVarExpansion")
        else {n: v for n, v in values.items() if isinstance(v, list) and _is_tried(v)}
    )
    combinations = itertools.product(*lists.values())
    for number, chosen in enumerate(combinations):
        if number == MAX_COMBINATIONS:
            log.add(
                "lost", f"{pointer}/vars", f"lists make more than {MAX_COMBINATIONS} cases; the others are left out"
            )
            return
        yield _filled({**values, **dict(zip(lists, chosen, strict=True))}, variables, log)


def _is_tried(values: list[Value]) -> bool:
    return bool(values) and all(isinstance(value, str | int | float) for value in values)


def _filled(values: dict[str, Value], variables: Mapping[str, tuple[str, Value]], log: Log) -> dict[str, Value]:
    """Return variables in which others are put in by name."""
    texts: dict[str, Value] = {}
    for name, value in values.items():
        text = (
            filled(value, {key: value for key, value in values.items() if key != name})
            if isinstance(value, str)
            else ""
        )
        if text is None:
            log.add(
                "guessed", variables[name][0], f"the value of `{name[:60]}` looks like a template and stays as it is"
            )
        texts[name] = text if isinstance(value, str) and text is not None else value
    return texts


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, dict) else {}


def _list(value: Value) -> Sequence[Value]:
    return value if isinstance(value, list) else []


def shown(value: Value) -> str:
    """Return a value on one short line, for people."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return f"{line[:57]}…" if len(line) > 60 else line
