"""Writes the reference, ``docs/reference/``, out of what the code says of itself; ``--check`` only says what differs.

In: the parsers of the commands, the tables of rules, settings and fields, docstrings. Out: Markdown, the same on every
machine. A page that nothing makes any more is removed. Nothing here opens a socket or runs a document.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.docs.commands import command_pages, status_page
from tools.docs.dialects import dialect_pages
from tools.docs.python import event_page, python_pages
from tools.docs.rules import rule_pages
from tools.docs.settings import setting_page
from tools.docs.writing import Made, page

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"

STALE = "docs/reference is not what the code says: run `make docs`"

PARTS = (
    ("Commands", "commands/README.md", "every command with its arguments and flags"),
    ("Rules", "rules/README.md", "everything that `prosa check` can say, a page for each"),
    ("Settings", "settings.md", "every key of `settings.toml` and `prosa.toml`"),
    ("Dialects", "dialects/README.md", "the fields of each kind of document"),
    ("Events", "events.md", "what a run tells while it goes on"),
    ("Exit statuses", "exit-statuses.md", "what a command ends with"),
    ("Python", "python/README.md", "every public name, with its signature"),
)


def main(arguments: list[str]) -> int:
    """Writes what differs. With ``--check`` nothing is written, and 1 says that something would be."""
    changed = differences()
    if arguments == ["--check"]:
        sys.stderr.writelines(f"docs/reference/{path}\n" for path in changed)
        sys.stderr.write(f"error: {STALE}\n" if changed else "")
        return int(bool(changed))
    for path, text in changed.items():
        write(REFERENCE / path, text)
    sys.stdout.write(f"{len(changed)} of {len(reference())} pages written\n")
    return 0


def reference() -> dict[str, str]:
    """The text of every page by its path below the reference."""
    return dict(sorted(_made()))


def differences() -> dict[str, str | None]:
    """What has to be written so that the folder is as the code says; None for a page to remove."""
    wanted = reference()
    there = {file.relative_to(REFERENCE).as_posix(): file for file in REFERENCE.rglob("*.md")}
    left = {path: None for path in there if path not in wanted}
    told = {path: file.read_text(encoding="utf-8") for path, file in there.items()}
    return dict(sorted({**left, **{path: text for path, text in wanted.items() if told.get(path) != text}}.items()))


def write(file: Path, text: str | None) -> None:
    """Writes a page, or removes it."""
    if text is None:
        file.unlink()
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _made() -> Iterator[Made]:
    rows = "\n".join(f"- [{title}]({path}): {about}" for title, path, about in PARTS)
    yield Made("README.md", page("Reference", "What the code says of itself, written by `make docs`.", rows))
    yield from command_pages()
    yield status_page()
    yield from rule_pages()
    yield setting_page()
    yield from dialect_pages()
    yield event_page()
    yield from python_pages()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
