"""What a case expects of an agent besides its answer: files, changes, loaded skills, scripts of the skill (X36).

    {"file": "out.csv", "exists": true}             also `contains`, `matches` … of its text, `json`, `same-as`
    {"changed": ["out/**"], "only": true}           each glob was changed, and with `only` nothing else
    {"loaded": "tide-times"}                        `false`: no skill was loaded
    {"command": ["check.py", "--strict"]}           a script below `evals/`, in the sandbox, which ends well

In: expectations as plain data, and a workspace as it was left. Out: failures, commands to run, or the mistakes of an
expectation. Nothing is opened here: files are read through a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from prosa.data import JsonError, Value, parse_json
from prosa.evaluation.expectations import Failure, Match, Mistake, PythonCheck, match, mistakes
from prosa.evaluation.matchers import MATCHERS
from prosa.schema.wording import listed
from prosa.source.wildmatch import MAX_GLOB, glob_matches

FORMS = ("file", "changed", "loaded", "command")
"""The key that says what an expectation is about."""

MAX_TEXT = 16 * 1024 * 1024
"""Bytes of a file that is held against an expectation."""

_EVALS = "evals/"
_FILE_WORDS = ("exists", "json", "same-as")
_MAX_SHOWN = 5


class Expected(Struct, frozen=True):
    """One expectation of the workspace, by its name. ``form`` is its kind, ``words`` the whole record."""

    name: str
    form: str
    words: Mapping[str, Value]


class LeftWorkspace(Struct, frozen=True):
    """A workspace after an attempt. ``paths`` are its files, with slashes, ``changed`` those that were added, changed
    or deleted; ``read`` returns the content of one, ``original`` that of a file of the case beside the skill, None for
    a missing one. ``loaded`` are the skills that were loaded."""

    paths: frozenset[str]
    changed: tuple[str, ...]
    read: Callable[[str], bytes | None]
    original: Callable[[str], bytes | None]
    loaded: tuple[str, ...] = ()


def left_wrong(expected: Expected, left: LeftWorkspace) -> Match:
    """Hold a workspace against an expectation that is well formed and no command."""
    if expected.form == "changed":
        return Match(tuple(_changed(expected.words, left)))
    if expected.form == "loaded":
        return Match(tuple(_loaded(expected.words["loaded"], left.loaded)))
    return _file(expected.words, left)


def _changed(words: Mapping[str, Value], left: LeftWorkspace) -> Iterator[Failure]:
    globs = _texts(words["changed"])
    for glob in globs:
        if not any(glob_matches(glob, path) for path in left.changed):
            yield Failure("changed", f"a change of {glob}", _paths(left.changed))
    if words.get("only"):
        others = [path for path in left.changed if not any(glob_matches(glob, path) for glob in globs)]
        if others:
            yield Failure("changed", f"no change but of {listed(globs, 'and')}", _paths(others))


def _loaded(wanted: Value, loaded: tuple[str, ...]) -> Iterator[Failure]:
    shown = ", ".join(loaded) or "none"
    if wanted is False:
        if loaded:
            yield Failure("loaded", "none", shown)
        return
    for name in _texts(wanted):
        if name not in loaded:
            yield Failure("loaded", name, shown)


def _file(words: Mapping[str, Value], left: LeftWorkspace) -> Match:
    path = str(words["file"])
    exists, wanted = path in left.paths, words.get("exists", True)
    if not exists or not wanted:
        right = exists is bool(wanted)
        return Match() if right else Match((Failure(path, "a file" if wanted else "no such file", _found(path, left)),))
    content = left.read(path) or b""
    if len(content) > MAX_TEXT:
        return Match((Failure(path, f"at most {MAX_TEXT:,} bytes", f"{len(content):,}"),))
    return _content(words, path, content, left)


def _content(words: Mapping[str, Value], path: str, content: bytes, left: LeftWorkspace) -> Match:
    failures: list[Failure] = []
    checks: list[PythonCheck] = []
    if "same-as" in words:
        original = left.original(str(words["same-as"]))
        if original is None:
            failures.append(Failure(path, f"the content of {words['same-as']}", "no such file beside the skill"))
        elif original != content:
            failures.append(Failure(path, f"the content of {words['same-as']}", _first_difference(original, content)))
    asked = {name: value for name, value in words.items() if name in MATCHERS}
    for expectation, value in _readings(words, asked, path, content, failures):
        matched = match(expectation, value)
        failures += [
            Failure(f"{path}{failure.pointer}", failure.expected, failure.found) for failure in matched.failures
        ]
        checks += [PythonCheck(f"{path}{check.pointer}", check.code, check.value) for check in matched.checks]
    return Match(tuple(failures), () if failures else tuple(checks))


def _readings(
    words: Mapping[str, Value], asked: dict[str, Value], path: str, content: bytes, failures: list[Failure]
) -> Iterator[tuple[Value, Value]]:
    """Yield an expectation with the content as it reads it: as a text, as JSON."""
    if not asked and "json" not in words:
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        failures.append(Failure(path, "UTF-8 text", f"{len(content):,} bytes that are not text"))
        return
    if asked:
        yield asked, text
    if "json" in words:
        try:
            yield {} if words["json"] is True else words["json"], parse_json(text)
        except JsonError as error:
            failures.append(Failure(path, "JSON", f"line {error.line}, column {error.column}: {error.message}"))


def _first_difference(wanted: bytes, actual: bytes) -> str:
    pairs = zip(wanted.splitlines(), actual.splitlines(), strict=False)
    at = next((number for number, (first, second) in enumerate(pairs, 1) if first != second), None)
    return f"{len(actual):,} bytes" + (f"; line {at} differs" if at else f" in place of {len(wanted):,}")


def _found(path: str, left: LeftWorkspace) -> str:
    if path in left.paths:
        return "a file"
    return f"none; changed: {_paths(left.changed)}"


def _paths(paths: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(paths[:_MAX_SHOWN]) or "nothing"
    return f"{shown} and {len(paths) - _MAX_SHOWN} more" if len(paths) > _MAX_SHOWN else shown


def _texts(value: Value) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


# ---- mistakes ----


def form_of(words: Mapping[str, Value]) -> str | None:
    """Return what a record is about; None for one that is about the answer."""
    return next((form for form in FORMS if form in words), None)


def workspace_mistakes(words: Mapping[str, Value]) -> Iterator[Mistake]:
    """Yield the mistakes of a record about the workspace."""
    form = form_of(words)
    if form == "changed":
        yield from _wrong_globs(words)
    elif form == "loaded" and words["loaded"] is not False:
        yield from _wrong_list("loaded", words["loaded"], "the name of a skill, a list of them, or false")
    elif form == "command":
        yield from _wrong_command(words["command"])
    elif form == "file":
        yield from _wrong_file(words)


def _wrong_globs(words: Mapping[str, Value]) -> Iterator[Mistake]:
    yield from _wrong_list("changed", words["changed"], "a glob or a list of globs")
    if not isinstance(words.get("only", False), bool):
        yield _wrong("/only", "`only` is true or false")
    if any(len(text) > MAX_GLOB for text in _texts(words["changed"])):
        yield _wrong("/changed", f"a glob has at most {MAX_GLOB:,} characters")


def _wrong_list(name: str, value: Value, what: str) -> Iterator[Mistake]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        yield _wrong(f"/{name}", f"`{name}` takes {what}")


def _wrong_command(value: Value) -> Iterator[Mistake]:
    yield from _wrong_list("command", value, "a Python script below `evals/`, or a list of it and its arguments")
    script = value[0] if isinstance(value, list) and value else value
    if isinstance(script, str) and (not script.endswith(".py") or not is_inside(script)):
        yield _wrong("/command", f"`{script[:60]}` is not a Python script below `evals/`")


def script_path(script: str) -> str:
    """Return the path of the script of a `command` below the folder of the skill."""
    return f"{_EVALS}{script.removeprefix(_EVALS)}"


def _wrong_file(words: Mapping[str, Value]) -> Iterator[Mistake]:
    path = words["file"]
    if not isinstance(path, str) or not is_inside(path):
        yield _wrong("/file", "`file` takes a path inside the workspace, with slashes")
    if not isinstance(words.get("exists", True), bool):
        yield _wrong("/exists", "`exists` is true or false")
    if "same-as" in words and not (isinstance(words["same-as"], str) and is_inside(words["same-as"])):
        yield _wrong("/same-as", "`same-as` takes a path below the folder of the skill")
    asked = {name: value for name, value in words.items() if name in MATCHERS}
    yield from mistakes(asked)
    if isinstance(words.get("json"), dict | list):
        yield from (
            Mistake(
                mistake.kind, f"/json{mistake.pointer}", mistake.message, mistake.on_key, mistake.written, mistake.meant
            )
            for mistake in mistakes(words["json"])
        )
    if words.get("exists") is False and (asked or words.keys() & set(_FILE_WORDS[1:])):
        yield _wrong("/exists", "`exists: false` stands alone: nothing can be said of a file that is not there")


def is_inside(path: str) -> bool:
    """Return whether a path with slashes stays below its folder."""
    parts = path.split("/")
    return bool(path) and "\\" not in path and "\0" not in path and not any(part in ("", ".", "..") for part in parts)


def _wrong(pointer: str, message: str) -> Mistake:
    return Mistake("bad-matcher", pointer, message)
