"""`prosa enrich`: what is sent, what is written, and what never is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from prosa.app.corpus import enrich as enriching
from prosa.cli.main import main
from prosa.dialects.ymj.embedding import embedding_of
from tests.adapters.embeddings.service import FakeService, letters, serving
from tests.adapters.embeddings.test_footer import HEAD, model_of
from tests.cli.desk import desk

FOOTER = '```json\n{"schema": "1", "index": {}}\n```\n'


@pytest.fixture
def service() -> Iterator[FakeService]:
    with serving() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prosa.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, body: str = "High water.\n", extra: str = "") -> Path:
    path = folder / name
    path.write_text(HEAD.replace("---\n", f"---\n{extra}", 1)[:4] + HEAD[4:-4] + extra + "---\n" + body + FOOTER)
    return path


def run(*argv: str, service: FakeService | None = None) -> tuple[int, str, str]:
    cache = str(Path.cwd() / ".cache")
    at = desk(environ={"HOME": "/nowhere", "PROSA_CONFIG_DIR": "/nowhere", "PROSA_CACHE_DIR": cache})
    where = ["--base-url", service.base_url, "--embedding-model", "small"] if service else []
    status = main(["enrich", *argv, *where], at.console)
    return status, at.out, at.err


def test_vectors_and_hashes_are_written_once(folder: Path, service: FakeService):
    path = write(folder, "tides.ymj")
    status, out, err = run(".", service=service)
    assert (status, out, err) == (0, "enriched: tides.ymj\n", "1 enriched\n")
    kept = embedding_of(model_of(path.read_text()))
    assert kept is not None
    assert list(kept.vector) == letters(service.texts[0])
    assert (kept.model_name, kept.fresh) == ("small", True)
    assert service.texts == ["Tides\nTides\nHigh water."]
    assert service.keys == [None]
    before = path.read_text()
    assert run(".", service=service)[1:] == ("", "1 unchanged\n")
    assert path.read_text() == before
    assert len(service.bodies) == 1
    assert run(".", "--force", service=service)[0] == 0
    assert len(service.bodies) == 2


def test_x6b_classified_records_are_never_sent(folder: Path, service: FakeService):
    """X6b: the hash is written all the same, for that needs nobody."""
    path = write(folder, "plan.ymj", extra="classification: confidential\n")
    write(folder, "tides.ymj")
    status, out, _ = run(".", service=service)
    assert status == 0
    assert out == "hashed: plan.ymj\nenriched: tides.ymj\n"
    assert all("plan" not in text for text in service.texts)
    assert len(service.texts) == 1
    assert "payload_hash" in path.read_text()
    assert run(".", service=service) == (
        0,
        "",
        "not sent: plan.ymj is classified, and is never sent to a service\n2 unchanged\n",
    )


def test_x6_what_a_meta_file_classifies_is_never_sent(folder: Path, service: FakeService):
    """X6, MA18: the record itself says nothing of it."""
    write(folder, "tides.ymj")
    (folder / "all.mda").write_text("---\ndoc-id: all\nglobs: ['*.ymj']\nclassification: |\n  Secret\n---\n# All\n")
    status, out, err = run(".", service=service)
    assert (status, out, service.texts) == (0, "hashed: tides.ymj\n", [])
    assert "not sent: tides.ymj is classified" in err


def test_x6_a_classification_that_stands_twice_is_taken_for_the_worst(folder: Path, service: FakeService):
    """X6, X6b."""
    write(folder, "tides.ymj", extra="classification: public\nclassification: secret\n")
    assert run(".", service=service)[0] == 0
    assert service.texts == []


def test_x6_without_vectors_nothing_is_sent(folder: Path, service: FakeService):
    """X6."""
    write(folder, "tides.ymj")
    assert run(".", "--no-embed") == (0, "hashed: tides.ymj\n", "1 hashed\n")
    assert service.bodies == []


def test_a_dry_run_sends_and_writes_nothing(folder: Path, service: FakeService):
    path = write(folder, "tides.ymj")
    before = path.read_text()
    assert run(".", "--dry-run", service=service)[1] == "would be enriched: tides.ymj\n"
    assert (path.read_text(), service.bodies) == (before, [])


def test_a_diff_shows_hashes_and_names_vectors_and_writes_nothing(folder: Path, service: FakeService):
    path = write(folder, "tides.ymj")
    before = path.read_text()
    status, out, err = run(".", "--diff", service=service)
    assert (status, out, err.splitlines()[0]) == (0, "", "would be enriched: tides.ymj")
    status, out, err = run(".", "--diff", "--no-embed")
    assert status == 0 and out.startswith("--- tides.ymj\n+++ tides.ymj\n@@ ")
    assert (path.read_text(), service.bodies) == (before, [])
    run(".", "--no-embed")
    assert all(line[1:] in path.read_text() for line in out.splitlines()[3:] if line.startswith("+"))
    assert run(".", "--diff", "--format", "json")[0] == 2


def test_a_transient_error_is_tried_again_and_a_refusal_is_not(
    folder: Path, service: FakeService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("prosa.runtime.pacing.FIRST_WAIT", 0.01)
    write(folder, "tides.ymj")
    service.answers = [(503, {"error": {"message": "busy"}})]
    assert run(".", service=service)[0] == 0
    assert len(service.bodies) == 2
    service.answers = [(401, {"error": {"message": "no"}})]
    status, out, err = run(".", "--force", service=service)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")


def test_a_server_without_pooling_is_told_how_to_start(folder: Path, service: FakeService):
    write(folder, "tides.ymj")
    said = "Pooling type 'none' is not OAI compatible. Please use a different pooling type"
    service.answers = [(400, {"error": {"message": said}})]
    status, _, err = run(".", service=service)
    assert status == 1
    assert f"makes no vector of a text (status 400): {said}\n  start the server with `--pooling mean`\n" in err


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": "x"},
        "<html>",
        "not json",
    ],
)
def test_an_answer_that_is_no_vector_is_an_error_and_nothing_is_written(
    folder: Path, service: FakeService, answer: object, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("prosa.runtime.pacing.FIRST_WAIT", 0.001)
    monkeypatch.setattr("prosa.app.corpus.semantic.RETRIES", 0)
    path = write(folder, "tides.ymj")
    before = path.read_text()
    service.answers = [(200, answer)] * 8
    status, _, err = run(".", service=service)
    assert status == 1
    assert err.startswith("error: ")
    assert path.read_text() == before


def test_a_record_that_changed_meanwhile_is_left_alone(
    folder: Path, service: FakeService, monkeypatch: pytest.MonkeyPatch
):
    path = write(folder, "tides.ymj")
    real = enriching._written

    def meanwhile(*args: object) -> object:
        path.write_text("somebody else\n")
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(enriching, "_written", meanwhile)
    status, _, err = run(".", service=service)
    assert status == 1
    assert "changed since it was read" in err
    assert path.read_text() == "somebody else\n"


def test_without_a_model_the_ways_on_are_named(folder: Path):
    write(folder, "tides.ymj")
    status, out, err = run(".")
    assert (status, out) == (1, "")
    assert "no model is chosen that makes vectors" in err
    assert "--embedding-model local" in err


def test_what_is_no_record_is_wrong_use(folder: Path):
    (folder / "page.md").write_text("# A page\n")
    assert run("page.md", "--no-embed")[0] == 2


def test_a_record_without_a_footer_is_left_alone(folder: Path):
    (folder / "x.ymj").write_text(f"{HEAD}Text.\n")
    status, out, _ = run("x.ymj", "--no-embed", "--format", "json")
    assert status == 1
    assert json.loads(out)["records"][0]["became"] == "left"
    assert "footer" in json.loads(out)["records"][0]["reason"]


def test_x26_vectors_of_a_service_stay_within_the_cap(folder: Path, service: FakeService, monkeypatch):
    """X26. A model without a price is refused before anything is sent, a batch that may cost more is not sent, and
    what the service counted is what is spent."""
    settings = folder / "config"
    settings.mkdir()
    environ = {"HOME": "/nowhere", "PROSA_CONFIG_DIR": str(settings), "PROSA_CACHE_DIR": str(folder / ".cache")}

    def enriched(cap: str) -> tuple[int, str]:
        at = desk(environ=environ)
        flags = ["--base-url", service.base_url, "--embedding-model", "small", "--max-cost", cap]
        return main(["enrich", ".", *flags], at.console), at.err

    for number in range(3):
        write(folder, f"tides{number}.ymj", f"High water {number}.\n")
    status, err = enriched("1")
    assert status == 2 and 'prices."small".input' in err and not service.bodies
    (settings / "settings.toml").write_text("[prices.small]\ninput = 10\noutput = 0\n")
    status, err = enriched("0.0001")
    assert status == 1 and "the budget of $0.0001" in err and "raise --max-cost by" in err and not service.bodies
    usage = {"prompt_tokens": 5}
    service.answers = [(200, {"data": [{"index": at, "embedding": [1.0]} for at in range(3)], "usage": usage})]
    assert enriched("0.01")[0] == 0 and len(service.bodies) == 1
