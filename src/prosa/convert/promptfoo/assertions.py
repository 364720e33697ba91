"""The assertions of promptfoo, as what a case expects: words on the output, a check in Python, bounds of the run, and
questions for a grader.

In: assertions as plain data. Out: the blocks of a case. JavaScript is never run or translated; code in Python is kept
for a person to review. What has no counterpart is reported.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from prosa.convert.nunjucks import filled
from prosa.convert.promptfoo.cases import Draft, shown
from prosa.convert.promptfoo.log import Log, Unreadable, content_of, file_of, is_code
from prosa.data import Value
from prosa.evaluation.patterns import BadPattern, compile_pattern
from prosa.regex import regex


class Wanted(Struct):
    """What a case expects. ``words`` is a matcher, ``checks`` are statements of a check in Python, ``run`` and
    ``grade`` those blocks, and ``examples`` code that was not converted, for people."""

    words: dict[str, str | list[str]] = field(default_factory=dict)
    checks: list[str] = field(default_factory=list)
    run: dict[str, dict[str, float]] = field(default_factory=dict)
    grade: list[str] = field(default_factory=list)
    examples: list[tuple[str, str]] = field(default_factory=list)


class _Asserted(Struct, frozen=True):
    """An assertion: its type without `not-`, its value with variables filled in, and its place."""

    kind: str
    negated: bool
    value: Value
    threshold: float | None
    pointer: str


class _Lost(Exception):
    """An assertion without a counterpart, with the reason."""


def wanted(draft: Draft, log: Log, root: Mapping[str, Value], *, structured: bool) -> Wanted:
    """Return what a case expects. ``structured``: the output is data, not a text. ``root`` is the configuration, for
    references."""
    expected = Wanted()
    if draft.options.get("transform") or draft.options.get("postprocess"):
        words = "the expectations were meant for the output after `transform`, which is not run: review them"
        log.add("manual", f"{draft.pointer}/options", words, "expect")
    for pointer, check in flat_assertions(draft.asserted, log, root):
        try:
            asserted = _asserted(pointer, check, draft)
            _add(asserted, expected, log, structured=structured)
            log.kept += 1
        except _Lost as problem:
            log.add("lost", pointer, f"{_title(check)}: {problem}")
            _example(check, expected)
    return expected


def flat_assertions(
    asserted: Sequence[tuple[str, Value]], log: Log, root: Mapping[str, Value], *, inside: bool = False
) -> list[tuple[str, Mapping[str, Value]]]:
    """Return assertions without sets and references. ``inside`` a set there is no other."""
    assertions: list[tuple[str, Mapping[str, Value]]] = []
    for pointer, check in asserted:
        check = _referred(check, root)
        if not isinstance(check, dict):
            log.add("lost", pointer, f"`{shown(check)}` is not an assertion")
        elif check.get("type") != "assert-set":
            assertions.append((pointer, check))
        elif inside:
            log.add("lost", pointer, "a set inside a set has no counterpart")
        else:
            threshold, inner = check.get("threshold"), check.get("assert")
            if isinstance(threshold, int | float) and threshold < 1:
                log.add("guessed", pointer, f"of this set all has to hold, not {threshold:g} of it")
            parts = [(f"{pointer}/assert/{at}", one) for at, one in enumerate(inner if isinstance(inner, list) else [])]
            assertions += flat_assertions(parts, log, root, inside=True)
    return assertions


def _referred(value: Value, root: Mapping[str, Value]) -> Value:
    """Return the assertion that `$ref` names, with what stands beside it."""
    reference = value.get("$ref") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(reference, str) or not reference.startswith("#/"):
        return value
    target: Value | Mapping[str, Value] = root
    for name in reference[2:].split("/"):
        target = target.get(name) if isinstance(target, Mapping) else None
    if not isinstance(target, Mapping):
        return value
    return {**target, **{key: member for key, member in value.items() if key != "$ref"}}


def _title(check: Mapping[str, Value]) -> str:
    value = check.get("value")
    return f"`{shown(check.get('type'))}`" + (f" of `{shown(value)}`" if value is not None else "")


def _asserted(pointer: str, check: Mapping[str, Value], draft: Draft) -> _Asserted:
    kind = check.get("type")
    if not isinstance(kind, str):
        raise _Lost("it has no type")
    if check.get("transform"):
        raise _Lost("it is about the output after `transform`, which is not run")
    if check.get("weight") == 0:
        raise _Lost("it has the weight 0 and decides nothing")
    threshold = check.get("threshold")
    number = threshold if isinstance(threshold, int | float) and not isinstance(threshold, bool) else None
    negated = kind.startswith("not-")
    kind = kind.removeprefix("not-")
    value = check.get("value") if kind in ("python", "javascript") else _filled(check.get("value"), draft.variables)
    return _Asserted(kind, negated, value, number, pointer)


def _filled(value: Value, variables: Mapping[str, Value]) -> Value:
    if isinstance(value, list):
        return [_filled(item, variables) for item in value]
    if not isinstance(value, str):
        return value
    text = filled(value, variables)
    if text is None:
        raise _Lost("its value is a template that has no value here")
    return text


def _add(asserted: _Asserted, expected: Wanted, log: Log, *, structured: bool) -> None:
    """Put an assertion where it belongs. Raises `_Lost`."""
    kind = asserted.kind
    if kind in _RUN:
        _bound(asserted, expected)
    elif kind in _GRADED:
        _ask(asserted, expected, log)
    elif kind == "python":
        _python(asserted, expected, log)
    elif kind in _LOST:
        raise _Lost(_LOST[kind])
    elif kind in _CONDITIONS:
        asserted = _opened(asserted, log)
        if asserted.negated or structured or not _word(asserted, expected):
            condition = _CONDITIONS[kind](asserted)
            text = f"{'not-' if asserted.negated else ''}{kind}"
            text += "" if asserted.value is None else f": {shown(asserted.value)}"
            expected.checks.append(f"if {'' if asserted.negated else 'not '}({condition}):\n    return {text!r}")
    else:
        raise _Lost("promptfoo documents no such assertion, or Prosa has nothing like it")


def _opened(asserted: _Asserted, log: Log) -> _Asserted:
    """Return an assertion whose value does not stand in a file any more."""
    path = file_of(asserted.value)
    if path is None:
        return asserted
    try:
        value = content_of(path, log)
    except Unreadable as problem:
        raise _Lost(str(problem)) from None
    return _Asserted(asserted.kind, asserted.negated, value, asserted.threshold, asserted.pointer)


# ---- words, where there is one ----


def _word(asserted: _Asserted, expected: Wanted) -> bool:
    """Say an assertion in the words of a matcher, where they can; False if they cannot."""
    kind, value, words = asserted.kind, asserted.value, expected.words
    if kind == "equals" and isinstance(value, str | int | float) and not isinstance(value, bool):
        return bool(words.setdefault("equals", str(value)) == str(value))
    if kind in ("contains", "contains-all"):
        known = words.get("contains", [])
        words["contains"] = [*known, *(text for text in _texts(value) if text not in known)]
        return True
    if "matches" in words or kind not in _PATTERNS:
        return False
    pattern = _PATTERNS[kind](value)
    try:
        compile_pattern(pattern)
    except BadPattern:
        return False
    words["matches"] = pattern
    return True


def _texts(value: Value) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts = [item if isinstance(item, str) else json.dumps(item) for item in values if item is not None]
    if not texts or not all(texts):
        raise _Lost("it has no value")
    return texts


def _escaped(value: Value) -> str:
    return "|".join(re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text) for text in _texts(value))


_PATTERNS: Mapping[str, Callable[[Value], str]] = {
    "regex": lambda value: _texts(value)[0],
    "icontains": lambda value: f"(?i){_escaped(value)}",
    "icontains-any": lambda value: f"(?i){_escaped(value)}",
    "contains-any": _escaped,
    "starts-with": lambda value: rf"\A(?:{_escaped(value)})",
}


# ---- conditions in Python; `text` is the output as a text ----


def _all(asserted: _Asserted, form: str, joined: str = "all") -> str:
    return f"{joined}({form} for each in {_texts(asserted.value)!r})"


def _regex(asserted: _Asserted) -> str:
    pattern = _texts(asserted.value)[0]
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        raise _Lost("this pattern is none of Python or RE2") from None
    return f"re.search({pattern!r}, text)"


def _equal(asserted: _Asserted) -> str:
    value = asserted.value
    if isinstance(value, dict | list):
        return f"data(output) == {_literal(value)}"
    return f"text == {value if isinstance(value, str) else json.dumps(value)!r}"


def _literal(value: Value) -> str:
    return f"json.loads({json.dumps(value)!r})"


def _is_json(asserted: _Asserted) -> str:
    _no_schema(asserted)
    return "data(output) is not None"


def _contains_json(asserted: _Asserted) -> str:
    _no_schema(asserted)
    return r"any(data(each) is not None for each in re.findall(r'\{.*\}|\[.*\]', text, re.S))"


def _no_schema(asserted: _Asserted) -> None:
    if asserted.value not in (None, "", {}):
        raise _Lost("a schema that not every case has: give it to the program as its `output`")


def _words(asserted: _Asserted) -> str:
    value = asserted.value
    least, most = (value.get("min"), value.get("max")) if isinstance(value, dict) else (value, value)
    bounds = [bound for bound in (least, most) if bound is not None]
    if not bounds or not all(regex(r"[0-9]+").fullmatch(str(bound)) for bound in bounds):
        raise _Lost("it has no number")
    left, right = (f"{least} <= " if least is not None else "", f" <= {most}" if most is not None else "")
    return f"{left}len(text.split()){right}"


_CONDITIONS: Mapping[str, Callable[[_Asserted], str]] = {
    "equals": _equal,
    "contains": lambda asserted: _all(asserted, "each in text"),
    "contains-all": lambda asserted: _all(asserted, "each in text"),
    "contains-any": lambda asserted: _all(asserted, "each in text", "any"),
    "icontains": lambda asserted: _all(asserted, "each.lower() in text.lower()"),
    "icontains-all": lambda asserted: _all(asserted, "each.lower() in text.lower()"),
    "icontains-any": lambda asserted: _all(asserted, "each.lower() in text.lower()", "any"),
    "starts-with": lambda asserted: _all(asserted, "text.startswith(each)"),
    "regex": _regex,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "word-count": _words,
}


# ---- Python ----


def _python(asserted: _Asserted, expected: Wanted, log: Log) -> None:
    code = asserted.value
    if not isinstance(code, str) or not code.strip():
        raise _Lost("it has no code")
    if file_of(code) is not None:
        raise _Lost("code in a file is not copied: put it into a block `python expect`")
    number = len(expected.checks)
    body = code.strip("\n")
    try:
        if "\n" not in code.strip():
            ast.parse(code.strip(), mode="eval")
            body = f"    return {code.strip()}"
        else:
            body = "\n".join(f"    {line}" for line in body.splitlines())
        ast.parse(f"def asserted(output, context):\n{body}\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _Lost("this is not Python that can be read") from None
    least = 0 if asserted.threshold is None else asserted.threshold
    log.add("manual", asserted.pointer, "a check in Python is kept: review what it reads of `context`", "python expect")
    sign = "" if asserted.negated else "not "
    expected.checks.append(
        f"def asserted_{number}(output, context):\n{body}\n"
        f"if {sign}judged(asserted_{number}(text, {{'vars': input}}), {least}):\n"
        f"    return 'the check in Python number {number + 1}'"
    )


def _example(check: Mapping[str, Value], expected: Wanted) -> None:
    """Keep code that is not converted for people to read."""
    kind, value = str(check.get("type")), check.get("value")
    language = next((name for name in ("javascript", "python", "ruby") if kind.endswith(name)), None)
    if language and isinstance(value, str) and file_of(value) is None and value.strip():
        expected.examples.append((language, value))


def check_code(checks: Sequence[str]) -> str:
    """Return a check in Python of these statements."""
    body = "\n".join(f"    {line}" if line else "" for check in checks for line in check.splitlines())
    helpers = _HELPERS if any("data(" in check for check in checks) else ""
    helpers += _JUDGED if any("judged(" in check for check in checks) else ""
    modules = "import json\n" + ("import re\n" if "re." in body else "")
    text = "    text = output if isinstance(output, str) else json.dumps(output)\n"
    return f"{modules}\n{helpers}def check(input, output, calls):\n{text}{body}\n    return True\n"


_HELPERS = """\
def data(value):
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None

