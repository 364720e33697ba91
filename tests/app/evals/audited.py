"""Suites for tests of audits: vacuous ones, after patterns of public suites, and good ones.

Each is a mapping of what stands in it. `cases` are assertions of the cases of a skill, one list for each, with `ask` as
their requests; `triggers` says of each request whether the skill is for it; `tests` are the blocks of a test document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

BODY = "# Tides\n\nSay when the water is high.\n\n## Units\n\nHeights in metres.\n"

ASKED = (
    "When is high water at Brest?",
    "How high is the tide at Jersey tonight?",
    "Is the causeway at Noirmoutier open at noon?",
    "Which port has the larger range, Dover or Calais?",
    "When can I launch at Falmouth?",
)


class Made(Struct, frozen=True):
    """A suite. ``kind`` is the finding that is expected. ``answer`` is a model, given all texts of a request."""

    name: str
    kind: str = ""
    cases: tuple[list[Any], ...] = ()
    ask: tuple[str, ...] = ASKED
    triggers: tuple[tuple[str, bool], ...] = ()
    tests: tuple[tuple[str, str], ...] = ()
    front: str = ""
    more: Mapping[str, Any] = {}
    body: str = BODY
    answer: Callable[[str], str] | None = None


def every(*assertions: Any, times: int = 4) -> tuple[list[Any], ...]:
    return tuple([*assertions] for _ in range(times))


def each_own(*texts: str, **more: Any) -> tuple[list[Any], ...]:
    return tuple([{"contains": text, **more}] for text in texts)


PORTS = ("Brest", "Jersey", "open", "Jersey is not it", "Falmouth")
TIMES = ("06:12", "11.4 m", "closed until 13:40", "Dover", "from 15:05")

POSITIVE = tuple((f"{each} (tide)", True) for each in ASKED)

JUDGES = '{"reason": "fine", "pass": true}'


def yes(text: str) -> str:
    """A model whose grader passes everything, and that answers anything else by the text of the skill."""
    if "You judge the output" in text:
        return JUDGES
    return "The tide is high at 06:12." if "Say when" in text else "I do not know."


def lenient(text: str) -> str:
    """A grader that passes whatever is polite."""
    if "You judge the output" in text:
        return JUDGES if "cannot help" in text else '{"reason": "empty", "pass": false}'
    return "At 06:12."


def strict(text: str) -> str:
    """A grader that reads the answer, and a model that needs the skill."""
    if "You judge the output" in text:
        return JUDGES if "06:12" in text else '{"reason": "no time", "pass": false}'
    return "At 06:12, 4.1 metres." if "Say when" in text else "I do not know."


def knows(text: str) -> str:
    """A model that answers all by itself."""
    for asked, said in zip(ASKED, TIMES, strict=True):
        if asked in text:
            return said
    return "06:12"


def _yaml(request: str, expect: str = "", run: str = "") -> str:
    found = f"```yaml input\nrequest: {request}\n```\n"
    found += f"\n```yaml expect\n{expect}\n```\n" if expect else ""
    return found + (f"\n```yaml run\n{run}\n```\n" if run else "")


def documents(*expected: str, run: str = "") -> tuple[tuple[str, str], ...]:
    """Cases of a test document: a request, and what is expected of its answer."""
    asked = ("I was charged twice.", "Where is my card?", "I want twenty seats.", "The app fails.")
    return tuple((f"Case {at}", _yaml(asked[at], each, run)) for at, each in enumerate(expected))


VACUOUS = (
    Made("an empty piece of text", "empty-passes", every({"contains": ""})),
    Made("any text at all", "empty-passes", every({"matches": "(?s)^.*$"})),
    Made("at least nothing", "empty-passes", every({"length": {"min": 0}})),
    Made("a length of at least one", "refusal-passes", every({"length": {"min": 1}})),
    Made("more than ten characters", "refusal-passes", every({"length": {"min": 10, "max": 5000}})),
    Made("no error", "empty-passes", every({"not-contains": "error"})),
    Made("no placeholders", "empty-passes", every({"not-contains": ["lorem ipsum", "as an AI"]})),
    Made("a letter", "refusal-passes", every({"matches": "[A-Za-z]"})),
    Made("a sentence that ends", "refusal-passes", every({"matches": "\\.\\s*$"})),
    Made("not much time", "empty-passes", every({"seconds": {"max": 60}})),
    Made("few calls", "empty-passes", every({"calls": {"max": 20}})),
    Made("a word that every answer has", "one-answer-passes", every({"contains": "tide"})),
    Made(
        "the name of the skill", "one-answer-passes", every({"matches": "(?i)tide-times"}, {"contains": "tide-times"})
    ),
    Made("one of all that can be", "one-answer-passes", every({"one-of": ["high", "low", "slack"]})),
    Made("words of the request", "echo-passes", each_own("Brest", "Jersey", "Noirmoutier", "Dover", "Falmouth")),
    Made(
        "one case that takes any answer",
        "any-case-passes",
        (*each_own("06:12 A", "11:4 B", "13:40 C", "15:05 D"), [{"contains": ":"}]),
    ),
    Made(
        "a condition that always holds beside a good one",
        "assertion-never-fails",
        tuple([{"contains": each}, {"matches": "(?s).*"}] for each in TIMES),
    ),
    Made("a type that every answer has", "empty-passes", every({"schema": {"type": "string"}})),
    Made("a gate that is always open", "gate-never-closes", each_own(*TIMES), more={"require": "pass^1 >= 0"}),
    Made("requests of which none is for another", "no-negative-trigger", triggers=POSITIVE),
    Made(
        "requests of which none is for it", "no-positive-trigger", triggers=tuple((each, False) for each, _ in POSITIVE)
    ),
    Made("a grader that passes everything", "grader-passes-everything", every("The answer is correct"), answer=yes),
    Made(
        "a grader that passes a polite refusal",
        "grader-passes-everything",
        every("The answer is helpful and polite"),
        answer=lenient,
    ),
    Made("cases that the model solves alone", "passes-without", each_own(*TIMES), answer=knows),
    Made(
        "an object of any kind",
        "empty-passes",
        tests=documents("$: {schema: {type: object}}", "$: {schema: {type: object}}"),
    ),
    Made(
        "a bound of the reason",
        "empty-passes",
        tests=documents("$.reason: {length: {max: 200}}", "$.reason: {length: {max: 80}}"),
    ),
    Made("no such field", "empty-passes", tests=documents("$.error: {absent: true}", "$.error: {absent: true}")),
    Made("always the same team", "one-answer-passes", tests=documents("team: care", "team: care", "team: care")),
    Made("any of the teams", "one-answer-passes", tests=documents(*["team: {one-of: [billing, care, sales]}"] * 3)),
)
"""Each says nothing of its subject, in its own way."""

GOOD = (
    Made("a fact for each", cases=each_own(*TIMES)),
    Made("a fact, and what must not be said", cases=each_own(*TIMES, **{"not-contains": "I do not know"})),
    Made(
        "a pattern with a time",
        cases=tuple(
            [{"matches": each}]
            for each in ("\\b06:1[0-4]\\b", "\\b1[12]\\.\\d m", "(?i)closed", "(?i)dover", "15:0[0-9]")
        ),
    ),
    Made("facts and a length", cases=tuple([{"contains": each}, {"length": {"max": 400}}] for each in TIMES)),
    Made("several facts of each", cases=tuple([{"contains": [each, "metres"]}] for each in TIMES)),
    Made("a refusal where one is due", cases=(*each_own(*TIMES[:4]), [{"matches": "(?i)cannot|not able"}])),
    Made("two answers that happen to be the same", cases=each_own("06:12", "06:12", "11.4 m", "Dover", "15:05")),
    Made("an answer in JSON", cases=tuple([{"json": {"port": each}}] for each in ("Brest", "Jersey", "Dover"))),
    Made(
        "one of a few", cases=tuple([{"one-of": each}] for each in (["06:12", "6:12"], ["Dover"], ["closed", "shut"]))
    ),
    Made("exactly", cases=tuple([{"equals": each}] for each in TIMES)),
    Made("two cases", cases=each_own("06:12", "11.4 m")),
    Made(
        "an extract, and not the rest of the request",
        cases=tuple(
            [{"contains": each, "not-contains": "?"}]
            for each in ("Brest", "Jersey", "Noirmoutier", "Dover", "Falmouth")
        ),
    ),
    Made("tools that must be called", cases=every({"tools": {"called": ["skill_read"]}}, times=2)),
    Made("a grader that reads", cases=every("The answer has the time of high water"), answer=strict),
    Made(
        "rules before a grader",
        cases=tuple([{"contains": "06:12"}, "The answer has the right unit"] for _ in ASKED),
        answer=strict,
    ),
    Made(
        "cases that need the skill",
        cases=(*each_own("06:12", "4.1 metres", "At 06:12"), [{"matches": "^At 06"}]),
        answer=strict,
    ),
    Made(
        "requests of both kinds",
        triggers=(*POSITIVE[:3], ("What does the ferry cost?", False), ("Write a poem.", False)),
    ),
    Made("a team for each", tests=documents("team: billing", "team: care", "team: sales")),
    Made(
        "a team and words of the reason",
        tests=documents(
            "team: billing\n$.reason: {contains: twice}", "team: care\n$.reason: {length: {min: 5}, contains: card}"
        ),
    ),
    Made(
        "an input that is refused",
        tests=(
            *documents("team: billing", "team: care"),
            ("No text", "```yaml input\nrequest: 3\n```\n\n```yaml run\nfails: {kind: input}\n```\n"),
        ),
    ),
    Made(
        "what must not be in a list",
        tests=documents(
            "team: billing\n$.reason: {not-contains: card}", "team: care\n$.reason: {not-contains: charge}"
        ),
    ),
)
"""Cases that fail for what should not pass."""
