"""X39: what a command hands on, through a pipe, into a file or as JSON, keeps invisible characters as they are."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.programs import prosa, script, user
from tests.depth import examples

UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u202a\u202e\u2060\u2066\u3164\ufe0f\ufeff"
    "\U000e0041\U000e0100"
)
PROGRAM = "---\nname: p\ndescription: {quoted}\ninput: {{type: object}}\noutput: {{type: string}}\n---\n{text}\n"
NOTE = "---\ntitle: {quoted}\ntags: [{quoted}]\n---\n\nFerry. {text}\n\n[a](gone{text}.md)\n"

texts = st.text(alphabet=f"ab{UNSEEN}", min_size=1, max_size=12).map(lambda each: f"x{each}x")


def values(node: Any) -> set[str]:
    """The texts anywhere in plain data."""
    if isinstance(node, str):
        return {node}
    inner = [*node, *node.values()] if isinstance(node, dict) else node if isinstance(node, list) else []
    return set().union(*map(values, inner))


def holds(node: Any, text: str) -> bool:
    return any(text in each for each in values(node))


def written(folder: Path, text: str) -> tuple[Path, Path, tuple[str, str]]:
    """A program and a note that hold a text, and a model that says it."""
    program, note = folder / "p.md", folder / "note.md"
    (folder / "prosa.toml").write_text("")
    program.write_text(PROGRAM.format(quoted=json.dumps(text), text=text), encoding="utf-8")
    note.write_text(NOTE.format(quoted=json.dumps(text), text=text), encoding="utf-8")
    return program, note, ("--model", script(folder, {"content": json.dumps(text)}))


@settings(max_examples=examples(8))
@given(texts)
def test_x39_pipes_and_files_are_exact(text: str):
    """X39."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        program, note, model = written(folder, text)

        def said(*argv: Any) -> str:
            status, at = prosa(*argv, environ=user(folder))
            assert status == 0, at.err
            return at.out

        assert text in said("render", program)
        assert json.loads(said("run", program, *model)) == text
        said("run", program, *model, "--output", folder / "out.json")
        assert json.loads((folder / "out.json").read_text(encoding="utf-8")) == text
        assert text in said("convert", program, "--to", "dotprompt")
        assert text in said("convert", note, "--to", "magi")
        (_, *rows) = csv.reader(
            io.StringIO(said("query", "select title from documents", "--format", "csv", "--root", folder))
        )
        assert [text] in rows
        said("fmt", note)
        assert text in note.read_text(encoding="utf-8")


@settings(max_examples=examples(8))
@given(texts)
def test_x39_json_is_exact(text: str):
    """X39."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        program, note, _ = written(folder, text)
        root = ("--root", folder)
        for argv in (
            ("plan", program, "--input", "{}"),
            ("show", program),
            ("show", note),
            ("check", note),
            ("links", note, *root),
            ("graph", *root),
            ("search", "ferry", *root),
            ("query", "select title from documents", *root),
        ):
            status, at = prosa(*argv, "--format", "json", environ=user(folder))
            assert status in (0, 1) and holds(json.loads(at.out), text), (argv, at.out, at.err)
