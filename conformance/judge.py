"""Ask a runner every case and say which answers are right. Needs Python 3.11 and nothing else.

`python conformance/judge.py [--format NAME]… [--url URL] -- COMMAND…` prints a line for each format, and the cases that
went another way with `--verbose`; it ends with 1 where there are any, and with 2 where the runner cannot be used.
"""

from __future__ import annotations

import argparse
import http.client
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
FORMATS = ("magi", "markdownlang", "ymj", "mdh", "prapti")
LEVELS = ("must", "should", "may")
KEYS = ("id", "rule", "level", "op", "input", "expect")
SECONDS = 60.0
"""How long a runner may take for one answer."""

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes a request and returns an answer, both as `README.md` describes them."""


class CaseProblem(ValueError):
    """A line of a file of cases is wrong."""


class RunnerProblem(RuntimeError):
    """A runner does not keep to the protocol."""


class Case(NamedTuple):
    """One case. ``rule`` is the section and a name, with a slash between them."""

    format: str
    id: str
    rule: str
    level: str
    op: str
    input: dict[str, Any]
    expect: dict[str, Any]

    @property
    def request(self) -> dict[str, Any]:
        """The request that a runner gets."""
        return {"id": self.id, "format": self.format, "op": self.op, "input": self.input}


class Verdict(NamedTuple):
    """``outcome`` is `passed`, `failed` or `unsupported`; ``why`` says what was found where a case failed."""

    case: Case
    outcome: str
    why: str = ""


def cases_of(name: str, folder: Path = HERE) -> Iterator[Case]:
    """Yield the cases of a format: those written by hand, then those taken from pages of rules."""
    for file in (folder / f"{name}.jsonl", folder / "generated" / f"{name}.jsonl"):
        if file.is_file():
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                yield _case(name, line, f"{file.name}:{number}")


def _case(name: str, line: str, place: str) -> Case:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise CaseProblem(f"{place}: not JSON: {error}") from None
    if not isinstance(found, dict) or tuple(found) != KEYS:
        raise CaseProblem(f"{place}: expected an object with the keys {', '.join(KEYS)} in this order")
    case = Case(name, **found)
    if case.level not in LEVELS:
        raise CaseProblem(f"{place}: the level is {case.level!r}, expected one of {', '.join(LEVELS)}")
    if len(case.expect) == 0 or not set(case.expect) <= {"result", "error"} or len(case.expect) > 1:
        raise CaseProblem(f"{place}: `expect` has one key, `result` or `error`")
    if not case.id.startswith(f"{name}-") or "/" not in case.rule:
        raise CaseProblem(f"{place}: expected an id that begins with `{name}-`, and a rule `SECTION/NAME`")
    return case


def judge(case: Case, answer: dict[str, Any]) -> Verdict:
    """Compare an answer with what its case expects. Raises `RunnerProblem` for what is no answer to it."""
    if answer.get("id") != case.id:
        raise RunnerProblem(f"expected the answer to {case.id!r}, found one to {answer.get('id')!r}")
    if ("result" in answer) is ("error" in answer):
        raise RunnerProblem(f"the answer to {case.id!r} has to have one of the keys `result` and `error`")
    if "error" not in answer:
        found = {"result": answer["result"]}
        if _leaves_out(case.expect.get("result"), answer["result"]):
            return Verdict(case, "unsupported")
    elif answer["error"] == "unsupported":
        return Verdict(case, "unsupported")
    elif isinstance(answer["error"], dict):
        line = answer["error"].get("line")
        found = {"error": {"line": line} if line is not None else dict(case.expect.get("error", {}))}
    else:
        raise RunnerProblem(f'the error of {case.id!r} is neither an object such as {{"line": 3}} nor "unsupported"')
    why = "; ".join(differences(case.expect, found))
    return Verdict(case, "failed" if why else "passed", why)


def _leaves_out(expected: Any, found: Any) -> bool:
    """Return whether a result lacks a key that the case is about, as that of an implementation without it does."""
    return isinstance(expected, dict) and isinstance(found, dict) and not set(expected) - {"$contains"} <= set(found)


def differences(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    """Yield where a value is not the expected one. Of an object the expected keys count, of a list all items."""
    if isinstance(expected, dict) and set(expected) == {"$contains"}:
        if not isinstance(found, str | list) or expected["$contains"] not in found:
            yield f"{place or '/'}: expected {_short(expected['$contains'])} inside {_short(found)}"
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key not in found:
                yield f"{place}/{key}: missing, expected {_short(value)}"
            else:
                yield from differences(value, found[key], f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (first, second) in enumerate(zip(expected, found, strict=True)):
            yield from differences(first, second, f"{place}/{number}")
    elif isinstance(expected, bool) is not isinstance(found, bool) or expected != found:
        yield f"{place or '/'}: expected {_short(expected)}, found {_short(found)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:120] + "…"


class Runner(AbstractContextManager["Runner"]):
    """A program that answers on standard output, one line for each line on its standard input."""

    def __init__(
        self, command: Iterable[str], seconds: float = SECONDS, environ: Mapping[str, str] | None = None
    ) -> None:
        self.seconds = seconds
        self._process = subprocess.Popen(
            list(command), env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. Raises `RunnerProblem`."""
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(json.dumps(request, ensure_ascii=False) + "\n")
                stdin.flush()
            line = self._lines.get(timeout=self.seconds)
        except queue.Empty:
            raise RunnerProblem(f"no answer to {request['id']!r} within {self.seconds:g} seconds") from None
        except OSError as error:
            raise RunnerProblem(f"the runner ended before {request['id']!r}: {error}") from None
        if not line:
            raise RunnerProblem(f"the runner ended without an answer to {request['id']!r}")
        return answer_of(line, request["id"])

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent to a runner that has ended
                if stream is not None:
                    stream.close()


