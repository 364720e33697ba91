"""X43: under `--format json` an error is one line of JSON, the last on stderr."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import pytest

import prosa
from prosa.cli.console import Console
from prosa.cli.failures import BY_CLASS, CODES, as_line, code_of, failure
from prosa.cli.main import main
from prosa.cli.run.interaction import Stopped
from prosa.runtime.errors import AgreementRequired, ProviderError, RunError
from prosa.source import ProsaError
from tests.cli.desk import desk
from tests.cli.programs import program, script

KEYS = ["error", "message", "hint", "fix", "retry"]


def error_of(*argv: str, status: int = 2) -> dict[str, object]:
    at = desk()
    assert main(argv, at.console) == status
    *before, last = at.err.splitlines()
    assert before == []
    found: dict[str, object] = json.loads(last)
    assert list(found) == KEYS
    return found


@pytest.mark.parametrize("form", [["--format", "json"], ["--format=json"], ["--format", "jsonl"]])
@pytest.mark.parametrize("before", [True, False])
def test_x43_a_wrong_flag_is_data_wherever_the_format_stands(form: list[str], before: bool):
    wrong = ["--limt", "3"]
    words = [*form, *wrong] if before else [*wrong, *form]
    found = error_of("runs", *words)
    assert (found["error"], found["message"]) == ("wrong-use", "unknown flag --limt")
    assert found["retry"] is False
    assert found["fix"] == " ".join(("prosa runs", *words)).replace("--limt", "--limit")


def test_a_word_behind_two_dashes_asks_for_no_data():
    at = desk()
    assert main(["search", "--", "--format", "json", "x", "y"], at.console) == 2
    assert at.err.startswith("error: ")


@pytest.mark.parametrize(
    ("argv", "code", "fix"),
    [
        (("serch", "x"), "wrong-use", "prosa search x --format json"),
        (("graph", "--report", "orfans"), "wrong-use", "prosa graph --report orphans --format json"),
        (("show",), "wrong-use", "prosa show --help"),
        (("explain", "unresolved-lnk"), "wrong-use", "prosa explain unresolved-link --format json"),
        (("explain", "nothing-of-that"), "wrong-use", None),
        (("query", "SELECT nope FROM documents"), "query-refused", None),
        (("visit", "ftp://x"), "wrong-use", None),
        (("new", "progrm"), "wrong-use", "prosa new program --format json"),
        (("check", "no/such/file.md"), "file-missing", None),
        (("show", "no.md"), "file-missing", None),
        (("runs", "--limit", "x"), "wrong-use", "prosa runs --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_x43_errors_have_a_code_and_a_command_that_mends_them(
    argv: tuple[str, ...], code: str, fix: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    found = error_of(*argv, "--format", "json")
    assert (found["error"], found["fix"]) == (code, fix)


def test_a_misspelt_file_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my notes.md").write_text("# Notes\n")
    assert error_of("show", "my note.md", "--format", "json")["fix"] == "prosa show 'my notes.md' --format json"


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.cli.corpus.opened", _lacks)
    monkeypatch.setattr("prosa.cli.query.opened", _lacks)
    monkeypatch.chdir(tmp_path)
    found = error_of("query", "SELECT 1", "--format", "json")
    assert found["error"] == "library-missing" and "pip install" in str(found["hint"])


def _lacks(*_: object) -> None:
    raise ModuleNotFoundError(name="duckdb")


def test_a_refused_program_is_one_line(tmp_path: Path):
    bad = tmp_path / "bad.md"
    bad.write_text("---\nname: bad\ndescription: x\ninput: {type: nothing}\noutput: {type: object}\n---\nHello.\n")
    found = error_of("plan", str(bad), "--format", "json", status=1)
    assert (found["error"], found["fix"]) == ("program-refused", f"prosa check {bad}")


def test_what_a_person_decides_has_no_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    found = failure(AgreementRequired("Not yet.", hint="run: prosa agree"), "Not yet.", "run: prosa agree")
    assert found.error == "agreement-required"
    assert json.loads(as_line([found], ["run", "x.md"]))["fix"] is None


@pytest.mark.parametrize(
    ("error", "code", "retry"),
    [
        (ProviderError("slow", kind="rate-limit", retryable=True, retry_after=12.5), "provider-rate-limit", 12.5),
        (ProviderError("down", kind="network", retryable=True), "provider-network", True),
        (ProviderError("key", kind="auth", retryable=False), "provider-auth", False),
        (ProviderError("odd", kind="never heard of", retryable=False), "provider-malformed", False),
        (Stopped(15), "stopped", False),
        (KeyboardInterrupt(), "interrupted", False),
        (PermissionError(13, "no"), "system", False),
        (ZeroDivisionError(), "internal", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_x43_codes_and_what_may_be_tried_again(error: BaseException, code: str, retry: bool | float):
    found = failure(error, str(error))
    assert (found.error, found.retry) == (code, retry)


def test_several_errors_are_one_line(tmp_path: Path):
    (tmp_path / "good.md").write_text("# Good\n")
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_bytes(b"\xff\xfe")
    found = error_of("show", str(tmp_path), "--format", "jsonl", status=1)
    assert found["error"] == "file-not-utf-8"
    assert len(str(found["message"]).splitlines()) == 2


def test_a_refused_input_keeps_its_status(tmp_path: Path):
    found = error_of("render", str(program(tmp_path)), "times=10", "--format", "json", status=1)
    assert found["error"] == "input-refused"


def test_x43_notices_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# Words\n\nletters\n")
    at = desk()
    main(["search", "letters", "--tag", "none", "--format", "json"], at.console)
    assert at.err == ""


def test_an_error_of_a_scripted_run_is_data(tmp_path: Path):
    at = desk()
    status = main(["test", str(tmp_path / "no.test.md"), "-m", script(tmp_path), "--format", "json"], at.console)
    assert status == 2 and json.loads(at.err)["error"] == "file-missing"


def every_error() -> list[type[BaseException]]:
    for each in pkgutil.walk_packages(prosa.__path__, "prosa."):
        if each.name.split(".")[1] not in ("web", "lsp", "mcp_server", "__main__"):
            importlib.import_module(each.name)

    def below(kind: type[BaseException]) -> list[type[BaseException]]:
        return [kind, *(found for each in kind.__subclasses__() for found in below(each))]

    return below(ProsaError)


def test_every_class_of_the_table_exists_and_every_error_has_a_code():
    known = {each.__name__ for each in every_error()}
    others = {
        "WrongUse",
        "OSError",
        "MemoryError",
        "ModuleNotFoundError",
        "KeyboardInterrupt",
        "Stopped",
        "BaseException",
    }
    others |= {"MoveRefused", "FollowProblem", "HttpProblem", "PageProblem", "NoSite", "FolderBusy"}
    assert set(BY_CLASS) <= known | others
    for kind in every_error():
        assert code_of(kind.__new__(kind)) in CODES
    assert all(issubclass(each, RunError) or code_of(each.__new__(each)) != "internal" for each in every_error())


def test_the_page_has_the_codes_of_the_table():
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    for code, each in CODES.items():
        again = "yes" if each.retry else "no"
        assert f"| `{code}` | {each.meaning} | {again} |" in page
    assert page.partition("## Codes of errors")[2].count("\n| `") == len(CODES) + 1  # and the head


def test_a_console_for_people_keeps_nothing():
    assert Console.from_process().failures is None


def test_x43_a_skill_that_is_not_published_is_no_line_beside_json(tmp_path: Path):
    (tmp_path / "one" / "tie").mkdir(parents=True)
    (tmp_path / "one" / "tie" / "SKILL.md").write_text("---\nname: Tie knots\ndescription: Ties.\n---\n")
    words = ["build", str(tmp_path / "one"), str(tmp_path / "out"), "--base-url", "https://docs.example"]
    at = desk(environ={"PROSA_CACHE_DIR": str(tmp_path / "cache")})
    assert main([*words, "--format", "json"], at.console) == 0
    assert at.err == ""
    told = desk(environ={"PROSA_CACHE_DIR": str(tmp_path / "cache")})
    assert main(words, told.console) == 0
    assert "is not among the published ones" in told.err
