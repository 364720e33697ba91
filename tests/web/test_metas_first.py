"""Pages are judged by meta files before there is an index (MA18, X23): a look at the meta files alone is enough."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from unittest.mock import patch

import pytest

from prosa.app.corpus.open import open_corpus
from prosa.app.site.inheritance import MetaFiles
from prosa.app.site.keeper import IndexThread, SiteOptions
from prosa.app.site.live import LiveSite
from prosa.corpus import found
from prosa.settings import Settings

META = "---\ndoc-id: m-1\nglobs: ['hidden/**']\nvisibility: private\n---\n"


@contextmanager
def without_index(root: Path, settings: Settings):
    """A site whose index is never opened while it is asked; and what is set once the index is asked for."""
    asked, over = Event(), Event()

    def opened(*_: object) -> None:
        asked.set()
        over.wait(60)
        raise ValueError("it is over")

    site = LiveSite(root, SiteOptions("Cold"), dict(os.environ), settings, 10_000)
    with patch.object(IndexThread, "_opened", opened):
        site.start()
        assert asked.wait(60)
        try:
            yield site
        finally:
            over.set()
            site.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in (("meta.mda", META), ("hidden/a.md", "# A\n"), ("shown/b.md", "# B\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_ma18_x23_what_meta_files_lend_counts_before_the_index_is_opened(root: Path):
    with without_index(root, Settings()) as site:
        assert site.index._pace.metas.is_set()
        assert site.view("shown/b.md") is not None
        assert site.view("hidden/a.md") is None


def test_x23_a_meta_file_that_is_a_link_needs_a_look_at_everything(root: Path):
    (root / "linked.mda").symlink_to(root / "shown/b.md")
    with without_index(root, Settings()) as site:
        assert not site.index._pace.metas.is_set()


def test_x23_settings_that_make_other_documents_meta_files_need_a_look_at_everything(root: Path):
    with without_index(root, Settings(dialects=(("notes/**", "magi"),))) as site:
        assert not site.index._pace.metas.is_set()


def test_x23_a_meta_file_that_came_or_changed_since_the_index_counts_before_it_is_opened(root: Path):
    (root / "plain.mda").write_text("---\ndoc-id: p-1\n---\n", encoding="utf-8")
    with open_corpus(root, environ=os.environ):
        pass
    with without_index(root, Settings()) as site:
        assert site.view("hidden/a.md") is None
        assert site.view("shown/b.md") is not None
    (root / "plain.mda").write_text(META.replace("hidden", "shown").replace("m-1", "p-1"), encoding="utf-8")
    with without_index(root, Settings()) as site:
        assert site.view("shown/b.md") is None


def test_only_documents_that_may_have_changed_are_read_before_the_index_is_opened(root: Path):
    place = root / "plain.mda"
    place.write_text("---\ndoc-id: p-1\n---\n", encoding="utf-8")
    os.utime(place, (1, 1))
    with patch.object(found, "RACY_NS", 0), open_corpus(root, environ=os.environ):
        pass
    read: list[str] = []
    with patch.object(MetaFiles, "_meta", lambda _, each: read.append(each.path)), without_index(root, Settings()):
        pass
    assert read == ["meta.mda"]
