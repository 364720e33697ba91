"""Tests to show: a skill with what an agent did for it, and as many answers as one asks for."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from functools import cache

from prosa.evaluation.case import Case, RunFacts, gate, parse_requirement
from prosa.evaluation.expectations import Failure
from prosa.evaluation.report import (
    AgentFacts,
    Attempt,
    CaseReport,
    Graded,
    Matched,
    Outcome,
    OutputFile,
    Reason,
    Report,
    Step,
    SuiteReport,
    compared,
)
from prosa.evaluation.routing import Routing
from prosa.records.test import Feedback, ShownTest, TestRecord, Trend, TrendPoint

PATH = "skills/delay-notice/evals/evals.json"
MODEL = "openai/gpt-5-mini"
RECORD = TestRecord(
    "t-4f19c2",
    "test",
    "/home/ana/ferries",
    "9c1b7a40f2d1",
    True,
    "0.1.0",
    "2026-11-27T09:14:05.120Z",
    "[]",
    False,
    60,
    "done",
    "2026-11-27T09:16:44.870Z",
    60,
    15,
    1,
    True,
    0.0413,
)
REQUESTS = (
    "The 14:20 to Skerry is 35 minutes late, write the notice",
    "Fog, all crossings to Hestan stopped until noon",
    "Write a notice: the 9:05 leaves from pier 3",
    "The ferry of 17:40 is cancelled, engine trouble",
    "High winds tomorrow, some crossings may be late",
    "One hour late because of a medical emergency aboard",
    "The last boat to Skerry leaves early, at 21:10",
    "Delay over: crossings on time again",
    "Write the notice in Norwegian for the 12:30",
)


def picture(side: int = 24) -> bytes:
    """A small PNG."""
    rows = b"".join(
        b"\0" + bytes([40 + x * 8 if (x // 6 + y // 6) % 2 else 220 for x in range(side)]) for y in range(side)
    )

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def attempt(output: object, outcome: Outcome = "passed", **more: object) -> Attempt:
    """An attempt of one call."""
    facts = RunFacts(2, 0.00071, 3.1, tokens=812)
    return Attempt(output, more.pop("facts", facts), outcome=outcome, calls=2, seconds=more.pop("seconds", 3.1), **more)


def suite(cases: Sequence[CaseReport], label: str = "", **more: object) -> SuiteReport:
    """A suite whose cases have to pass every time."""
    requirement = parse_requirement(str(more.pop("require", "pass^1 >= 0.8")))
    assert requirement is not None
    held = gate(requirement, [each.counted for each in cases])
    return SuiteReport(
        str(more.pop("path", PATH)), "delay-notice", MODEL, requirement, tuple(cases), held, label, **more
    )


def notice(at: int, repeat: int) -> str:
    """What the model writes with the skill."""
    return (
        f"**Delay {at + 1}**\n\nThe 14:{20 + at} to Skerry leaves 35 minutes late, at 14:{55 - at}.\n"
        f"Tickets stay valid for the next {repeat + 2} crossings. We are sorry.\n"
    )


def plain(at: int, repeat: int) -> str:
    """What it writes without."""
    return (
        f"Dear passengers,\n\nThe 14:{20 + at} to Skerry leaves late, at about three o'clock.\n"
        f"Tickets stay valid for the next crossing. Thank you for your patience ({repeat + 1}).\n"
    )


STEPS = (
    Step("say", "I will read the skill before I write the notice."),
    Step("call", "", "skill_read", {"path": "references/tone.md"}),
    Step("result", "Say what happens, when, and what to do. One apology."),
    Step("call", "", "write_file", {"path": "notice.md", "content": "**Delay**…"}),
    Step("result", "permission denied: /etc/notices", is_error=True),
    Step("result", "wrote 214 bytes", size=4210),
)
FILES = (
    OutputFile(
        "notice.md",
        "changed",
        "ab" * 32,
        214,
        True,
        "--- a/notice.md\n+++ b/notice.md\n@@ -1,3 +1,3 @@\n # Notices\n-The 14:20 is on time.\n+It leaves at 14:55.\n",
    ),
    OutputFile("chart.png", "added", "cd" * 32, len(picture()), content=picture()),
    OutputFile(
        "map.svg", "added", "ef" * 32, 80, content=b"<svg onload='alert(1)' xmlns='http://www.w3.org/2000/svg'/>"
    ),
)
AGENT = AgentFacts(
    "claude",
    "2.1.4",
    "done",
    ("delay-notice", "lost-property"),
    ("delay-notice",),
    ("notice.md", "chart.png"),
    ("Bash(rm -rf /tmp/x)",),
    1,
    9120,
    0.021,
    ("its own login was used, so its calls were not capped",),
)


def with_skill(at: int) -> CaseReport:
    """A case with the skill."""
    case = Case(REQUESTS[at], {"request": REQUESTS[at]}, run={"calls": {"max": 4}}, grade=("says the new time",))
    graded = (Graded("Says the new departure time", True, "It names 14:55 as the new time.", 3, 3),)
    made = [attempt(notice(at, n), graded=graded, grading=0.0002) for n in range(3)]
    if at == 0:
        made[0] = attempt(notice(0, 0), graded=graded, steps=STEPS, files=FILES, agent=AGENT)
    if at == 8:
        reason = Reason("provider", "the service answered 529 (overloaded) five times")
        made[1] = attempt(None, "not measured", reason=reason, facts=RunFacts(1, 0.0, 0.4), seconds=None)
        graded = (Graded("Says the new departure time", False, "Only English, and no time.", 2, 3),)
        failure = Failure("/language", '"nb"', '"en" (string)')
        made[2] = attempt("Delay. We are sorry.", "failed", failures=(failure,), graded=graded)
    return CaseReport(case, tuple(made))


def without_skill(at: int) -> CaseReport:
    """The same without."""
    failure = Failure("$.text", 'to contain "14:55"', '"… at about three o\'clock" (string)')
    graded = (Graded("Says the new departure time", False, "“About three” is not the new time.", 3, 3),)
    made = [
        attempt(plain(at, n), "failed" if (at + n) % 3 or at < 4 else "passed", failures=(failure,), graded=graded)
        for n in range(3)
    ]
    return CaseReport(Case(REQUESTS[at], {"request": REQUESTS[at]}), tuple(made))


def triggers() -> SuiteReport:
    """Requests, and which skill was loaded for them."""
    belongs = {"late boat": "delay-notice", "umbrella": "lost-property", "fog": "delay-notice"}
    loads = {
        "late boat": ["delay-notice"] * 3,
        "fog": ["delay-notice", "delay-notice", "lost-property"],
        "umbrella": ["lost-property"] * 3,
        "a joke": [None, None, "delay-notice"],
    }
    cases = []
    for name, loaded in loads.items():
        outputs = [{"loaded": [each] if each else []} for each in loaded]
        right = [belongs.get(name) == each for each in loaded]
        made = [attempt(out, "passed" if ok else "failed") for out, ok in zip(outputs, right, strict=True)]
        cases.append(CaseReport(Case(name, {"request": name}), tuple(made)))
    routing = Routing("delay-notice", ("delay-notice", "lost-property"), belongs)
    return suite(cases, "triggers", routing=routing, path="skills/delay-notice/evals/triggers.json", require="2/3")


@cache
def shown_skill() -> ShownTest:
    """A skill that helps, with a bit of everything."""
    first = suite([with_skill(at) for at in range(9)], "with the skill")
    second = suite([without_skill(at) for at in range(9)], "without the skill", baseline=True, without=True)
    comparisons = compared([Matched(first, second, "delay-notice")])
    report = Report((first, second, triggers()), comparisons)
    rates = ((11, 27), (14, 27), (13, 27), (0, 0), (20, 27), (25, 26))
    points = tuple(
        TrendPoint(f"t-{n}", f"2026-11-{20 + n}T09:00:00Z", f"{n}c1b7a40f2d1", n == 5, passed, of, 27 - of, 0.04)
        for n, (passed, of) in enumerate(rates)
    )
    feedback = {(PATH, REQUESTS[8]): Feedback("bad", "Norwegian was asked for.")}
    return ShownTest(RECORD, report, (Trend(PATH, "with the skill", points),), feedback)


@cache
def shown_answers(cases: int, repeats: int, size: int, *, words: Sequence[str] = ("with", "without")) -> ShownTest:
    """Two sides with different answers of so many characters, each with a number to find it by."""
    sides = []
    for side in words:
        made = []
        for at in range(cases):
            texts = [f"answer-{side}-{at}-{n} " + f"word{at}x{n} and more " * size for n in range(repeats)]
            outcome: Outcome = "failed" if at % 7 == 0 and side == words[-1] else "passed"
            tried = tuple(attempt(text[:size], outcome) for text in texts)
            made.append(CaseReport(Case(f"case {at}", {"request": f"request {at}"}), tried))
        sides.append(suite(made, side, baseline=side != words[0]))
    return ShownTest(RECORD, Report(tuple(sides), compared([Matched(sides[0], sides[1], "many")])))
