"""X25, X30. What is kept of runs of a site, of the scripts of a document and of a chat; and how these go on."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from prosa.app.options import JournalOptions
from tests.cli.programs import ANSWER, program, prosa, user
from tests.web.run.site import greeting, site


def kept(path: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM run ORDER BY started, id")]


def test_x25_x30_runs_of_a_site_are_kept_in_one_open_store(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"

    async def work() -> None:
        with site(greeting(tmp_path), journal=JournalOptions("serve", store)) as at:
            replies = await asyncio.gather(*(at.run() for _ in range(2)))
            assert [reply.status for reply in replies] == [200, 200]
            assert (store.with_name("store.sqlite.live")).is_dir() and any(tmp_path.glob("store.sqlite-wal"))
            runner = at.web.runner
            assert runner is not None
            await runner.aclose()
            assert not any(tmp_path.glob("store.sqlite-wal"))

    asyncio.run(work())
    runs = kept(store)
    assert [(run["door"], run["state"]) for run in runs] == [("serve", "done")] * 2
    assert len({run["id"] for run in runs}) == 2 and all(run["input"] is None for run in runs)


DOCUMENT = """\
---
doc-id: letters
---
# Letters

```ai-script
{"script-id": "one", "prompt": "How many?", "output-format": "text"}
```

```ai-script
{"script-id": "two", "prompt": "Which?", "output-format": "text"}
```
"""


def replies(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "replies.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return f"scripted:{path}"


def test_x25_the_scripts_of_a_document_go_on_where_they_stopped(tmp_path: Path) -> None:
    """Two scripts in one call: the one that was done is not asked again, its result is there all the same."""
    document = tmp_path / "letters.mda"
    document.write_text(DOCUMENT)
    home = user(tmp_path)
    calls = {"name": "python", "arguments": {"code": "print(2)"}}
    first = replies(tmp_path, {"program": "one", "content": "Eleven."}, {"program": "two", "tool_calls": [calls]})
    status, at = prosa("run", document, "--all", "--tool", "python", "--model", first, "-q", environ=home)
    assert status == 1 and "Eleven." in at.out
    store = Path(home["HOME"]) / ".local/share/prosa/store.sqlite"
    one, two = kept(store)
    assert [(run["door"], run["job"], run["state"]) for run in (one, two)] == [
        ("script", "one", "done"),
        ("script", "two", "failed"),
    ]
    assert one["file"] == str(document) and two["id"] == f"{one['id']}.2"
    assert f"prosa run --resume {one['id']}" in at.err
    status, at = prosa(
        "run", "--resume", one["id"], "--model", replies(tmp_path, {"program": "two", "content": "Two."}), environ=home
    )
    assert status == 0, at.err
    assert "Eleven." in at.out and "Two." in at.out
    assert [run["state"] for run in kept(store)] == ["done", "done"]


def test_x25_a_document_that_was_edited_is_not_gone_on_with(tmp_path: Path) -> None:
    document = tmp_path / "letters.mda"
    document.write_text(DOCUMENT)
    home = user(tmp_path)
    calls = {"name": "python", "arguments": {"code": "print(2)"}}
    model = replies(tmp_path, {"tool_calls": [calls]})
    script = ("run", document, "--script", "one", "--tool", "python", "--model", model, "-q")
    assert prosa(*script, environ=home)[0] == 1
    (run,) = kept(Path(home["HOME"]) / ".local/share/prosa/store.sqlite")
    document.write_text(DOCUMENT.replace("How many?", "How few?"))
    status, at = prosa("run", "--resume", run["id"], environ=home)
    assert status == 1 and "started with another input" in at.err


CHAT = "### @user:\n\nHow many letters came?\n"


def test_x25_a_reply_of_a_chat_goes_on_where_it_stopped(tmp_path: Path) -> None:
    chat = tmp_path / "chat.md"
    chat.write_text("### @user:\n\nHello.\n\n### @assistant:\n\nHello.\n")
    home = user(tmp_path)
    calls = {"name": "python", "arguments": {"code": "print(11)"}}
    model = replies(tmp_path, {"tool_calls": [calls]})
    said = ("--message", "How many letters came?", "--tool", "python")
    status, at = prosa("chat", chat, *said, "--model", model, "-q", environ=home)
    assert status == 1
    (run,) = kept(Path(home["HOME"]) / ".local/share/prosa/store.sqlite")
    assert (run["door"], run["state"], run["calls"]) == ("chat", "failed", 1)
    assert f"prosa chat --resume {run['id']}" in at.err
    model = replies(tmp_path, {"content": "Eleven."})
    status, at = prosa("chat", "--resume", run["id"], "--model", model, "-q", environ=home)
    assert status == 0, at.err
    text = chat.read_text()
    assert text.count("How many letters came?") == 1 and "Eleven." in text
    assert "print(11)" in text  # the record of the tool that was called before it broke off


def test_x25_a_run_is_gone_on_with_by_the_command_that_began_it(tmp_path: Path) -> None:
    chat = tmp_path / "chat.md"
    chat.write_text(CHAT)
    home = user(tmp_path)
    calls = {"name": "python", "arguments": {"code": "print(11)"}}
    model = replies(tmp_path, {"tool_calls": [calls]})
    prosa("chat", chat, "--tool", "python", "--model", model, "-q", environ=home)
    (run,) = kept(Path(home["HOME"]) / ".local/share/prosa/store.sqlite")
    status, at = prosa("run", "--resume", run["id"], environ=home)
    assert status == 2 and "was started by `prosa chat`" in at.err
    assert prosa("run", environ=home)[1].err.splitlines()[0] == "error: FILE is missing"
    assert prosa("chat", environ=home)[1].err.splitlines()[0] == "error: FILE is missing"


def test_x25_an_input_that_is_given_again_must_be_the_same(tmp_path: Path) -> None:
    home = user(tmp_path)
    calls = {"name": "python", "arguments": {"code": "print(2)"}}
    path = program(tmp_path)
    assert prosa("run", path, "text=a", "--model", replies(tmp_path, {"tool_calls": [calls]}), environ=home)[0] == 1
    (run,) = kept(Path(home["HOME"]) / ".local/share/prosa/store.sqlite")
    status, at = prosa("run", "--resume", run["id"], "text=b", environ=home)
    assert status == 1 and "started with another input" in at.err
    model = replies(tmp_path, ANSWER)
    status, at = prosa("run", "--resume", run["id"], "text=a", "--model", model, environ=home)
    assert (status, json.loads(at.out)) == (0, {"words": 2}), at.err
