"""X9, X28: test documents that nobody should have to fear: each ends in a sentence, and nothing is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.evals.suites import BILLING, Service, routed, suite, test, write
from tests.model_server.server import ModelServer

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HEAD = "---\ntests: ./triage.md\n---\n"

HOSTILE = {
    "bomb": (f"{HEAD}\n## A\n\n```yaml input\n{BOMB}```\n", "MD004 error: aliases expand this YAML"),
    "deep": (
        f"{HEAD}\n## A\n\n{BILLING}\n\n```json run\n{'[' * 5000}\n```\n",
        "MD005 error: more than 64 levels of nesting",
    ),
    "self": ("---\ntests: ./triage.test.md\n---\n\n## A\n\n" + BILLING, "is not a program: it is read as test"),
    "outside": ("---\ntests: ../../etc/passwd\n---\n\n## A\n\n" + BILLING, "lies outside the root"),
    "missing": ("---\ntests: ./gone.md\n---\n\n## A\n\n" + BILLING, "does not exist"),
    "no rows": (
        "---\ntests: ./triage.md\nrows: gone.jsonl\n---\n",
        "the rows `gone.jsonl` cannot be read: no such file",
    ),
    "rows outside": ("---\ntests: ./triage.md\nrows: /etc/passwd\n---\n", "lies outside the root"),
    "empty rows": ("---\ntests: ./triage.md\nrows: empty.jsonl\n---\n", "there is no row"),
    "nothing": ("", "a test document begins with front matter"),
    "escapes": (f"{HEAD}\n## \x1b[2J\n\n```yaml input\nrequest: 3\n```\n", "the program refuses this input"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_x28_a_hostile_document_ends_in_a_sentence(here: Path, model_server: ModelServer, name: str):
    text, words = HOSTILE[name]
    write(text)
    (here / "empty.jsonl").write_text("\n")
    service = Service(model_server, routed)
    status, at = test(here, server=model_server)
    assert status in (1, 2)
    assert service.calls == 0
    assert words in at.err
    assert "\x1b[2J" not in at.out + at.err
    assert "Traceback" not in at.err


def test_x9_too_many_and_too_large_rows(here: Path):
    write(suite(front="rows: cases.jsonl\n"))
    (here / "cases.jsonl").write_text('{"input":{"request":"x"}}\n' * 100_001)
    status, at = test(here)
    assert (status, "there are more than 100,000 rows" in at.err) == (1, True)
    (here / "cases.jsonl").write_text('{"input":{"request":"' + "x" * 11_000_000 + '"}}\n')
    status, at = test(here)
    assert (status, "is too large" in at.err) == (1, True)


def test_x28_what_a_model_answers_moves_no_cursor(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING)))
    Service(model_server, lambda *_: {"team": "care", "reason": "\x1b[2J\x07"})
    for form in ("text", "json", "jsonl", "junit", "github"):
        status, at = test(here, "--format", form, server=model_server)
        assert status == 1
        assert not {"\x1b", "\x07"} & set(at.out)
