"""The benchmarks build: the generated corpus is always the same and as clean as it says, and every table has its rows.

Nothing is timed here; sizes are tiny. Sections that start whole programs or servers are measured, not tested.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import prosa
from bench import (
    bare_index,
    checking,
    context,
    indexing,
    memory,
    pure,
    rare_words,
    reading,
    serve,
    serve_http,
    serve_load,
)
from bench import tests as suite
from bench.measure import instructions, python
from bench.mixed_corpus import KINDS, documents, write_corpus
from bench.peers import find as peers
from bench.prose import TONGUES
from bench.row import HEAD, Row
from bench.sections import SECTIONS
from tests.house.tree import ROOT

PAGE = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")


def test_the_corpus_is_the_same_for_the_same_seed():
    assert list(documents(60, 1)) == list(documents(60, 1))
    assert list(documents(60, 1)) != list(documents(60, 2))


def test_the_suite_that_is_replayed_is_one(tmp_path: Path):
    path = suite.write_suite(tmp_path, 3)
    assert prosa.check([path]) == []
    assert len((tmp_path / "replies.jsonl").read_text().splitlines()) == 3


def test_the_corpus_has_every_dialect_many_languages_and_realistic_sizes():
    made = list(documents(200))
    sizes = [len(text.encode()) for _, text, _ in made]
    assert len({path for path, _, _ in made}) == 200
    assert {path.partition("/")[0] for path, _, _ in made} == {
        "pages", "series", "records", "site", "chats", "programs", "skills"
    }  # fmt: skip
    assert min(sizes) > 1_000 and max(sizes) < 8_000
    assert sum(not text.isascii() for _, text, _ in made) > 150


def test_the_flawed_documents_have_one_finding_each_and_the_others_none(tmp_path: Path):
    count = len(KINDS) * 60
    written = write_corpus(tmp_path, count)
    flawed = {path for path, _, is_flawed in documents(count) if is_flawed}
    found = Counter(Path(each.path).relative_to(tmp_path).as_posix() for each in prosa.check([tmp_path]))
    assert found == dict.fromkeys(flawed, 1)
    assert written.findings == len(flawed) > 10


def test_with_rare_words_the_corpus_is_as_clean_and_its_words_are_unequal(tmp_path: Path):
    written = write_corpus(tmp_path, len(KINDS) * 60, rare=True)
    flawed = {path for path, _, is_flawed in documents(len(KINDS) * 60, rare=True) if is_flawed}
    found = Counter(Path(each.path).relative_to(tmp_path).as_posix() for each in prosa.check([tmp_path]))
    assert found == dict.fromkeys(flawed, 1)
    assert written.findings == len(flawed)
    texts = [set(re.findall(r"\w+", text)) for _, text, _ in documents(1_000, rare=True)]
    words = (rare_words.word("en", rank) for rank in (1, 100, 9_999))
    often, now_and_then, seldom = (sum(word in text for text in texts) for word in words)
    assert often > 300 > 100 > now_and_then > 10 > seldom


def test_words_are_told_apart_and_the_frequent_ones_are_short():
    made = [rare_words.word("el", rank) for rank in range(1, 10_000)]
    assert len(set(made)) == len(made)
    assert len(made[0]) < len(made[-1])
    assert {len(set(pieces)) for pieces in rare_words.SYLLABLES.values()} == {20}
    assert set(rare_words.SYLLABLES) == {tongue.tag for tongue in TONGUES}


def test_instructions_are_nearly_the_same_each_time(monkeypatch: pytest.MonkeyPatch):
    command = python("-c", "pass")
    once, again = (instructions(command, os.environ) for _ in range(2))
    assert once == again or (once and again and abs(once - again) < 0.02 * once)
    monkeypatch.setenv("PATH", "")
    assert instructions(command, os.environ) is None


def test_the_rows_of_a_check_build_and_a_missing_peer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setenv("PROSA_BENCH_PEERS", str(tmp_path / "nowhere"))
    monkeypatch.setenv(checking.CORPUS_VARIABLE, str(ROOT / "docs"))
    texts = [row.text() for row in checking.rows(count=20, runs=1)]
    assert len(texts) == 20
    assert Counter(text.split(" | ")[2] for text in texts if "| not measured |" in text) == {
        "rumdl": 12, "markdownlint-cli2": 4, "mdformat": 4
    }  # fmt: skip
    assert sum("docs (" in text for text in texts) == sum("mixed (20 files" in text for text in texts) == 10


def test_the_rows_of_context_files_build_and_a_missing_peer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setenv("PROSA_BENCH_PEERS", str(tmp_path / "nowhere"))
    monkeypatch.setenv(checking.CORPUS_VARIABLE, str(tmp_path))
    (tmp_path / "one" / ".git").mkdir(parents=True)
    (tmp_path / "one" / "AGENTS.md").write_text("Follow [the style](style.md).\n")
    rows = list(context.rows(runs=1))
    assert Counter(row.baseline for row in rows if row.base is None) == {"agnix": 5, "ctxlint": 5}
    found, severe, false = (row.value for row in rows[:3])
    assert found > 40 and found > severe > 20 and false == 0
    assert rows[-1].what == "check of one, processors" and rows[-1].base and rows[6].value == 1


def test_the_rows_of_an_index_build_and_a_missing_peer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROSA_BENCH_PEERS", str(tmp_path / "nowhere"))
    monkeypatch.setenv(indexing.VAULT_VARIABLE, str(tmp_path))
    (tmp_path / "note.md").write_text("# A real note\n")
    rows = list(indexing.rows(sizes=(20, 40), runs=1, seconds=0.01))
    assert f"{tmp_path.name}, 1 notes" in {row.what.partition(" (")[0] for row in rows}
    assert next(row.what for row in rows if row.aim == "≤ 20 ms").endswith("in an open corpus, nothing changed")
    shown = Counter(row.what.partition(",")[0].partition(" (")[0] for row in rows)
    assert shown["20 documents"] > 20 and shown["40 documents"] == shown["20 documents"] + 1
    assert {row.baseline.strip() for row in rows if row.base is None} == {
        "markdown-vault-mcp index", "markdown-vault-mcp reindex", "markdown-vault-mcp search",
        "networkx, spring_layout", "obsidiantools, links only",
    }  # fmt: skip
    assert all(row.value > 0 for row in rows)


def test_a_bare_index_holds_every_text(tmp_path: Path):
    written = write_corpus(tmp_path / "documents", 20)
    bare_index.build(str(tmp_path / "documents"), tmp_path / "bare.sqlite")
    connection = bare_index.opened(tmp_path / "bare.sqlite")
    assert connection.execute("SELECT count(*) FROM page").fetchone() == (written.files,)
    assert len(connection.execute(bare_index.ASK, ("timetable",)).fetchall()) == 10
    connection.close()


def test_memory_counts_every_process_of_a_command(tmp_path: Path):
    hold = "import time; held = bytearray(20_000_000); time.sleep(0.3)"
    twice = f"import subprocess, sys; each = [sys.executable, '-c', {hold!r}]; subprocess.run(each); {hold}"
    until = "import sys; held = bytearray(20_000_000); print(1, flush=True); sys.stdin.read()"
    pipes = "stdin=subprocess.PIPE, stdout=subprocess.PIPE"
    both = (
        f"import subprocess, sys; other = subprocess.Popen([sys.executable, '-c', {until!r}], {pipes}); "
        f"other.stdout.readline(); {hold}; other.communicate()"
    )
    one = memory.peak_of_all(python("-c", hold), os.environ, tmp_path)
    turns = memory.peak_of_all(python("-c", twice), os.environ, tmp_path)
    at_once = memory.peak_of_all(python("-c", both), os.environ, tmp_path)
    if sys.platform != "linux":
        assert one is turns is at_once is None
        return
    assert one and turns and at_once and one > 19
    assert at_once > 1.5 * one > turns


def test_the_rows_of_the_readers_build(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(checking.CORPUS_VARIABLE, str(ROOT / "docs" / "decisions"))
    rows = list(reading.rows(mixed=20, rounds=1, short=2_000, seconds=0.01))
    assert len(rows) == 10
    assert all(row.value > 0 and row.base for row in rows)


def test_the_rows_of_the_pure_floors_build(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pure, "calls", lambda work: (work() and 1.0) or 1.0)
    assert [row.value for row in pure.rows()] == [1.0] * 6


class Answers(BaseHTTPRequestHandler):
    """Says the path that it was asked for; has nothing new for those who name a tag."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        same, body = "if-none-match" in self.headers, self.path.encode()
        self.send_response_only(304 if same else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if same else body)

    def log_message(self, *_: object) -> None: ...


