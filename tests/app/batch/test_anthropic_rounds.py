"""X29. Rounds through the message batches of Anthropic, which have no metadata by which one could be found again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse
from pydantic import TypeAdapter

from prosa.app.batch import rounds
from tests.app.batch.labels import program, texts
from tests.app.batch.test_rounds import Killed, outputs
from tests.batch_services.anthropic import Anthropic
from tests.batch_services.service import Asked, letters, serving
from tests.cli.programs import prosa as command
from tests.cli.programs import user

ROWS = 8


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Anthropic]:
    monkeypatch.setattr(rounds, "FIRST_POLL", 0.001)
    with serving(Anthropic()) as found:
        assert isinstance(found, Anthropic)
        yield found


def home(folder: Path, service: Anthropic) -> dict[str, str]:
    settings = folder / "home/.config/prosa/settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    address = f'[providers.anthropic]\nbase-url = "{service.base_url}"\napi-key-env = "ANTHROPIC_API_KEY"\n'
    settings.write_text(f'{address}[prices."claude-x"]\ninput = 2.5\noutput = 10\n')
    return user(folder, ANTHROPIC_API_KEY=service.key)


def words_of(folder: Path, *more: str) -> list[str]:
    program(folder)
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in texts(ROWS)))
    rows = ["--rows", str(folder / "rows.jsonl"), "--backend", "anthropic-batch", "-m", "claude-x", "--no-progress"]
    return ["batch", str(folder / "label.md"), *rows, *more]


def test_x29_every_row_is_answered_once_at_half_the_price(tmp_path: Path, service: Anthropic):
    """X29: what the fake says is what the library of the service reads."""
    status, at = command(*words_of(tmp_path), environ=home(tmp_path, service))
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err
    assert len(service.paid) == ROWS and {json.loads(each)["cost"] for each in at.out.splitlines()} == {0.000175}
    (found,) = service.batches.values()
    assert MessageBatch.model_validate_json(json.dumps(found), strict=True).processing_status == "ended"
    lines = TypeAdapter(list[MessageBatchIndividualResponse]).validate_json(json.dumps(service.results[found["id"]]))
    assert {each.result.type for each in lines} == {"succeeded"}
    assert all(each["params"]["max_tokens"] > 0 for each in service.requests[found["id"]])


def test_x29_what_expired_is_sent_again_and_what_is_refused_fails_its_row(tmp_path: Path, service: Anthropic):
    """X29."""
    before: set[str] = set()

    def answer(name: str, params: dict[str, Any]) -> Any:
        n = letters(name, params)["n"]
        if n in (2, 3) and name not in before:
            before.add(name)
            return "expired" if n == 2 else 500
        return 400 if n == 4 else {"n": n}

    service.answer = answer
    status, at = command(*words_of(tmp_path, "--max-failures", "50%"), environ=home(tmp_path, service))
    assert status == 1 and outputs(at) == [n for n in range(1, ROWS + 1) if n != 4], at.err
    assert len(service.batches) == 2 and len(service.paid) == len(set(service.paid)) == ROWS - 1


@pytest.mark.parametrize("moment", ["the batch was made", "results were fetched"])
def test_x29_a_process_that_is_killed_pays_nothing_twice(tmp_path: Path, service: Anthropic, moment: str):
    """X29: a batch whose id was lost is known by what it answers; others are left alone."""
    words, environ = words_of(tmp_path), home(tmp_path, service)
    Killed(service, moment).run(words, environ)
    (lost,) = service.batches
    other = dict(service.batches[lost], id="msgbatch_other")
    service.batches["msgbatch_other"] = other
    service.requests["msgbatch_other"] = [
        dict(each, custom_id=f"others-{number}") for number, each in enumerate(service.requests[lost])
    ]
    service.page = 1
    status, at = command(*words, environ=environ)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err
    ours = [each for each in service.paid if not each.startswith("others")]
    assert len(ours) == len(set(ours)) == ROWS and len(service.batches) == 2


def test_x29_it_can_be_cancelled(tmp_path: Path, service: Anthropic):
    """X29."""
    words, environ = words_of(tmp_path), home(tmp_path, service)
    Killed(service, "somebody looked").run(words, environ)
    (found,) = service.batches.values()
    found["processing_status"] = "in_progress"
    status, at = command("batch", "label", "--cancel", "-m", "claude-x", environ=environ)
    assert status == 0 and found["processing_status"] == "canceling", at.err


def test_x7_the_key_goes_nowhere_else(tmp_path: Path, service: Anthropic):
    """X7: results are fetched at the address of the user, whatever address the service names for them."""
    seen: list[Asked] = []
    service.before = seen.append
    assert command(*words_of(tmp_path), environ=home(tmp_path, service))[0] == 0
    assert seen[-1].path.endswith("/results") and all("authorization" not in each.headers for each in seen)
