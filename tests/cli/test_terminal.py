"""Every command on a terminal, over documents full of what a terminal obeys: only styles of this program come out."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.cli.console import Console, wants_color
from prosa.cli.main import main
from prosa.regex import UNSEEN
from prosa.render.json import dump
from prosa.render.plain import for_terminal
from prosa.render.rows import render_csv, render_jsonl_rows
from prosa.source.invisible import invisible
from tests.cli.programs import prosa, script, user

OBEYED = "\x1b]52;c;aGk=\a\x1b[8m\x1b[2J\x9b31m\x07\x08\u202e\u2066\u200b\u2028\x7f\ufeff\U000e0041"
STYLES = re.compile(r"\x1b\[(?:[012]|32|1;3[1236])m")

QUOTED = json.dumps(OBEYED)[1:-1]
"""The same in a text of YAML or JSON between quotes."""

FILES = {
    "p.md": f'---\nname: p\ndescription: "x {QUOTED}"\ninput: {{type: object}}\noutput: {{type: object}}\n---\n'
    f"Say {OBEYED}\n",
    "bad.md": f'---\nname: "{QUOTED}"\ndescription: x\ninput: {{type: object}}\nimports: ["./{QUOTED}.md"]\n---\n'
    f"{{{{ .{OBEYED} }}}}\n",
    "notes.md": f'---\ntitle: "=A1 {QUOTED}"\ntags: ["{QUOTED}"]\n---\n# Head {OBEYED}\n\n'
    f"fog {OBEYED} [a](gone{OBEYED}.md) [[gone{OBEYED}]] [n](node.md)\n",
    "chat.md": f"### @user:\n\nhello {OBEYED}\n",
    "doc.mda": f'---\ntitle: "{QUOTED}"\n---\n# D\n\n```ai-script\n{{"id": "s", "prompt": "Say {QUOTED}"}}\n```\n',
    "record.ymj": f'---\nsubject: "{QUOTED}"\n---\n# R {OBEYED}\n',
    "node.md": f'---\nid: n\ntype: page\ntitle: "{QUOTED}"\nlinks:\n  - {{rel: "{QUOTED}", href: /x}}\n---\n# N\n',
}

COMMANDS = (
    ("check", "."),
    ("check", "--strict", "--statistics", "."),
    *(("check", "--format", form, ".") for form in ("json", "jsonl", "github", "sarif")),
    ("check", "--fix", "--diff", "."),
    ("fmt", "--diff", "."),
    ("fmt", "--check", "."),
    *(("show", name) for name in FILES),
    ("show", "--format", "json", "notes.md"),
    ("render", "p.md"),
    ("render", "p.md", "--messages"),
    ("render", "p.md", "--format", "json"),
    ("plan", "p.md"),
    ("plan", "p.md", "--format", "json"),
    ("plan", "bad.md"),
    ("plan", "doc.mda"),
    ("run", "p.md", "--help"),
    ("run", "p.md", "--model", "{script}", "--summary", "--events", "jsonl"),
    ("run", "doc.mda", "--all", "--model", "{script}"),
    ("chat", "chat.md", "--dry-run"),
    ("chat", "chat.md", "--model", "{script}"),
    ("trust", "doc.mda"),
    ("index",),
    ("search", "fog"),
    ("search", "--format", "jsonl", "fog"),
    *(("graph", "--format", form) for form in ("json", "mermaid", "dot")),
    ("graph",),
    ("links", "notes.md"),
    ("path", "notes.md", "node.md"),
    ("impact", "node.md"),
    ("stats",),
    *(("query", "select * from documents", "--format", form) for form in ("text", "json", "jsonl", "csv")),
    ("query", OBEYED.replace("\x00", "")),
    ("rename", "notes.md", "moved.md"),
    ("enrich", "record.ymj"),
    ("probe", "."),
    ("build", ".", "{out}"),
    ("explain", OBEYED),
    (f"no{OBEYED}",),
)


def on_terminal(folder: Path, argv: list[str], environ: dict[str, str]) -> str:
    """All that a command writes to its terminal, a real one."""
    leader, follower = pty.openpty()
    with ThreadPoolExecutor(1) as reading, pytest.MonkeyPatch.context() as patch:
        found = reading.submit(_read, leader)
        patch.chdir(folder)
        with open(follower, "w", encoding="utf-8", newline="\n", errors="backslashreplace") as stream:
            color = wants_color(environ, stream.isatty())
            main(argv, Console(io.StringIO(), stream, stream, environ, interactive=False, color=color))
        text = found.result(60)
    os.close(leader)
    return text


def _read(leader: int) -> str:
    found = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            return found.decode("utf-8")  # the other end is closed
        found += piece


def obeyed(text: str) -> set[str]:
    return {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t"}


@pytest.mark.parametrize("argv", COMMANDS, ids=lambda argv: ascii(" ".join(argv))[1:60])
def test_every_command_writes_nothing_to_a_terminal_that_it_would_obey(argv: tuple[str, ...], tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    reply = {"content": f"answer {OBEYED}"} if argv[-1] == "{script}" else {"content": {"text": OBEYED}}
    words = [each.replace("{script}", script(tmp_path, reply)).replace("{out}", str(tmp_path / "out")) for each in argv]
    found = on_terminal(folder, words, user(tmp_path, CI="1", TERM="xterm"))
    assert found and "Traceback" not in found
    assert argv[0].startswith("no") or ("unknown flag" not in found and "expected one of" not in found)
    assert obeyed(STYLES.sub("", found).replace("\r\n", "\n")) == set(), ascii(found)
    plain = on_terminal(folder, words, user(tmp_path, CI="1", NO_COLOR="1"))
    assert obeyed(plain.replace("\r\n", "\n")) == set(), ascii(plain)


def unneeded(text: str) -> set[str]:
    """What a terminal would obey, but for invisible characters that the text around them needs."""
    return {char for char in obeyed(text) if not UNSEEN.match(char)} | {
        char for run in invisible(text) for char in text[run.start : run.end]
    }


@pytest.mark.parametrize("text", ["\xadA1", "\xadA", "\ufeffa", "A\xad", "\u200d\u200d"])
def test_a_style_makes_no_invisible_character_needed(text: str):
    """X39. The letter that ends a style is no letter of a word."""
    assert unneeded(STYLES.sub("", for_terminal(f"{text}\x1b[1;31m{text}", styled=True))) == set()


@given(st.text())
def test_a_text_for_a_terminal_has_nothing_that_it_would_obey(text: str):
    """X39. What a script, an emoji or a word needs stays; a style beside it makes nothing needed."""
    assert unneeded(for_terminal(text)) == set()
    assert unneeded(STYLES.sub("", for_terminal(text + "\x1b[1;31m" + text, styled=True))) == set()
    assert for_terminal("a\r\nb\tc") == "a\nb\tc"


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_says_the_same_with_nothing_unseen_in_it(value: object):
    for indent in (None, 2):
        text = dump(value, indent=indent)
        assert json.loads(text) == value
        assert obeyed(text) == set()
    assert json.loads(render_jsonl_rows(("a\u202e",), ((OBEYED,),))) == {"a\u202e": OBEYED}


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_csv_comes_back_as_it_was_and_guarded_holds_no_formula(cells: list[str]):
    """A guarded text is the text behind an apostrophe; numbers stay numbers."""
    names = [str(at) for at in range(len(cells))]
    kept = [each.replace("\r", "").replace("\0", "") for each in cells]
    (_, row) = csv.reader(io.StringIO(render_csv(names, (kept,)), newline=""))
    assert row == kept
    (_, row) = csv.reader(io.StringIO(render_csv(names, (kept,), guarded=True), newline=""))
    assert [each.removeprefix("'") if was[:1] != "'" else each for each, was in zip(row, kept, strict=True)] == kept
    assert not any(each.startswith(("=", "+", "-", "@", "\t", "\n")) for each in row)
    assert render_csv(("=n",), ((-1,), ("=1+1",)), guarded=True) == "'=n\n-1\n'=1+1"


HIDDEN = "a\u200bb \u202ec\u202c d\U000e0069 می\u200cخواهم 👩\u200d🚀 ❤\ufe0f"
SHOWN = "a\\u200bb \\u202ec\\u202c d\\U000e0069 می\u200cخواهم 👩\u200d🚀 ❤\ufe0f"


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("command", ["render", "run", "output", "json"])
def test_x39_a_terminal_shows_escapes_and_everything_else_gets_the_bytes(tmp_path: Path, terminal: bool, command: str):
    """X39: pipes, files, `render` and JSON are exact; people see what is there."""
    path = tmp_path / "p.md"
    path.write_text(f"---\nname: p\ndescription: d\ninput: {{type: object}}\noutput: {{type: string}}\n---\n{HIDDEN}\n")
    (tmp_path / "r.jsonl").write_text(json.dumps({"content": json.dumps(HIDDEN)}) + "\n")
    model = ("--model", f"scripted:{tmp_path / 'r.jsonl'}")
    argv = {
        "render": ("render", path),
        "run": ("run", path, *model),
        "output": ("run", path, *model, "--output", tmp_path / "out.txt"),
        "json": ("show", path, "--format", "json"),
    }[command]
    status, at = prosa(*argv, environ=user(tmp_path), terminal=terminal)
    assert status == 0, at.err
    if command == "output":
        assert HIDDEN in (tmp_path / "out.txt").read_text() or HIDDEN in json.loads((tmp_path / "out.txt").read_text())
    elif command == "json":
        found = [each["message"] for each in json.loads(at.out)["diagnostics"]]
        assert any("U+200B" in each for each in found)
    else:
        said = at.out if command == "render" or terminal else json.dumps(json.loads(at.out), ensure_ascii=False)
        assert (SHOWN if terminal else HIDDEN) in said
