"""A test of the store on its page, and what people think of its answers in a file beside the cases."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from prosa.app.evals.feedback import read_feedback
from prosa.cli.main import main
from prosa.records.test import Feedback
from tests.cli.desk import desk
from tests.cli.programs import program, user
from tests.web.view.conftest import BEARER, FORM, TOKEN, Viewer
from tests.web.view.stores import put_runs, run_record

EVIL = "</textarea></script><script>window.__pwned=1</script>"
CASE = "Two </textarea> words"
TEST = """---
tests: ./count.md
---

## Two \\</textarea> words

```json input
{"text": "two words"}
```

```yaml expect
words: 2
```

## Three words

```json input
{"text": "three more words"}
```

```yaml expect
words: 3
```
"""


def tried(folder: Path, store: Path, *words: str, text: str = TEST) -> None:
    """Runs the tests of a folder with a scripted model, into the store."""
    program(folder)
    (folder / "count.test.md").write_text(text)
    (folder / "replies.jsonl").write_text('{"content": {"words": 2}}\n' * 4)
    it = desk(environ={**user(folder), "PROSA_STORE": str(store)})
    model = f"scripted:{folder / 'replies.jsonl'}"
    status = main(["test", "count.test.md", "--model", model, "--concurrency", "1", *words], it.console)
    assert status in (0, 1), it.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "cases"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


@pytest.fixture
def page(viewer: Viewer, folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of the page of a test with two cases; the viewer was started elsewhere."""
    tried(folder, store)
    monkeypatch.chdir(folder.parent)
    text = viewer.get("/").text
    return re.findall(r'href="(/tests/[^"]+)"', text)[0]


def fields(text: str, at: int) -> dict[str, str]:
    """What the form of a case sends."""
    form = text.split('<form class="opinion"')[at + 1].partition("</form>")[0]
    found = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    return {name: unescape(value) for name, value in found.items()}


def test_x37_a_test_stands_in_the_list_and_has_its_page(viewer: Viewer, page: str):
    """X37. The page is the report, with the way back, its line, and a form for each case."""
    line = viewer.get("/?kind=test").text
    assert "count.test.md" in line and "✗ failed" in line and "2 of 2, 1 failed" in line
    for query, count in (("text=COUNT.test", 1), ("program=count.test.md", 1), ("state=done", 0), ("state=failed", 1)):
        assert viewer.get(f"/?kind=test&{query}").text.count("data-key=") == count
    said = viewer.get(page)
    assert said.status == 200 and "Prosa test report" in said.text and said.text.count('class="opinion"') == 2
    assert 'href="/">← Runs, tests and batches' in said.text and "data-live" in said.text
    assert "http-equiv" not in said.text and "script-src 'self'" in said["content-security-policy"]
    assert "unsafe" not in said["content-security-policy"] and "<script>" not in said.text


def test_x37_an_opinion_is_kept_in_a_file_beside_the_cases(viewer: Viewer, page: str, folder: Path):
    """X37. And on the page from then on; another one takes its place, and none takes it away."""
    cookie = viewer.session()
    form = fields(viewer.ask(page, cookie).text, 0)
    assert form["case"] == CASE
    said = viewer.post(f"{page}feedback", cookie, **form, opinion="bad", text=f"Wrong.\r\n{EVIL}")
    assert (said.status, said["location"]) == (303, f"{page}#{form['at']}")
    assert read_feedback(folder / "count.feedback.json").feedback == {CASE: Feedback("bad", f"Wrong. {EVIL}")}
    text = viewer.ask(page, cookie).text
    assert 'value="bad" checked' in text and EVIL not in text and "Wrong. &lt;/textarea&gt;" in text
    assert viewer.post(f"{page}feedback", cookie, **fields(text, 1), opinion="good", text="").status == 303
    assert viewer.post(f"{page}feedback", cookie, **fields(text, 0), opinion="", text="").status == 303
    assert read_feedback(folder / "count.feedback.json").feedback == {"Three words": Feedback("good", "")}


@pytest.mark.parametrize("csrf", ["", "wrong", TOKEN])
def test_x8_a_cookie_alone_writes_nothing(viewer: Viewer, page: str, folder: Path, csrf: str):
    """X8, X23. A form has a value that only the pages of this viewer have."""
    cookie = viewer.session()
    form = {**fields(viewer.ask(page, cookie).text, 0), "csrf": csrf, "opinion": "good"}
    assert viewer.post(f"{page}feedback", cookie, **form).status == 403
    assert viewer.post(f"{page}feedback", **form).status == 401
    assert viewer.post(f"{page}feedback", cookie, ("sec-fetch-site", "cross-site"), **form).status == 403
    assert not (folder / "count.feedback.json").exists()


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"opinion": "great"}, 400),
        ({"case": "None"}, 409),
        ({"suite": "../../etc/passwd"}, 409),
        ({"suite": "other.test.md"}, 409),
        ({"text": "x" * 4_001}, 409),
        ({"text": "x" * 70_000}, 413),
    ],
)
def test_x37_what_is_no_opinion_is_refused(
    viewer: Viewer, page: str, folder: Path, changed: dict[str, str], status: int
):
    form = {**fields(viewer.get(page).text, 0), "opinion": "good", **changed}
    assert viewer.post(f"{page}feedback", BEARER, **form).status == status
    assert not (folder / "count.feedback.json").exists()
    body = urlencode({**form, **changed}).encode()
    text = ("content-type", "text/plain")
    assert viewer.ask(f"{page}feedback", BEARER, text, method="POST", body=body).status in (415, 413)
    assert viewer.post("/tests/none/feedback", BEARER, **form).status in (409, 400, 413)