def test_the_load_counts_whole_answers_and_a_request_is_answered_with_its_bytes():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    try:
        asked = [serve_http.request_of(f"/{'x' * each}", "*/*", port, tag) for each in (1, 90) for tag in ("", '"1"')]
        with serve_http.connected(port) as line:
            assert serve_http.answered(line, asked[0]) == ([("content-length", "2")], b"/x")
            assert serve_http.whole_answer(line, asked[1]).startswith(b"HTTP/1.1 304")
        done, seconds = serve_load.measure(port, asked, 0.05)
        assert done > 0 and seconds > 0
    finally:
        server.shutdown()
        server.server_close()


def test_pages_are_taken_from_everywhere_and_rates_are_medians():
    assert serve.spread([str(each) for each in range(10)], 4) == ["0", "2", "5", "7"]
    assert serve.spread(["a"], 4) == ["a"]
    assert serve.middle([serve.Rate(1, 9), serve.Rate(5, 7), serve.Rate(3, 8)]) == serve.Rate(3, 8)
    assert serve.middle([serve.Rate(1, None)]) == serve.Rate(1, None)


def test_a_row_is_a_line_of_the_table():
    shown = Row("what", 2, "ms", "peer", 4, "≤ 1x").text()
    assert shown == "| what | 2.00 ms | peer | 4.00 ms | 0.50x | ≤ 1x |"
    assert shown.count("|") == HEAD.splitlines()[0].count("|")


def test_the_readme_has_a_heading_and_a_command_for_every_section():
    assert set(re.findall(r"^python -m bench (\w+)", PAGE, re.MULTILINE)) == set(SECTIONS)
    titles = [f"{name}: {section.title}" for name, section in SECTIONS.items()]
    assert sorted(re.findall(r"^## (\w+: .+)$", PAGE, re.MULTILINE)) == sorted(titles)


def test_the_pinned_peers_have_hashes_and_no_address():
    for name in peers.ENVIRONMENTS.values():
        lock = (peers.HERE / name).read_text()
        asked = (peers.HERE / name).with_suffix(".in").read_text().splitlines()
        assert all(f"\n{name}==" in lock for name in asked if name[0] != "#")
        assert not re.search(r"https?:|file:", lock)
    for folder in peers.NODE.values():
        packages = json.loads((folder / "package-lock.json").read_text())["packages"]
        assert [name for name, each in packages.items() if name and "integrity" not in each] == []
        assert "resolved" not in (folder / "package-lock.json").read_text()
