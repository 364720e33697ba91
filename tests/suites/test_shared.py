"""The shared tests: Prosa passes them, every rule has a case, and wrong answers and senseless runners are seen."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from conformance.judge import (
    FORMATS,
    LEVELS,
    Case,
    CaseProblem,
    Runner,
    RunnerProblem,
    Verdict,
    answer_of,
    cases_of,
    differences,
    judge,
    main,
    said,
)
from conformance.runners.lines import Rejected, Unsupported, answer
from tests.house.tree import ROOT
from tests.suites import shared
from tests.web.asking import serving
from tools.cases import OUT, SOURCES, cases

CASES = {name: list(cases_of(name)) for name in FORMATS}
EVERY = [case for name in FORMATS for case in CASES[name]]
RULES = [
    [*line.split("\t"), ""][:4] for line in (ROOT / "conformance" / "rules.tsv").read_text("utf-8").splitlines()[1:]
]
ECHO = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print({0}, flush=True)
"""


@pytest.mark.parametrize("name", FORMATS)
def test_prosa_passes_every_case(name: str):
    verdicts = [shared.own(case) for case in CASES[name] if case.op != "get"]
    assert [(each.case.id, each.why) for each in verdicts if each.outcome != "passed"] == []
    assert len(verdicts) >= 40


def test_a_site_of_prosa_passes_every_case(tmp_path: Path):
    files = {file.name: file.read_text("utf-8") for file in shared.SITE.iterdir()}
    asked = [case for case in CASES["mdh"] if case.op == "get"]
    with serving(tmp_path, files) as site:
        for case in asked:
            given = case.input
            got = site.ask(given["path"], method=given["method"], headers=[*given["headers"].items()])
            result = said(got.status, dict(got.headers), got.body)
            assert judge(case, {"id": case.id, "result": result}) == Verdict(case, "passed"), case.id
    assert len(asked) >= 10


def test_every_rule_has_a_case_or_a_reason():
    assert [name for name, *_ in RULES if name not in FORMATS] == []
    named = {(name, rule): level for name, rule, level, _ in RULES}
    assert len(named) == len(RULES)
    assert {(case.format, case.rule): case.level for case in EVERY}.items() <= named.items()
    covered = {(case.format, case.rule) for case in EVERY}
    for name, rule, level, note in RULES:
        assert level in LEVELS
        assert ((name, rule) in covered) is not bool(note), (name, rule)
        if note.startswith("see "):
            assert (name, note.removeprefix("see ")) in covered, (name, rule)


def test_every_format_has_a_page_and_ids_are_unique():
    assert len({case.id for case in EVERY}) == len(EVERY)
    for name in FORMATS:
        text = (ROOT / "conformance" / f"{name}.md").read_text("utf-8")
        sections = [rule for found, rule, *_ in RULES if found == name]
        assert [word for word in re.findall(r"`([\w.-]+/[\w.-]+)`", text) if word not in sections] == []


def test_generated_cases_are_those_of_the_pages():
    """If this fails, run `python -m tools.cases`, and read the difference."""
    made = cases()
    assert {file.name for file in OUT.iterdir()} == {f"{name}.jsonl" for name in made}
    for name, lines in made.items():
        assert (OUT / f"{name}.jsonl").read_text("utf-8") == "".join(lines), name
    assert all(any(f"-{page}-1" in line for line in made[source.format]) for page, source in SOURCES.items())


def test_no_distribution_has_the_cases():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    packed = [*built["wheel"]["packages"], *built["wheel"]["force-include"], *built["sdist"]["include"]]
    assert packed and [name for name in packed if name.strip("/").startswith("conformance")] == []


def test_no_case_speaks_of_codes_or_messages_of_prosa():
    keys = {key for case in EVERY for key in case.expect}
    assert keys == {"result", "error"}
    assert {key for case in EVERY for key in case.expect.get("error", {})} <= {"line"}


def test_a_wrong_answer_fails_every_case():
    """Rejecting what is right, accepting what is wrong, and another value or line."""
    for case in EVERY:
        wrong: list[dict[str, Any]] = [{"error": {"line": 99_999}}] if "result" in case.expect else [{"result": {}}]
        if case.expect.get("error"):
            wrong.append({"error": {"line": case.expect["error"]["line"] + 1}})
        if "result" in case.expect and case.expect["result"] != {}:
            wrong.append({"result": _spoilt(case.expect["result"])})
        for each in wrong:
            assert judge(case, {"id": case.id, **each}).outcome == "failed", (case.id, each)


def _spoilt(value: Any) -> Any:
    """Return a value that differs in every leaf."""
    if isinstance(value, dict) and "$contains" not in value and value:
        return {key: _spoilt(each) for key, each in value.items()}
    return [value, value, "spoilt"] if not isinstance(value, dict) else 7


