"""X5 over all commands: what lies outside the root is neither opened nor quoted, however a document leads there."""

from __future__ import annotations

import builtins
import io
import os
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.markdownlang import main as markdownlang
from tests.cli.desk import desk
from tests.cli.programs import program, prosa, script, user
from tests.depth import DEEP

CANARY = "HUNTER2"
TEXT = f"machine example.org login bob password {CANARY}\n"
BROKEN = f"---\nname: far\ndescription: x\ninput: {{type: object}}\noutput: {{type: strnig}} # {CANARY}\n---\nhi\n"
"""A program that a run refuses; the line of the error holds the canary."""

SCRIPT = '{"id": "s", "prompt": "Say it."}'

REACHES = ("absolute", "up", "link", "folder")

PROGRAMS = (
    ("plan", "p.md"),
    ("render", "p.md"),
    ("run", "p.md", "--model", "{script}"),
    ("run", "p.md", "--help"),
    ("markdownlang", "-program", "p.md"),
)
"""The commands that may open what an import spells with a path out of the root, to see whether it is a program."""

COMMANDS = (
    ("check", "."),
    ("check", "p.md", "notes.md", "chat.md", "doc.mda", "record.ymj", "node.md"),
    ("check", "--strict", "--format", "json", "."),
    ("check", "--format", "sarif", "."),
    ("fmt", "--check", "."),
    *(("show", each) for each in ("p.md", "notes.md", "chat.md", "doc.mda", "record.ymj", "node.md")),
    ("chat", "chat.md", "--dry-run"),
    ("run", "doc.mda"),
    ("plan", "doc.mda"),
    ("render", "doc.mda", "--script", "s"),
    ("index",),
    ("search", "machine"),
    ("graph",),
    ("graph", "--format", "json"),
    ("links", "notes.md"),
    ("path", "notes.md", "node.md"),
    ("impact", "notes.md"),
    ("stats",),
    ("query", "select * from documents"),
    ("rename", "notes.md", "moved.md"),
    ("enrich", "record.ymj", "--dry-run"),
    ("probe", "."),
    ("build", ".", "{out}"),
    ("trust", "doc.mda"),
)


def outside(base: Path, text: str) -> Path:
    place = base / "outside"
    place.mkdir()
    (place / "canary.md").write_text(text, encoding="utf-8")
    return place / "canary.md"


def project(base: Path, canary: Path, reach: str) -> Path:
    """A project with a document of every kind that names the canary."""
    root = base / "root"
    (root / ".git").mkdir(parents=True)
    (root / "link.md").symlink_to(canary)
    (root / "up").symlink_to(canary.parent)
    spelled = {"absolute": str(canary), "up": "../outside/canary.md", "link": "link.md", "folder": "up/canary.md"}
    name = spelled[reach]
    program(root, name="p", more=f"imports: ['{name}']\n")
    texts = {
        "notes.md": f"# Notes\n\n[a]({name}) ![b]({name}) ![[{name}]] [[{name}#x]]\n",
        "chat.md": f"### @user:\n\n% !include {name}\n\nhello\n\n% include {name}\n",
        "doc.mda": f"# D\n\n[a]({name})\n\n```ai-script\n{SCRIPT}\n```\n\nx[^1]\n\n"
        f'[^1]: `{{"rel": "cites", "doc": "{name}"}}`\n',
        "record.ymj": f"---\nid: r\ntitle: R\nattachments:\n  - {{path: '{name}', sha256: {'0' * 64}}}\n---\n"
        "# R\n\n```json\n"
        f'{{"schema": "ymj/1", "attachments": [{{"path": "{name}"}}]}}\n```\n',
        "node.md": f"---\nid: n\ntype: page\nlinks:\n  - {{rel: next, href: '{name}', id: x}}\n---\n[a]({name})\n",
    }
    for each, text in texts.items():
        (root / each).write_text(text, encoding="utf-8")
    return root


class Opened:
    """Files that were opened, by what they are, whatever they were called."""

    def __init__(self, canary: Path, patch: pytest.MonkeyPatch) -> None:
        self.found = 0
        known = canary.stat()

        def looked(number: int) -> None:
            now = os.fstat(number)
            self.found += (now.st_dev, now.st_ino) == (known.st_dev, known.st_ino)

        os_open, io_open = os.open, io.open

        def opened(*args: Any, **options: Any) -> int:
            number = os_open(*args, **options)
            looked(number)
            return number

        def streamed(*args: Any, **options: Any) -> Any:
            stream = io_open(*args, **options)
            looked(stream.fileno())
            return stream

        patch.setattr(os, "open", opened)
        patch.setattr(io, "open", streamed)
        patch.setattr(builtins, "open", streamed)


