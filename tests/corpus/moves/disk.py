"""A corpus on disk for the tests that write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prosa.app.corpus.documents import CorpusDocuments
from prosa.app.corpus.move import Journal
from prosa.app.corpus.open import open_corpus

TEXTS = {
    "a.md": "# A\n\n[b](notes/b.md#part) and [[b|the note]]\n",
    "notes/b.md": "# B\n\n[a](../a.md), [me](b.md), ![p](p.png)\n\n## Part\n",
    "notes/c.md": "# C\n\n[b][r]\n\n[r]: b.md 'title'\n",
    "z.mda": "---\ndoc-id: z1\n---\n# Z\n\nt[^1] [[b]]\n\n"
    '[^1]: `{"rel-type": "child", "doc-id": "y1", "rel-desc": "d"}`\n',
    "y.mda": "---\ndoc-id: 'y1'\n---\n# Y\n",
}


def write(root: Path, texts: dict[str, str] = TEXTS) -> Path:
    """The texts as files below ``root``, which is marked as a project."""
    for path, text in {"prosa.toml": "", **texts}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def tree(root: Path) -> dict[str, str]:
    """Every file and its text."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@contextmanager
def shelf_of(root: Path, cache: Path) -> Iterator[CorpusDocuments]:
    """The corpus below ``root``, with its index in ``cache``."""
    with open_corpus(root, environ=environ(cache)) as corpus:
        yield CorpusDocuments(corpus)


def journal_of(root: Path, cache: Path) -> Journal:
    """The journal of the corpus below ``root``."""
    return Journal.of(root, environ(cache))


def environ(cache: Path) -> dict[str, str]:
    """An environment with its own cache."""
    return {"PROSA_CACHE_DIR": str(cache), "HOME": str(cache)}