@pytest.mark.parametrize(
    ("expected", "found", "why"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, ""),
        ({"a": 1}, {"a": True}, "/a: expected 1, found true"),
        ([1], [1, 2], "/: expected [1], found [1, 2]"),
        ([{"a": 1}], [{"a": 2}], "/0/a: expected 1, found 2"),
        ({"a": {"$contains": "x"}}, {"a": "xy"}, ""),
        ({"a": {"$contains": "x"}}, {"a": ["x"]}, ""),
        ({"a": {"$contains": "x"}}, {"a": None}, '/a: expected "x" inside null'),
        ({"a": {"b": 1}}, {"a": {}}, "/a/b: missing, expected 1"),
        (None, 0, "/: expected null, found 0"),
    ],
)
def test_values_compare_by_what_is_expected(expected: Any, found: Any, why: str):
    assert "; ".join(differences(expected, found)) == why


def test_a_key_that_is_left_out_is_not_supported_and_a_rejection_without_a_place_counts():
    case = Case("ymj", "ymj-a", "1/a", "must", "read", {"text": ""}, {"result": {"payload": "x"}})
    assert judge(case, {"id": "ymj-a", "result": {"header": {}}}).outcome == "unsupported"
    assert judge(case, {"id": "ymj-a", "error": "unsupported"}).outcome == "unsupported"
    refused = case._replace(expect={"error": {"line": 3}})
    for error, outcome in (
        ({}, "passed"),
        ({"line": None}, "passed"),
        ({"line": 3}, "passed"),
        ({"line": 4}, "failed"),
    ):
        assert judge(refused, {"id": "ymj-a", "error": error}).outcome == outcome


@pytest.mark.parametrize(
    ("said_by_runner", "problem"),
    [
        ("'not json'", "the answer to 'a' is not JSON"),
        ("json.dumps([1])", "the answer to 'a' is not an object: [1]"),
        ("json.dumps({'id': 'b', 'result': 1})", "expected the answer to 'a', found one to 'b'"),
        ("json.dumps({'id': 'a'})", "has to have one of the keys `result` and `error`"),
        ("json.dumps({'id': 'a', 'result': 1, 'error': {}})", "has to have one of the keys `result` and `error`"),
        ("json.dumps({'id': 'a', 'error': 'boom'})", "the error of 'a' is neither an object"),
        ("sys.exit(0)", "the runner ended without an answer to 'a'"),
    ],
)
def test_a_runner_without_sense_is_named(said_by_runner: str, problem: str):
    case = Case("ymj", "a", "1/a", "must", "read", {"text": ""}, {"result": {}})
    with pytest.raises(RunnerProblem) as raised, Runner([sys.executable, "-c", ECHO.format(said_by_runner)]) as runner:
        judge(case, runner(case.request))
    assert problem in str(raised.value)


def test_a_runner_that_says_nothing_is_not_waited_for():
    silent = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with pytest.raises(RunnerProblem, match=r"no answer to 'a' within 0\.05 seconds"), Runner(silent, 0.05) as runner:
        runner({"id": "a"})


def test_an_answer_has_its_place_in_the_problem():
    with pytest.raises(RunnerProblem, match=r"the answer to 'ymj-a' is not JSON \(.*\): \"nonsense\""):
        answer_of("nonsense\n", "ymj-a")


def written(**given: Any) -> str:
    """The line of a case."""
    whole = {"id": "ymj-a", "rule": "1/a", "level": "may", "op": "read", "input": {}, "expect": {"result": {}}}
    return json.dumps({**whole, **given})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "ymj.jsonl:1: not JSON"),
        ("[]", "expected an object with the keys id, rule, level, op, input, expect"),
        (
            _line := json.dumps({"id": "ymj-a", "rule": "1/a", "level": "can", "op": "", "input": {}, "expect": {}}),
            "level",
        ),
        (_line.replace('"can"', '"may"'), "`expect` has one key"),
        (
            _line.replace('"can"', '"may"').replace('"expect": {}', '"expect": {"result": 1}').replace("ymj-a", "a"),
            "an id",
        ),
    ],
)
def test_a_case_that_is_none_is_named(line: str, problem: str, tmp_path: Path):
    (tmp_path / "ymj.jsonl").write_text(line + "\n")
    with pytest.raises(CaseProblem, match=r"ymj\.jsonl:1: ") as raised:
        list(cases_of("ymj", tmp_path))
    assert problem in str(raised.value)