def test_x37_a_place_that_is_none_is_not_led_to(viewer: Viewer, page: str):
    form = {**fields(viewer.get(page).text, 0), "at": "//evil.example\r\nx: y"}
    said = viewer.post(f"{page}feedback", BEARER, **form, opinion="good")
    assert (said.status, said["location"]) == (303, page)


def test_x37_feedback_is_not_written_where_no_cases_are(viewer: Viewer, page: str, folder: Path):
    """X37. The store says where they were; a file that is no feedback is left as it is."""
    form = {**fields(viewer.get(page).text, 0), "opinion": "good"}
    (folder / "count.feedback.json").write_text('{"reviews": 3}')
    said = viewer.get(page)
    assert said.status == 200 and "this is not feedback" in said.text
    assert viewer.post(f"{page}feedback", BEARER, **form).status == 409
    assert json.loads((folder / "count.feedback.json").read_text()) == {"reviews": 3}
    (folder / "count.feedback.json").unlink()
    (folder / "count.test.md").unlink()
    said = viewer.post(f"{page}feedback", BEARER, **form)
    assert said.status == 409 and "no longer exists" in said.text
    assert not (folder / "count.feedback.json").exists()


def test_x37_a_folder_that_may_not_be_written_is_said(viewer: Viewer, page: str, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prosa.app.view.feedback.write_feedback", full)
    form = {**fields(viewer.get(page).text, 0), "opinion": "good"}
    said = viewer.post(f"{page}feedback", BEARER, **form)
    assert said.status == 409 and "No space left" in said.text


def test_x37_nothing_classified_is_shown(viewer: Viewer, folder: Path, store: Path):
    """X37, X25. Runs and tests of a confidential program are in no store, so nothing of them is on a page."""
    put_runs(store, [run_record("a1")])
    it = desk(environ={**user(folder), "PROSA_STORE": str(store)})
    program(folder)
    secret = (folder / "count.md").read_text().replace("name:", "classification: confidential\nname:", 1)
    (folder / "count.md").write_text(secret)
    (folder / "replies.jsonl").write_text('{"content": {"words": 2}}\n' * 4)
    model = f"scripted:{folder / 'replies.jsonl'}"
    assert main(["run", "count.md", "text=a", "--model", model], it.console) == 0, it.err
    (folder / "count.test.md").write_text(TEST)
    assert main(["test", "count.test.md", "--model", model, "--concurrency", "1"], it.console) in (0, 1), it.err
    assert re.findall(r'data-key="([^"]+)"', viewer.get("/").text) == ["run-a1"]


def test_x37_a_damaged_test_is_said(viewer: Viewer, page: str, store: Path):
    """X37. The list goes on; the page says what is wrong."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE test SET heads = '[{'")
    assert viewer.get("/").status == 200
    said = viewer.get(page)
    assert said.status == 409 and "damaged" in said.text


def test_x37_a_damaged_store_is_said(viewer: Viewer, page: str, store: Path):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DROP TABLE suite")
    said = viewer.get("/")
    assert said.status == 503 and "damaged" in said.text
    assert viewer.ask(f"{page}feedback", BEARER, FORM, method="POST", body=b"opinion=good").status in (409, 503)


@pytest.mark.parametrize("left", [0, 1])
def test_x37_a_test_that_goes_on_has_its_page(viewer: Viewer, page: str, store: Path, left: int):
    """X37. With the attempts that are over, also before the first one is."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM attempt WHERE number >= ?", (left,))
        text = "UPDATE test SET state = 'open', ended = NULL, passed = NULL, done = ?, failed = 0"
        connection.execute(text, (left,))
    said = viewer.get(page)
    assert said.status == 200 and f"{left} of 2" in said.text
    assert said.text.count("■ stopped") == 1 and said.text.count('class="opinion"') == 2


def test_x37_many_cases_stand_on_several_pages(
    viewer: Viewer, page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """X37. Each leads to the others, and an opinion leads back to the page of its case."""
    monkeypatch.setattr("prosa.web.view.app.PER_PAGE", 1)
    said = viewer.ask(page.rstrip("/"), BEARER)
    assert (said.status, said["location"]) == (303, page)
    text = viewer.get(page).text
    assert 'class="opinion"' not in text and 'href="cases-2.html' in text
    text = viewer.get(f"{page}cases-2.html").text
    assert text.count('class="opinion"') == 1 and "data-live" in text and 'href="index.html"' in text
    form = fields(text, 0)
    action = unescape(text.split('<form class="opinion"')[1].partition('action="')[2].partition('"')[0])
    said = viewer.post(action, BEARER, **form, opinion="good")
    assert said["location"] == f"{page}cases-2.html#{form['at']}"
    assert read_feedback(folder / "count.feedback.json").feedback == {"Three words": Feedback("good", "")}
    for part in ("cases-3.html", "cases-0.html", "cases-1.htm", "../index.html", "index.html/", "x/y"):
        assert viewer.get(f"{page}{part}").status == 404
    said = viewer.post(f"{page}feedback?page=//evil.example", BEARER, **form, opinion="good")
    assert said["location"] == f"{page}#{form['at']}"
