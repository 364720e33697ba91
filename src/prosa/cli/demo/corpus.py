"""The part of the tour with the example corpus: checked and mended, indexed, searched, drawn, and let act.

Everything happens in a copy; the story and what the commands print goes to stderr. Only the replies of the model are
scripted, and it says so.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from prosa.cli.console import Console
from prosa.data import Value

FOLDER = Path(__file__).parents[2] / "demo"
CORPUS = FOLDER / "corpus"
ACTING = FOLDER / "acting.jsonl"

CHECKED = """\
1. Documents in every format that Prosa reads, each with a flaw: a MAGI document, a YMJ record, an MDH node, a Prapti
   chat, a program, a skill and plain Markdown. They are checked and mended in a copy.
"""

KNOWN = """\
2. The same folder is a corpus: one graph of all references, one index, one search.
"""

ACTS = f"""\
3. Documents that act. The MAGI document carries an instruction for a model: its result is written below it, as data,
   and goes stale when the document changes. The chat is answered in its own file. The replies are SCRIPTED: they come
   from {ACTING.name}, so that this works without a key.
"""

PICTURE = "harbour.html"

_EDIT = ("every Monday", "every Tuesday")


def tour_corpus(console: Console) -> None:
    """Walks through the corpus."""
    told = console.changed(stdout=console.stderr)
    with tempfile.TemporaryDirectory(prefix="prosa-demo-") as name:
        folder = Path(name) / CORPUS.name
        shutil.copytree(CORPUS, folder)
        told.err(CHECKED)
        for flags in ((), ("--fix",)):
            _show(told, folder, "check", folder, *flags)
        told.err(KNOWN)
        _know(told, folder)
        told.err(ACTS)
        _act(told, folder)


def _know(console: Console, folder: Path) -> None:
    _show(console, folder, "index", folder)
    _show(console, folder, "search", "lamp", folder)
    _show(console, folder, "links", folder / "lighthouse.mda")
    picture = _place(console) / PICTURE
    _show(console, folder, "graph", folder, "--format", "html", "--output", picture)
    console.err(f"The picture is yours to open in a browser: {picture}\n")


def _act(console: Console, folder: Path) -> None:
    document, chat = folder / "lighthouse.mda", folder / "watch.md"
    model = ("--model", f"scripted:{ACTING}")
    _show(console, folder, "run", document, "--script", "duties", "--write", *model)
    _print(console, document, "<!-- ai-result", "<!-- /ai-result -->")
    console.err(f"A person edits the document: “{_EDIT[0]}” becomes “{_EDIT[1]}”.\n")
    document.write_text(document.read_text("utf-8").replace(*_EDIT), "utf-8")
    _show(console, folder, "check", document)
    # Every command plays the script from its beginning; the second reply is for the second run.
    again = folder.parent / "again.jsonl"
    again.write_text("".join(ACTING.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    _show(console, folder, "run", document, "--stale", "--model", f"scripted:{again}")
    _show(console, folder, "check", document)
    _show(console, folder, "chat", chat, *model)
    _print(console, chat, "### @user:", "")


def _show(console: Console, folder: Path, *words: Value) -> None:
    """Prints a command as a person would type it in the folder, and does it."""
    from prosa.cli.main import main

    console.err(f"$ prosa {' '.join(_named(word, folder) for word in words)}")
    main([str(word) for word in words], console)
    console.err("")


def _named(word: Value, folder: Path) -> str:
    text = str(word)
    if text == str(folder):
        return "."
    return text.replace(f"{folder}/", "").replace(f"{FOLDER}/", "").replace(f"{folder.parent}/", "")


def _print(console: Console, document: Path, first: str, last: str) -> None:
    """The lines of a document from the first one that begins with ``first`` to the one that is ``last``."""
    lines: Sequence[str] = document.read_text("utf-8").splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith(first)), len(lines))
    end = next((at for at, line in enumerate(lines) if at > start and last and line == last), len(lines))
    shown = (line if len(line) <= 100 else f"{line[:99]}…" for line in lines[start : end + 1])
    console.err("".join(f"  {line}\n" if line else "\n" for line in shown))


def _place(console: Console) -> Path:
    """Where the picture stays after the tour: the user's cache, or where there is none a temporary folder."""
    from prosa.app.text_files import private_folder

    try:
        return private_folder("demo", console.environ)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="prosa-demo-"))