def test_the_loop_of_a_runner_turns_exceptions_into_answers():
    def do(name: str, op: str, given: dict[str, Any]) -> Any:
        if op == "no":
            raise Rejected(given["line"])
        if op != "yes":
            raise Unsupported
        return name

    def asked(op: str) -> dict[str, Any]:
        return answer({"id": "a", "format": "ymj", "op": op, "input": {"line": 2}}, do)

    assert asked("yes") == {"id": "a", "result": "ymj"}
    assert asked("no") == {"id": "a", "error": {"line": 2}}
    assert asked("else") == {"id": "a", "error": "unsupported"}


def test_the_command_line_says_what_failed(capsys: pytest.CaptureFixture[str]):
    accepting = [sys.executable, "-c", ECHO.format("json.dumps({'id': request['id'], 'result': {}})")]
    without = [sys.executable, "-c", ECHO.format("json.dumps({'id': request['id'], 'error': 'unsupported'})")]
    assert main(["--format", "prapti", "--", *without]) == 0
    assert capsys.readouterr().out == f"prapti: 0 passed, 0 failed, {len(CASES['prapti'])} not supported\n"
    assert main(["--format", "magi", "--verbose", "--", *accepting]) == 1
    assert "magi-not-json (must, 2/object): /error: missing" in capsys.readouterr().out
    assert main(["--format", "ymj", "--", sys.executable, "-c", "print('x')"]) == 2
    assert "error: the answer to 'ymj-three-sections' is not JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a command after `--`, or an --url"),
        (["--url", "http://127.0.0.1:9", "--", "cat"], "give a command after `--`, or an --url"),
        (["--url", "ftp://x"], "--url is 'ftp://x', expected one that begins with http://"),
        (["--format", "html", "--", "cat"], "invalid choice: 'html'"),
    ],
)
def test_wrong_use_of_the_command_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert words in capsys.readouterr().err


def test_a_runner_that_does_not_start_or_ends_at_once_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["--format", "ymj", "--", sys.executable, "-c", "import sys; sys.exit(3)"]) == 2
    assert "error: the runner ended" in capsys.readouterr().err
    assert main(["--format", "ymj", "--", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The URL of a server that says the same to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/markdown")
            self.end_headers()
            self.wfile.write(b"---\nid: ferries\n---\n")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_server_is_asked_by_its_address(elsewhere: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--format", "mdh", "--verbose", "--url", elsewhere]) == 1
    told = capsys.readouterr().out
    assert "mdh-a-node (must, 11/markdown-for-every-node): /result/body: expected" in told and "mdh-root " not in told
    assert main(["--format", "mdh", "--url", "http://127.0.0.1:9"]) == 2
    assert "error: http://127.0.0.1:9 does not answer 'mdh-root'" in capsys.readouterr().err


def test_the_table_has_the_figures_of_prosa_and_names_every_origin():
    text = (ROOT / "docs" / "compatibility.md").read_text("utf-8")
    for name in FORMATS:
        passed = [Verdict(case, "passed") for case in CASES[name]]
        assert shared.row(name, "Prosa", shared.prosa.__version__, passed) in text
    for origin in shared.ORIGINS:
        (line,) = (each for each in text.splitlines() if each.startswith(f"| {origin.format} | {origin.name} |"))
        numbers = [int(word) for word in line.replace("|", " ").split() if word.isdigit()][-1:]
        assert numbers and "unknown" not in line
        assert f"| `{origin.where}` |" in text
    assert shared.with_rows(text, {}) == text


def test_rows_are_counted_by_level():
    one = CASES["ymj"][0]
    found = [Verdict(one, "passed"), Verdict(one, "failed", "x"), Verdict(one._replace(level="may"), "unsupported")]
    assert shared.row("ymj", "Other", "1", found) == "| ymj | Other | 1 | 1 of 2 | none | none | 1 |"


def test_what_cannot_be_run_is_said_and_keeps_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "here").mkdir()
    broken = shared.Origin("Broken", "ymj", "here", "elsewhere", (sys.executable, "-c", "print('x')"))
    monkeypatch.setattr(shared, "ORIGINS", (broken, broken._replace(name="Gone", where="gone")))
    monkeypatch.setattr(shared, "of_prosa", lambda: {"ymj": [Verdict(CASES["ymj"][0], "failed", "why")]})
    page = f"{shared.HEAD}\n|---|---|---|---|---|---|---|\n| ymj | Gone | 1 | 1 of 1 | none | none | 0 |\n\nMore.\n"
    told: list[str] = []
    changed, status = shared.refresh(page, tmp_path, told.append)
    assert status == 1 and "| ymj | Gone | 1 |" in changed and "0 of 1" in changed and "Broken" not in changed
    assert [words.split(":")[0] for words in told] == ["  ymj-three-sections", "missing", "missing"]
