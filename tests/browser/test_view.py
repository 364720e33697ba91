"""The viewer in a real browser: what runs in another process is seen as it goes, and an opinion is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from prosa.adapters.store.writer import Writer
from prosa.app.evals.feedback import read_feedback
from prosa.cli.demo.site import served
from tests import warm
from tests.browser.browsing import DESK, LOOKS, PHONE, SCHEMES, SIZES, Browsing, Scheme
from tests.browser.looking import alive, faint, nameless, stops, too_wide
from tests.browser.test_docs import violations
from tests.cli.programs import program, user
from tests.depth import DEEP
from tests.house.examples import surroundings
from tests.web.view.conftest import TOKEN
from tests.web.view.stores import (
    batch_record,
    ended,
    holder,
    model_call,
    put_batch,
    put_calls,
    put_runs,
    row_record,
    run_record,
)

PICTURES = os.environ.get("PROSA_PICTURES", "")
TEST = """---
tests: ./count.md
---

## Two words

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


@dataclass
class Viewing:
    """A viewer in a process of its own, over a store in a folder with a program and its tests."""

    url: str
    folder: Path
    environ: dict[str, str]

    @property
    def store(self) -> Path:
        """The store."""
        return self.folder / "runs.sqlite"

    def script(self, *contents: object, pause: float = 0.0) -> str:
        """A model that gives these answers, each after a service that asks to wait."""
        busy = {"error": {"message": "busy", "status": 503, "retry_after": pause}}
        lines = [each for content in contents for each in (*((busy,) if pause else ()), {"content": content})]
        file = self.folder / f"replies-{len(list(self.folder.iterdir()))}.jsonl"
        file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
        return f"scripted:{file}"

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command of Prosa in another process, which writes the store."""
        command = [sys.executable, "-m", "prosa", *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        made = warm.popen(command, cwd=self.folder, env={**self.environ, "PROSA_STORE": str(self.store)}, **pipes)
        try:
            yield made
            out, err = made.communicate(timeout=120)
            assert made.returncode in (0, 1), out + err
        finally:
            made.kill()
            made.communicate()


@pytest.fixture
def viewing(tmp_path: Path) -> Iterator[Viewing]:
    """A viewer of a store that is not there yet."""
    home, folder = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    folder.mkdir()
    program(folder)
    (folder / "count.test.md").write_text(TEST)
    environ = {**surroundings(home), **user(home), "VIEW_TOKEN": TOKEN}
    words = ("prosa", "view", "--port", "0", "--token-env", "VIEW_TOKEN")
    with served(words, {**environ, "PROSA_STORE": str(folder / "runs.sqlite")}, folder) as url:
        yield Viewing(url, folder, environ)


def signed_in(browse: Browsing, viewing: Viewing, path: str = "/", **more: object) -> Page:
    """A page of one who has given the token in the form."""
    page = browse.window(**more)  # type: ignore[arg-type]
    page.goto(f"{viewing.url}{path}")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{viewing.url}{path}")
    return page


def kept(page: Page, name: str) -> None:
    """Writes a picture where one is asked for."""
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"view-{name}.png"), full_page=True)


def test_x37_a_batch_and_a_test_are_seen_as_they_go(browse: Browsing, viewing: Viewing):
    """X37. Nothing is loaded again: lines appear, count, and end."""
    page = signed_in(browse, viewing)
    expect(page.locator("[id='page:none']")).to_contain_text("There is no store at")
    (viewing.folder / "rows.jsonl").write_text("".join(f'{{"text": "row {n}"}}\n' for n in range(4)))
    model = viewing.script(*[{"words": 2}] * 4, pause=1.0)
    page.evaluate("window.__same = true")
    with viewing.running("batch", "count.md", "--rows", "rows.jsonl", "--yes", "--concurrency", "1", "--model", model):
        line = page.locator(".record")
        expect(line.locator(".badge")).to_have_text("▶ running")
        expect(line).to_contain_text("2 of 4")
        kept(page, "running")
        expect(line.locator(".badge")).to_have_text("✓ done")
        expect(line).to_contain_text("4 of 4")
    model = viewing.script({"words": 2}, {"words": 2}, pause=1.0)
    with viewing.running("test", "count.test.md", "--concurrency", "1", "--model", model):
        expect(page.locator(".record")).to_have_count(2)
        line = page.locator(".record").first
        expect(line).to_contain_text("count.test.md")
        expect(line).to_contain_text("1 of 2")
        expect(line.locator(".badge")).to_have_text("✗ failed")
        expect(line).to_contain_text("2 of 2, 1 failed")
    assert page.evaluate("window.__same") is True


@pytest.fixture
def filled(viewing: Viewing) -> Iterator[Writer]:
    """The store with runs and batches of every state, one of each alive."""
    store = viewing.store
    states = ("done", "failed", "interrupted")
    put_runs(store, [ended(run_record(f"a{n:03}", n), states[n % 3], cost=0.01 * n or None) for n in range(60)])
    evil = "</script><script>window.__pwned=1</script><img src=x onerror='window.__pwned=2'>\u202e"
    put_runs(store, [ended(run_record("e1", 61, program=evil), "failed", error=evil)])
    put_batch(store, batch_record("b1", 62, state="done"), [row_record("b1", n, cost=0.002) for n in (1, 2, 3, 4)])
    for writer in holder(store):
        put_batch(
            store, batch_record("b2", 63, total=40, holder=writer.holder), [row_record("b2", n) for n in range(1, 18)]
        )
        put_runs(store, [replace(run_record("r1", 64), holder=writer.holder)])
        put_calls(store, [model_call("r1"), model_call("r1", "2")])
        yield writer


def test_x37_money_counts_up_while_a_run_goes_on(browse: Browsing, viewing: Viewing, filled: Writer):
    """X37. The focus stays where it is while its line is replaced."""
    page = signed_in(browse, viewing)
    line = page.locator("[data-key=run-r1]")
    expect(line.locator(".r-money")).to_have_text("$0.0090")
    expect(page.locator("[id='page:live']")).to_have_text("live")
    line.locator("a").focus()
    put_calls(viewing.store, [model_call("r1", "3")])
    expect(line.locator(".r-money")).to_have_text("$0.0135")
    expect(line.locator("a")).to_be_focused()


def test_x37_filters_and_pages_work_without_a_script(browse: Browsing, viewing: Viewing, filled: Writer):
    """X37. What is chosen stands in the address."""
    page = signed_in(browse, viewing, script=False)
    page.get_by_label("State").select_option("failed")
    page.get_by_label("Kind").select_option("run")
    page.get_by_role("button", name="Filter").click()
    assert "kind=run" in page.url and "state=failed" in page.url
    expect(page.locator(".record")).to_have_count(21)
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".record")).to_have_count(50)
    page.get_by_role("link", name="Older →").click()
    expect(page.locator(".record")).to_have_count(14)
    page.get_by_role("link", name="← Newest").click()
    put_runs(viewing.store, [ended(run_record("z1", 90))])
    page.reload()
    expect(page.locator(".record").first).to_have_attribute("data-key", "run-z1")


def test_x37_nothing_of_a_program_is_alive_in_the_list(browse: Browsing, viewing: Viewing, filled: Writer):
    """X37. Neither in the page nor in the lines that the script puts into it."""
    page = signed_in(browse, viewing)
    expect(page.locator("[id='page:live']")).to_have_text("live")
    evil = "</li></ol><img src=x onerror='window.__pwned=3'><script>window.__pwned=4</script>"
    put_runs(viewing.store, [ended(run_record("e2", 95, program=evil, model=evil), "failed", error=evil)])
    expect(page.locator(".record").first).to_contain_text("onerror")
    assert alive(page) == {"handlers": [], "scripts": [], "links": [], "foreign": []}
    assert page.locator("img").count() == 0


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_x37_the_list_can_be_read_by_everyone(
    size: str, scheme: Scheme, browse: Browsing, viewing: Viewing, filled: Writer
):
    """X37. On a phone and a desk, by day and by night, with keys and with a screen reader. Axe looks at two pages in
    each look, in a deep run at all."""
    page = signed_in(browse, viewing, size=SIZES[size], scheme=scheme, still=True)
    expect(page.locator("[id='page:live']")).to_have_text("live")
    for number, path in enumerate(("/", "/?since=soon", "/runs/r1", "/batches/b2")):
        browse.expected.append("400 (Bad Request)")
        page.goto(f"{viewing.url}{path}")
        kept(page, f"{path.strip('/?=').replace('/', '-') or 'list'}-{size}-{scheme}")
        assert too_wide(page) == [] and faint(page) == {} and nameless(page) == []
        assert not (DEEP or number % 2 == SCHEMES.index(scheme)) or violations(page) == []
    page.goto(viewing.url)
    reached = stops(page, 12)
    assert all(each["outline"] and each["seen"] for each in reached), reached
    names = [each["name"].removeprefix("page:") for each in reached]
    assert names[:2] == ["Skip to the text", "Prosa"] and "Filter" in names


def test_x37_an_opinion_is_kept_beside_the_cases(browse: Browsing, viewing: Viewing):
    """X37. In the file that other tools read, and on the page when it is loaded again."""
    model = viewing.script({"words": 2}, {"words": 2})
    with viewing.running("test", "count.test.md", "--concurrency", "1", "--model", model):
        pass
    page = signed_in(browse, viewing)
    page.locator(".record a").click()
    case = page.locator("details.case").nth(1)
    form = case.locator("form")
    form.get_by_label("bad").check()
    form.get_by_role("textbox").fill("It cannot count </textarea><script>window.__pwned=1</script>")
    kept(page, "opinion")
    form.get_by_role("button", name="Save").click()
    page.wait_for_url("**#feedback-*")
    found = read_feedback(viewing.folder / "count.feedback.json")
    ((name, feedback),) = found.feedback.items()
    assert (name, feedback.opinion) == ("Three words", "bad") and "cannot count" in feedback.text
    page.reload()
    form = page.locator("details.case").nth(1).locator("form")
    expect(form.get_by_label("bad")).to_be_checked()
    expect(form.get_by_role("textbox")).to_have_value(feedback.text)
    assert too_wide(page) == [] and faint(page) == {} and nameless(page) == [] and violations(page) == []
    assert alive(page) == {"handlers": [], "scripts": [], "links": [], "foreign": []}
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert too_wide(page) == []
    kept(page, "opinion-phone")
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