def answer_of(line: str, id: str) -> dict[str, Any]:  # noqa: A002 - the key of the protocol
    """Return what a line of a runner says. Raises `RunnerProblem`."""
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise RunnerProblem(f"the answer to {id!r} is not JSON ({error}): {_short(line.rstrip())}") from None
    if not isinstance(answer, dict):
        raise RunnerProblem(f"the answer to {id!r} is not an object: {_short(answer)}")
    return answer


def over_http(url: str) -> Ask:
    """Return what answers cases of the operation `get` from a server; everything else is unsupported."""
    base = urlsplit(url)

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] != "get":
            return {"id": request["id"], "error": "unsupported"}
        connection = http.client.HTTPConnection(base.netloc, timeout=SECONDS)
        wanted = request["input"]
        try:
            path = base.path.rstrip("/") + wanted["path"]
            connection.request(wanted.get("method", "GET"), path, headers=wanted.get("headers", {}))
            reply = connection.getresponse()
            headers = {name.lower(): value for name, value in reply.getheaders()}
            return {"id": request["id"], "result": said(reply.status, headers, reply.read())}
        except OSError as error:
            raise RunnerProblem(f"{url} does not answer {request['id']!r}: {error}") from None
        finally:
            connection.close()

    return ask


def said(status: int, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """Return the result of the operation `get`; ``json`` is the body where its type says so."""
    text = body.decode("utf-8", "replace")
    kind = headers.get("content-type", "").partition(";")[0]
    value = json.loads(text) if kind == "application/json" and text else None
    return {"status": status, "headers": headers, "type": kind, "body": text, "json": value}


def run(ask: Ask, cases: Iterable[Case]) -> Iterator[Verdict]:
    """Yield the verdict on every case."""
    for case in cases:
        yield judge(case, ask(case.request))


def main(arguments: list[str]) -> int:
    """Run the command line."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="judge.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--format", action="append", choices=FORMATS, help="only this format; may be repeated")
    parser.add_argument("--url", help="a server that has the folder `site`, for the operation `get`")
    parser.add_argument("--verbose", action="store_true", help="name the cases that went another way")
    given, command = parser.parse_args(arguments[:split]), arguments[split + 1 :]
    if bool(given.url) is bool(command):
        parser.error("give a command after `--`, or an --url")
    if given.url and not given.url.startswith("http://"):
        parser.error(f"--url is {given.url!r}, expected one that begins with http://")
    failed = False
    try:
        for name in given.format or FORMATS:
            if given.url:
                verdicts = list(run(over_http(given.url), cases_of(name)))
            else:
                with Runner(command) as runner:
                    verdicts = list(run(runner, cases_of(name)))
            failed |= report(name, verdicts, verbose=given.verbose)
    except (RunnerProblem, CaseProblem, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(failed)


def report(name: str, verdicts: list[Verdict], *, verbose: bool) -> bool:
    """Print what came of a format, and return whether a case failed."""
    number = {outcome: sum(each.outcome == outcome for each in verdicts) for outcome in ("passed", "unsupported")}
    failing = [each for each in verdicts if each.outcome == "failed"]
    print(f"{name}: {number['passed']} passed, {len(failing)} failed, {number['unsupported']} not supported")
    for each in failing if verbose else ():
        print(f"  {each.case.id} ({each.case.level}, {each.case.rule}): {each.why}")
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
