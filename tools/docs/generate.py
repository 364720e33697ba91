"""Build the sources of the documentation's site: the guides of `docs/` and the reference, made of the code.

In: the parsers of the commands, the tables of rules, settings and fields, docstrings. Out: Markdown, the same on every
machine. Nothing here opens a socket or runs a document.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.docs.commands import command_pages, status_page
from tools.docs.dialects import dialect_pages
from tools.docs.python import event_page, python_pages
from tools.docs.rules import rule_pages
from tools.docs.settings import setting_page
from tools.docs.tables import check_page, view_page
from tools.docs.writing import Made, page

ROOT = Path(__file__).parents[2]

PARTS = (
    ("Commands", "commands/README.md", "every command with its arguments and flags"),
    ("Rules", "rules/README.md", "everything that `prosa check` can report, a page for each"),
    ("Settings", "settings.md", "every key of `settings.toml` and `prosa.toml`"),
    ("Dialects", "dialects/README.md", "the fields of each kind of document"),
    ("Events", "events.md", "what a run reports while it is running"),
    ("Views of the index", "views.md", "what `prosa query` can select from"),
    ("Checks of a site", "checks.md", "what `prosa probe` checks"),
    ("Exit statuses", "exit-statuses.md", "the statuses that a command can end with"),
    ("Python", "python/README.md", "every public name, with its signature"),
)


MOVED = {
    "audit.md": ("Audits and improvement", "improve.md#auditing-the-cases"),
    "conformance.md": ("Compatibility and conformance", "compatibility.md#suites-of-other-projects"),
    "discovery.md": ("Serving a site", "serving.md#files-for-agents"),
    "limits.md": ("Compatibility and conformance", "compatibility.md#tested-environments"),
}
"""Former guides: the title and the address of what has their content now. The site keeps a page at each old address."""


def main(arguments: list[str]) -> int:
    """Write the sources of the site into the folder that the one argument names."""
    (folder,) = arguments
    stage(Path(folder))
    return 0


def reference() -> dict[str, str]:
    """Return the text of every page by its path below the reference."""
    return dict(sorted(_made()))


def stage(folder: Path) -> Path:
    """Write settings, guides and reference into a new folder, and return the folder that `prosa build` takes."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "prosa.toml", folder)
    for path, text in reference().items():
        file = folder / "docs" / "reference" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for path, (title, address) in MOVED.items():
        text = page(f"Moved: {path.removesuffix('.md')}", f"The content of this page is now in [{title}]({address}).")
        (folder / "docs" / path).write_text(text, encoding="utf-8")
    return folder / "docs"


def _made() -> Iterator[Made]:
    rows = "\n".join(f"- [{title}]({path}): {about}" for title, path, about in PARTS)
    yield Made("README.md", page("Reference", "Reference generated from the source by `make docs`.", rows))
    yield from command_pages()
    yield status_page()
    yield from rule_pages()
    yield setting_page()
    yield from dialect_pages()
    yield event_page()
    yield view_page()
    yield check_page()
    yield from python_pages()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