"""
_JUDGED = """\
def judged(said, least):
    if isinstance(said, dict):
        said = said.get("pass", said.get("pass_", said.get("score", False)))
    return said if isinstance(said, bool) else isinstance(said, (int, float)) and said >= least and said > 0

"""


# ---- bounds of the run, and questions ----

_RUN = ("cost", "latency")


def _bound(asserted: _Asserted, expected: Wanted) -> None:
    most = asserted.threshold
    if most is None or most < 0:
        raise _Lost("it has no threshold")
    name, most = ("cost", most) if asserted.kind == "cost" else ("seconds", most / 1000)
    end = "min" if asserted.negated else "max"
    bounds = expected.run.setdefault(name, {})
    bounds[end] = most if end not in bounds else (min if end == "max" else max)(bounds[end], most)


_GRADED: Mapping[str, tuple[bool, str]] = {
    "llm-rubric": (True, "{}"),
    "model-graded-closedqa": (True, "{}"),
    "g-eval": (True, "{}"),
    "agent-rubric": (True, "{}"),
    "factuality": (False, "The output does not contradict this: {}"),
    "model-graded-factuality": (False, "The output does not contradict this: {}"),
    "similar": (False, "The output means the same as this: {}"),
    "answer-relevance": (False, "The output answers the request."),
    "context-faithfulness": (False, "Everything the output claims is in the context of the input."),
}
"""Assertions that a model grades: whether the question is theirs, and the question."""


def _ask(asserted: _Asserted, expected: Wanted, log: Log) -> None:
    own, form = _GRADED[asserted.kind]
    asserted = _opened(asserted, log) if not is_code(str(asserted.value)) else asserted
    if file_of(asserted.value) is not None:
        raise _Lost("it is code, which is not run")
    texts = _texts(asserted.value) if "{}" in form else [""]
    questions = [form.replace("{}", text.strip()) for text in texts]
    if asserted.negated:
        questions = [f"This does not hold: {question}" for question in questions]
    if not own or asserted.negated:
        log.add("guessed", asserted.pointer, f"`{asserted.kind}` is a question for the grader", "grade")
    if asserted.threshold is not None:
        log.add("lost", f"{asserted.pointer}/threshold", "the grader says yes or no, and gives no score")
    expected.grade += [question for question in questions if question not in expected.grade]


_ELSEWHERE = "promptfoo asks a service of its own for it; ask the grader instead (`text grade`)"
_TRACE = "it is about traces, which Prosa does not collect; `run: {tools: …}` says which tools are called"
_CALLS = "it is about tool calls in an answer; `run: {tools: …}` says which tools are called"
_LOST: Mapping[str, str] = {
    "javascript": "JavaScript is not run: write it as a block `python expect`",
    "ruby": "Ruby is not run: write it as a block `python expect`",
    "webhook": "nothing is asked on the network to judge an answer",
    "select-best": "a case is judged by itself; compare programs with `--against`",
    "max-score": "a case is judged by itself; compare programs with `--against`",
    **dict.fromkeys(("classifier", "moderation", "guardrails", "pi", "search-rubric", "video-rubric"), _ELSEWHERE),
    **dict.fromkeys(("context-recall", "context-relevance", "conversation-relevance"), _ELSEWHERE),
    **dict.fromkeys(("trace-span-count", "trace-span-duration", "trace-error-spans"), _TRACE),
    **dict.fromkeys(("is-valid-function-call", "is-valid-openai-function-call", "tool-call-f1"), _CALLS),
    "is-valid-openai-tools-call": _CALLS,
    "skill-used": "test skills with `prosa test SKILL`, which measures which are loaded",
    **dict.fromkeys(("perplexity", "perplexity-score"), "services do not give the probabilities that it needs"),
    **dict.fromkeys(("rouge-n", "bleu", "meteor", "gleu", "levenshtein"), "write it as a block `python expect`"),
    **dict.fromkeys(
        ("is-sql", "contains-sql", "is-xml", "contains-xml", "is-html", "contains-html"),
        "write it as a block `python expect`",
    ),
    "finish-reason": "an answer that was cut is a failed run, without an assertion",
    "human": "keep it in the feedback beside the cases",
}