def said(base: Path, root: Path, argv: tuple[str, ...], canary: Path) -> tuple[str, int, int]:
    """What a command printed and wrote, how often it opened the canary, and its exit status."""
    environ = user(base, PROSA_CACHE_DIR=str(base / "cache"), PROSA_DATA_DIR=str(base / "data"))
    words = [each.format(script=script(base), out=base / "out") for each in argv]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        watch = Opened(canary, patch)
        if words[0] == "markdownlang":
            at = desk("", environ)
            status = markdownlang(["run", *words[1:]], at.console)
        else:
            status, at = prosa(*words, environ=environ)
    built = "".join(each.read_text("utf-8", "replace") for each in (base / "out").rglob("*") if each.is_file())
    return at.out + at.err + built, watch.found, status


GRID = [
    (argv, reach)
    for at, argv in enumerate(COMMANDS)
    for number, reach in enumerate(REACHES)
    if DEEP or (at + number) % 2 == 0
]
"""Every command with two of the four ways out, and every way with half of the commands; all with all in
`make test-deep`."""


@pytest.mark.parametrize(("argv", "reach"), GRID, ids=lambda each: each if isinstance(each, str) else " ".join(each))
def test_x5_no_command_opens_or_quotes_what_lies_outside(argv: tuple[str, ...], reach: str, tmp_path: Path):
    canary = outside(tmp_path, TEXT)
    text, opened, status = said(tmp_path, project(tmp_path, canary, reach), argv, canary)
    assert (CANARY in text, opened) == (False, 0), text
    assert status in (0, 1, 2)
    assert "Traceback" not in text
    assert "the following arguments" not in text and "unrecognized" not in text


@pytest.mark.parametrize("text", [TEXT, BROKEN], ids=["text", "program"])
@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("argv", PROGRAMS, ids=" ".join)
def test_x5_la14_no_line_outside_is_quoted_and_no_link_followed_by_a_run(
    argv: tuple[str, ...], reach: str, text: str, tmp_path: Path
):
    canary = outside(tmp_path, text)
    found, opened, status = said(tmp_path, project(tmp_path, canary, reach), argv, canary)
    assert CANARY not in found
    assert "Traceback" not in found
    if reach in ("link", "folder"):
        assert opened == 0
    if text == TEXT or reach in ("link", "folder"):  # what is not opened stops a run, and no look at the program itself
        shows = argv[0] == "render" or "--help" in argv
        assert (status, "import-outside-root" in found) == ((0, False) if shows else (1, True))
    else:
        assert "canary.md:5:16: " in found


@pytest.mark.parametrize("argv", PROGRAMS[:4], ids=" ".join)
def test_x5_with_a_root_nothing_outside_is_opened_at_all(argv: tuple[str, ...], tmp_path: Path):
    canary = outside(tmp_path, BROKEN)
    root = project(tmp_path, canary, "absolute")
    given = () if "--help" in argv else ("--root", ".")
    found, opened, status = said(tmp_path, root, (*argv, *given), canary)
    assert (CANARY in found, status) == (False, int(argv[0] != "render"))
    assert opened == 0 or not given


def test_x5_what_is_named_is_opened_and_not_quoted(tmp_path: Path):
    """X5. A name on the command line may come from a pattern of the shell: none of its lines shows."""
    canary = outside(tmp_path, BROKEN)
    root = project(tmp_path, canary, "link")
    found, opened, status = said(tmp_path, root, ("check", "link.md"), canary)
    assert (CANARY in found, opened > 0, status) == (False, True, 1)
    assert "link.md:5:16: " in found


@pytest.mark.parametrize("name", ["prosa.toml", "pyproject.toml"])
def test_x5_settings_that_are_a_link_out_of_the_root_are_not_quoted(name: str, tmp_path: Path):
    canary = outside(tmp_path, f"[tool.prosa]\nx = {CANARY}\n")
    root = project(tmp_path, canary, "link")
    (root / name).symlink_to(canary)
    for argv in (("check", "."), ("plan", "p.md"), ("show", "notes.md")):
        assert CANARY not in said(tmp_path, root, argv, canary)[0]


def test_x5_programs_below_the_current_folder_import_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X5, LA14. Without a mark, who stands above two folders runs a program of one that imports from the other."""
    for name in ("one", "two"):
        (tmp_path / "here" / name).mkdir(parents=True)
    program(tmp_path / "here" / "two", name="inner")
    path = program(tmp_path / "here" / "one", name="outer", more="imports: [../two/linked.md]\n")
    (tmp_path / "here" / "two" / "linked.md").symlink_to("inner.md")
    monkeypatch.chdir(tmp_path / "here")
    status, at = prosa("plan", "one/outer.md", environ=user(tmp_path))
    assert (status, "inner" in at.out) == (0, True)
    monkeypatch.chdir(tmp_path)
    status, at = prosa("plan", path, environ=user(tmp_path, HOME=str(tmp_path)))
    assert (status, "import-outside-root" in at.err) == (1, True), "home is nobody's root, and no link leads out"
