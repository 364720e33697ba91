"""A configuration of promptfoo as a test document, and its prompts as programs (X31).

In: the source of a configuration, and a function that opens the files it names. Out: documents by name, and the report
of what became of every part. Code is never run, nothing is fetched.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from prosa.convert.convert import guarded
from prosa.convert.form import NotConvertible
from prosa.convert.front import node_of
from prosa.convert.neutral import Report
from prosa.convert.promptfoo.assertions import Wanted, check_code, flat_assertions, wanted
from prosa.convert.promptfoo.cases import Draft, drafts, shown
from prosa.convert.promptfoo.log import Log, file_of
from prosa.convert.promptfoo.prompts import Prompt, program_of, prompts_of, unwritten
from prosa.data import Node, Value, read_json, read_yaml, to_value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.evals.document.fields import MAX_REPEAT
from prosa.regex import regex
from prosa.schema import SchemaError, check_schema_shape
from prosa.source import SourceText

TESTS = ".test.md"


class Suite(Struct, frozen=True):
    """A test document and its programs, each with its file name, and the report."""

    files: tuple[tuple[str, str], ...]
    report: Report


def convert_suite(source: SourceText, stem: str, open_file: Callable[[str], str]) -> Suite:
    """Return a configuration as documents whose names begin with ``stem``. Raises `NotConvertible`."""
    return guarded(lambda: _suite(source, stem, open_file))


def _suite(source: SourceText, stem: str, open_file: Callable[[str], str]) -> Suite:
    config, node = _config(source)
    log = Log(source, node, open_file)
    cases = drafts(config, log)
    if not cases:
        raise NotConvertible(*_no_case(config, log))
    _say_rest(config, log)
    prompts = prompts_of(config, log)
    if not prompts:
        log.add("manual", "/prompts", "no prompt is a text: write the program", "the body")
        prompts = [unwritten(cases)]
    name = regex(r"[^A-Za-z0-9_-]+").sub("-", stem).strip("-")[:60] or "program"
    about = _line(config.get("description")) or f"The prompt of {stem}"
    output = _output(cases, config, log)
    files = [(f"{stem}{TESTS}", _document(config, stem, cases, output, log))]
    for number, prompt in enumerate(prompts, start=1):
        end = "" if number == 1 else f"-{number}"
        description = _about(about, prompt, several=len(prompts) > 1)
        files.append((f"{stem}{end}.md", program_of(prompt, f"{name}{end}", description, cases, output)))
    if len(prompts) > 1:
        others = " ".join(f"--against {file}" for file, _ in files[2:4])
        log.add("manual", "/prompts", f"the first prompt is tested; compare others with it: prosa test {others}")
    return Suite(tuple(files), log.report())


def _config(source: SourceText) -> tuple[Mapping[str, Value], Node]:
    is_json = source.path.endswith(".json")
    reading = (read_json if is_json else read_yaml)(source.text)
    if reading.problems:
        problem = reading.problems[0]
        raise NotConvertible(f"not valid {'JSON' if is_json else 'YAML'}: {problem.message}", problem.span.start)
    value = None if reading.node is None else to_value(reading.node)
    if reading.node is None or not isinstance(value, dict) or not value.keys() & _TOLD:
        hint = "it is a mapping with `prompts` and `tests`"
        raise NotConvertible("this is not a configuration of promptfoo", hint=hint)
    return value, reading.node


_TOLD = {"prompts", "tests", "scenarios", "providers", "targets", "redteam", "defaultTest"}


def _no_case(config: Mapping[str, Value], log: Log) -> tuple[str, int, str]:
    if "redteam" in config and not config.get("tests"):
        return "its tests are attacks that promptfoo makes with a service (`redteam`); there is no case here", 0, ""
    why = next((item.message for item in log.items if item.level == "lost"), "it has no test")
    return f"there is no case in it that can be converted: {why}", 0, "write the tests into it as a list, or as CSV"


# ---- what else stands in it ----


def _say_rest(config: Mapping[str, Value], log: Log) -> None:
    """Report the parts of a configuration that are neither prompts nor tests."""
    for key in config:
        if key in ("providers", "targets"):
            _say_models(config[key], f"/{key}", log)
        elif key == "evaluateOptions" or key == "commandLineOptions":
            _say_options(config[key], key, log)
        elif key not in _READ and key not in _SILENT:
            log.add("lost", f"/{key}", _REST.get(key, f"`{key}` has no counterpart"))


_READ = ("prompts", "tests", "scenarios", "defaultTest", "description", "assertionTemplates")
_SILENT = ("$schema", "sharing", "writeLatestResults", "metadata")
_REST = {
    "redteam": "`redteam`: attacks that promptfoo makes with a service",
    "extensions": "`extensions`: code around the tests is not run",
    "nunjucksFilters": "`nunjucksFilters`: code of filters is not run",
    "derivedMetrics": "`derivedMetrics`: a test has pass rates with intervals, and no other metrics",
    "env": "`env`: keys and addresses come from your settings and the environment",
    "outputPath": "`outputPath`: use `--format`, or `--report`",
    "tags": "`tags` has no counterpart",
}


def _say_options(value: Value, key: str, log: Log) -> None:
    for name in value if isinstance(value, dict) else ():
        if name != "repeat":
            words = {"maxConcurrency": "use `--concurrency`", "cache": "use `--no-cache`"}.get(name, "no counterpart")
            log.add("lost", f"/{key}/{name}", f"`{name}`: {words}")


def _say_models(value: Value, pointer: str, log: Log) -> None:
    names: dict[str, None] = {}
    for at, model in enumerate(value if isinstance(value, list) else [value]):
        place = f"{pointer}/{at}" if isinstance(value, list) else pointer
        provider, settings = _model(model)
        if (
            provider is None
            or file_of(provider)
            or provider.startswith(("python:", "exec:", "http", "webhook", "package:"))
        ):
            log.add("lost", place, f"`{shown(provider)}` is a provider of your own, which is not run")
            continue
        names[regex(r"\A[\w-]+:(?:(?:chat|completion|messages|responses|embedding):)?").sub("", provider)] = None
        if settings:
            listed = ", ".join(f"`{name}`" for name in settings)
            log.add("lost", f"{place}/config", f"settings of the provider: {listed}; see `models` in your settings")
    if names:
        flags = " ".join(f"-m {shlex.quote(name)}" for name in list(names)[:8])
        log.add("manual", pointer, f"the models are named when the test runs: prosa test {flags}")


def _model(value: Value) -> tuple[str | None, Sequence[str]]:
    """Return the name of a provider and its settings."""
    if isinstance(value, str):
        return value, ()
    if not isinstance(value, dict) or not value:
        return None, ()
    if "id" in value:
        inner = value.get("config")
        return str(value["id"]), list(inner) if isinstance(inner, dict) else ()
    name, inner = next(iter(value.items()))
    inner = inner.get("config", inner) if isinstance(inner, dict) else None
    return str(name), list(inner) if isinstance(inner, dict) else ()


def _output(cases: Sequence[Draft], config: Mapping[str, Value], log: Log) -> dict[str, Value] | None:
    """Return the schema that every case asks of the answer, if it is one and the same; otherwise the answer is text."""
    wanted_schemas: list[dict[str, Value] | None] = []
    for case in cases:
        quiet = Log(log.source, log.node, log.open)
        asserted = flat_assertions(case.asserted, quiet, config)
        schemas = [check.get("value") for _, check in asserted if check.get("type") in ("is-json", "contains-json")]
        schema = schemas[0] if len(schemas) == 1 else None
        wanted_schemas.append(schema if isinstance(schema, dict) else None)
    first = wanted_schemas[0]
    if first is None or any(other != first for other in wanted_schemas) or not _is_schema(first):
        return None
    log.add("guessed", cases[0].pointer, "the schema that every case asks for is the output of the program", "/output")
    return first


def _is_schema(schema: dict[str, Value]) -> bool:
    try:
        problems = check_schema_shape(node_of(schema))
    except SchemaError:
        return False
    return schema.get("type") == "object" and not any(problem.rule == "bad-schema" for problem in problems)


# ---- the document ----


def _document(config: Mapping[str, Value], stem: str, cases: Sequence[Draft], output: Value, log: Log) -> str:
    front: dict[str, Value] = {"tests": f"./{stem}.md"}
    repeat = _repeat(config)
    if repeat > 1:
        front["repeat"] = repeat
    title = _line(config.get("description")) or f"Tests of {stem}"
    blocks = [f"---\n{write_yaml(front)}---\n", f"# {_heading(title)}\n"]
    for case in cases:
        expected = wanted(_without_schema(case, output), log, config, structured=output is not None)
        blocks += [f"## {_heading(case.name)}\n", *_blocks(case, expected)]
    return "\n".join(blocks)


def _without_schema(case: Draft, output: Value) -> Draft:
    """Return a case without the assertion that the output of the program takes the place of."""
    if output is None:
        return case
    kept = tuple(pair for pair in case.asserted if not _is_about(pair[1], output))
    return Draft(case.name, case.pointer, case.variables, kept, case.options)


def _is_about(asserted: Value, output: Value) -> bool:
    kinds = ("is-json", "contains-json")
    return isinstance(asserted, dict) and asserted.get("type") in kinds and asserted.get("value") in (output, None)


def _blocks(case: Draft, expected: Wanted) -> Iterator[str]:
    yield _fence("yaml input", write_yaml(dict(case.variables)) or "{}\n")
    if expected.words:
        words = {name: _shortest(word) for name, word in expected.words.items()}
        yield _fence("yaml expect", write_yaml(words))
    if expected.checks:
        yield _fence("python expect", check_code(expected.checks))
    if expected.run:
        yield _fence("yaml run", write_yaml(expected.run))
    if expected.grade:
        plain = not any("\n" in question for question in expected.grade)
        text = "\n".join(expected.grade) if plain else json.dumps(expected.grade, ensure_ascii=False, indent=1)
        yield _fence("text grade" if plain else "json grade", f"{text}\n")
    if expected.examples:
        yield "Not converted:\n"
        yield from (_fence(language, code.rstrip("\n") + "\n") for language, code in expected.examples)


def _shortest(value: str | list[str]) -> str | list[str]:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _fence(info: str, text: str) -> str:
    longest = max((len(ticks) for ticks in regex(r"`{3,}").findall(text)), default=2)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{info}\n{text}{mark}\n"


def _repeat(config: Mapping[str, Value]) -> int:
    for key in ("evaluateOptions", "commandLineOptions"):
        options = config.get(key)
        repeat = options.get("repeat") if isinstance(options, dict) else None
        if isinstance(repeat, int) and not isinstance(repeat, bool) and 1 <= repeat <= MAX_REPEAT:
            return repeat
    return 1


def _about(about: str, prompt: Prompt, *, several: bool) -> str:
    label = _line(prompt.label)
    return f"{about}: {label}" if several and label else about


def _line(value: Value) -> str:
    """Return a text on one line, cut to the length of a title."""
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


def _heading(text: str) -> str:
    """Return a line of text as the text of a heading."""
    return regex(r"([\\`*_\[\]<>#~|&])").sub(r"\\\1", text)
