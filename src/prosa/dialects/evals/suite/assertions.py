r"""Assertions as other tools write them: sentences, and records that name a rule.

    "The total is in bold"                                   a sentence: for a grader
    {"name": "total", "description": "The total is in bold"}  the same
    {"name": "total", "contains": "42"}                      decided by a rule, as the record says so
    {"type": "regex", "value": "total: \\\\d+"}                 the same in another spelling
    {"json": {"total": 42}}, {"tools": {"called": ["python"]}}
    {"file": "out.csv", "contains": "42"}, {"changed": ["out/**"]}, {"loaded": "x"}, {"command": "check.py"}
                                                             of what an agent left (`evaluation.workspace`)

In: a list as data with places. Out: the questions for a grader, the assertions for rules, the expectations of the run,
and the problems. The meaning of a sentence is never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from prosa.data import Mapping, Node, Scalar, Value, format_pointer, key_span_at, span_at, to_value
from prosa.data import Sequence as Items
from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.evals.suite.fields import ALIASES, GRADED, JSON, RUN, SENTENCES, VALID_JSON
from prosa.dialects.fields import shown, type_name
from prosa.evaluation.case import Assertion, joined_runs, run_mistakes
from prosa.evaluation.expectations import Mistake, mistakes
from prosa.evaluation.matchers import MATCHERS
from prosa.evaluation.workspace import FORMS, Expected, form_of, script_path, workspace_mistakes
from prosa.source import Span

_WORDS = (*MATCHERS, *ALIASES, JSON, *RUN, *FORMS)
_BESIDE: dict[str, str] = {"same_as": "same-as", "exists": "exists", "same-as": "same-as", "only": "only"}
"""Words that say more beside one of `FORMS`, with other spellings."""

_KIND, _VALUE = "type", ("value", "values", "pattern", "expected")

_DECIDING = frozenset((*_WORDS, *_BESIDE))
_FOREIGN = ("failed", "filter")
"""Fields of other tools whose names are near to one of ours."""

_FIELDS = (*_FOREIGN, *SENTENCES, "name", "id", _KIND, *_VALUE, *sorted(_DECIDING - MATCHERS.keys()), *MATCHERS)
"""The last of several spellings is the one that is proposed."""

_NEARLY = 0.8


class Asserted(Struct):
    """What the assertions of a case say."""

    questions: list[str] = field(default_factory=list)
    assertions: list[Assertion] = field(default_factory=list)
    run: dict[str, Value] = field(default_factory=dict)
    workspace: list[Expected] = field(default_factory=list)
    beside: list[tuple[str, Span]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def take(self, node: Node, name: str) -> None:
        """Take in a list of assertions, which stands under ``name``; `expected_behavior` may be one sentence too."""
        if name == "expected_behavior" and isinstance(node, Scalar) and isinstance(node.value, str):
            self._ask(node.value, node)
            return
        if not isinstance(node, Items):
            message = f"`{name}` is a list of assertions, not {type_name(node)}"
            self.problems.append(_problem(message, node))
            return
        for item in node.items:
            if isinstance(item, Scalar) and isinstance(item.value, str):
                self._ask(item.value, item)
            elif isinstance(item, Mapping):
                self._record(item)
            else:
                message = f"an assertion is a sentence or a record, not {type_name(item)}"
                self.problems.append(_problem(message, item))

    def _ask(self, sentence: str, node: Node) -> None:
        if sentence.strip():
            self.questions.append(" ".join(sentence.split()))
        else:
            self.problems.append(_problem("an assertion is empty", node))

    def _record(self, record: Mapping) -> None:
        nodes = {entry.key.text: entry.value for entry in record}
        name = _text(nodes, "name") or _text(nodes, "id")
        sentence = next((text for word in SENTENCES if (text := _text(nodes, word))), "")
        words = {word: node for word, node in nodes.items() if word in _WORDS} or _typed(nodes)
        if words and (slips := [*_misspelt(nodes, record)]):
            self.problems += slips
            return
        kind = _text(nodes, _KIND).lower()
        if words:
            self._decided(words, name or sentence, record)
        elif kind in _WORDS and not _text(nodes, "description"):
            message = f"an assertion of the type `{shown(kind)}` is empty: it needs a `value`"
            self.problems.append(_problem(message, record))
        elif sentence or (kind in GRADED and (sentence := _text(nodes, "value"))):
            self._ask(sentence, record)  # of a type that no rule knows, `semantic` for example
        elif kind and kind not in GRADED:
            self.problems.append(_unknown_kind(kind, nodes[_KIND]))
        elif name:
            self._ask(name, record)
        else:
            self.problems.append(_says_nothing(nodes, record))

    def _decided(self, words: dict[str, Node], name: str, record: Mapping) -> None:
        """Take in what a rule decides, unless something is wrong with it."""
        if any(word in words for word in FORMS):
            self._about_workspace(name, record)
            return
        plain = {ALIASES.get(word, word): to_value(node) for word, node in words.items()}
        matchers = {word: value for word, value in plain.items() if word in MATCHERS}
        run = {word: value for word, value in plain.items() if word in RUN}
        wrong = [*mistakes(matchers), *run_mistakes(run)]
        wrong += mistakes(plain[JSON]) if isinstance(plain.get(JSON), dict | list) else []
        self.problems += [_mistake(mistake, words, record) for mistake in wrong]
        if wrong:
            return
        title = name or ", ".join(plain)
        if matchers:
            self.assertions.append(Assertion(title, matchers))
        if JSON in plain:
            wanted: Value = {"absent": False} if plain[JSON] is True else plain[JSON]
            self.assertions.append(Assertion(title, wanted, as_json=True))
        self._of_run(run, words, record)

    def _of_run(self, run: dict[str, Value], words: dict[str, Node], record: Mapping) -> None:
        """Take in expectations of the run: those of several assertions hold together."""
        joined = joined_runs(self.run, run)
        if joined is None:
            self.problems.append(_problem("`fails` says otherwise in an assertion above", words["fails"]))
        elif wrong := [*run_mistakes(joined)]:
            self.problems += [_mistake(mistake, words, record) for mistake in wrong]
        else:
            self.run = joined

    def _about_workspace(self, name: str, record: Mapping) -> None:
        """Take in what is expected of the workspace of an agent."""
        words = {entry.key.text: entry.value for entry in record if entry.key.text in (*_WORDS, *_BESIDE)}
        plain = {ALIASES.get(word, _BESIDE.get(word, word)): to_value(node) for word, node in words.items()}
        form = form_of(plain)
        wrong = list(workspace_mistakes(plain))
        self.problems += [_mistake(mistake, words, record) for mistake in wrong]
        if form is not None and not wrong:
            value = plain[form]
            value = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self.workspace.append(Expected(name or f"{form} {shown(value)}", form, plain))
            self.beside += _beside(words)


def _beside(words: dict[str, Node]) -> Iterator[tuple[str, Span]]:
    """Yield the files beside the skill that an expectation of the workspace needs, each with its place."""
    for name, node in words.items():
        first = node.items[0] if isinstance(node, Items) and node.items else node
        path = first.value if isinstance(first, Scalar) else None
        if isinstance(path, str) and name == "command":
            yield script_path(path), first.span
        elif isinstance(path, str) and _BESIDE.get(name) == "same-as":
            yield path, first.span


def _typed(nodes: dict[str, Node]) -> dict[str, Node]:
    """Return the word that a record names as its `type`, and its `value`."""
    kind = _text(nodes, _KIND).lower()
    value = next((nodes[word] for word in _VALUE if word in nodes), None)
    if kind in VALID_JSON and value is None:
        return {JSON: Scalar(True, "true", nodes[_KIND].span)}
    return {kind: value} if kind in _WORDS and value is not None else {}


def _text(nodes: dict[str, Node], name: str) -> str:
    node = nodes.get(name)
    value = node.value if isinstance(node, Scalar) else None
    return value.strip() if isinstance(value, str) else ""


def _problem(message: str, node: Node, *notes: str) -> Problem:
    return Problem("bad-assertion", message, node.span, notes)


def _unknown_kind(kind: str, node: Node) -> Problem:
    guess = nearest(kind, _WORDS)
    hint = f"did you mean `{guess}`?" if guess else f"known: {', '.join(_known())}"
    meant = Misspelling(kind, guess) if guess else None
    return Problem(
        "bad-assertion", f"`{shown(kind)}` is not a type of an assertion; {hint}", node.span, misspelling=meant
    )


def _known() -> Iterator[str]:
    yield from (*MATCHERS, JSON, *RUN, *FORMS)


def _misspelt(nodes: dict[str, Node], record: Mapping) -> Iterator[Problem]:
    """Yield the fields that are nearly a word, beside a word: they would decide nothing. Other fields belong to other
    tools."""
    for name in nodes:
        guess = None if name in _FIELDS else nearest(name, _FIELDS, cutoff=_NEARLY)
        entry = record.entry(name)
        if guess in _DECIDING and entry is not None:
            message = f"`{shown(name)}` decides nothing; did you mean `{guess}`?"
            yield Problem("bad-assertion", message, entry.key.span, misspelling=Misspelling(name, guess))


def _says_nothing(nodes: dict[str, Node], record: Mapping) -> Problem:
    known = (*SENTENCES, "name", *_WORDS)
    slip = next(((word, guess) for word in nodes if (guess := nearest(word, known))), None)
    entry = record.entry(slip[0]) if slip else None
    if slip is None or entry is None:
        note = f"it has a sentence as its `description`, or says how it is decided: {', '.join(_known())}"
        return _problem("the assertion is empty", record, note)
    message = f"the assertion is empty; did you mean `{slip[1]}`?"
    return Problem("bad-assertion", message, entry.key.span, misspelling=Misspelling(*slip))


def _mistake(mistake: Mistake, words: dict[str, Node], record: Mapping) -> Problem:
    """Return a mistake at its place in the record: in the word that it is about, or in one that is written
    otherwise."""
    first, *rest = mistake.pointer.removeprefix("/").split("/")
    written = next((word for word in words if ALIASES.get(word, _BESIDE.get(word, word)) == first), None)
    if written is None and JSON in words:
        span = span_at(words[JSON], mistake.pointer)
    else:
        pointer = format_pointer([written, *rest] if written is not None else [])
        span = (key_span_at if mistake.on_key else span_at)(record, pointer)
    meant = Misspelling(mistake.written, mistake.meant) if mistake.meant else None
    return Problem("bad-assertion", mistake.message, span, misspelling=meant)


def asserted(lists: Sequence[tuple[str, Node]]) -> Asserted:
    """Return the combined meaning of several lists of assertions; duplicates count once."""
    combined = Asserted()
    for name, node in lists:
        combined.take(node, name)
    combined.questions = list(dict.fromkeys(combined.questions))
    return combined
