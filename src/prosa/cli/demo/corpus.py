"""The part of the tour with the example corpus: checked and mended, indexed, searched, drawn, and let act.

Everything happens in a copy; the story and what the commands print goes to stderr. Only the replies of the model are
scripted, and it says so.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from io import StringIO
from pathlib import Path

from prosa.cli.console import Console
from prosa.cli.demo.stage import WIDTH, folded, lasting_folder, near, show

FOLDER = Path(__file__).parents[2] / "demo"
CORPUS = FOLDER / "corpus"
ACTING = FOLDER / "acting.jsonl"

CHECKED = """\
1. Documents in every format that Prosa reads, each with a flaw: a MAGI
   document, a YMJ record, an MDH node, a Prapti chat, a program, a skill and
   plain Markdown. They are checked and fixed in a copy.
"""

KNOWN = """\
2. The same folder is a corpus: one graph of all references, one index, one
   search.
"""

ACTS = f"""\
3. Documents that act. The MAGI document carries an instruction for a model: its
   result is written below it, as data, and goes stale when the document
   changes. The chat is answered in its own file. The replies are SCRIPTED: they
   come from {ACTING.name}, so that this works without a key.
"""

PICTURE = "harbour.html"

_EDIT = ("every Monday", "every Tuesday")


def tour_corpus(console: Console) -> None:
    """Walk through the corpus."""
    screen = folded(console)
    with tempfile.TemporaryDirectory(prefix="prosa-demo-") as name:
        folder = Path(name) / CORPUS.name
        shutil.copytree(CORPUS, folder)
        shutil.copy(ACTING, folder)
        with chdir(folder):
            screen.err(CHECKED)
            for flags in ((), ("--fix",)):
                show(screen, "check", ".", *flags)
            screen.err(KNOWN)
            _know(screen)
            screen.err(ACTS)
            _act(screen)


def _know(console: Console) -> None:
    report = StringIO()
    show(console.changed(stdout=report), "index", ".")
    console.err(report.getvalue().replace(str(Path.cwd()), "this folder"))
    show(console, "search", "lamp", ".")
    show(console, "links", "lighthouse.mda")
    show(console, "graph", ".", "--format", "html", "--output", PICTURE)
    place = shutil.copy(PICTURE, lasting_folder(console))
    console.err(f"The picture is yours to open in a browser:\n  {near(Path(place), console)}\n")


def _act(console: Console) -> None:
    document, model = Path("lighthouse.mda"), ("--model", f"scripted:{ACTING.name}")
    show(console, "run", document.name, "--script", "duties", "--write", *model)
    _print(console, document, "<!-- ai-result", "<!-- /ai-result -->")
    console.err(f"A person edits the document: “{_EDIT[0]}” becomes “{_EDIT[1]}”.\n")
    document.write_text(document.read_text("utf-8").replace(*_EDIT), "utf-8")
    show(console, "check", document.name)
    # Every command plays the script from its beginning; the second reply is for the second run.
    Path("again.jsonl").write_text("".join(ACTING.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    show(console, "run", document.name, "--stale", "--model", "scripted:again.jsonl")
    show(console, "check", document.name)
    show(console, "chat", "watch.md", *model)
    _print(console, Path("watch.md"), "### @user:", "")


def _print(console: Console, document: Path, first: str, last: str) -> None:
    """Print the lines of a document from the first one that begins with ``first`` to the one that is ``last``."""
    lines: Sequence[str] = document.read_text("utf-8").splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith(first)), len(lines))
    end = next((at for at, line in enumerate(lines) if at > start and last and line == last), len(lines))
    shown = (line if len(line) <= WIDTH - 2 else f"{line[: WIDTH - 3]}…" for line in lines[start : end + 1])
    console.err("".join(f"  {line}\n" if line else "\n" for line in shown))
