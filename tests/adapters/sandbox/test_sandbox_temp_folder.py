"""Removing what a hostile program left, and measuring it (L23)."""

from __future__ import annotations

import os
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.sandbox import limits, temp_folder
from tests.depth import examples


def test_l23_a_tree_deeper_than_pythons_stack_is_removed(tmp_path):
    start = os.open(tmp_path, os.O_RDONLY)
    os.mkdir("run", dir_fd=start)
    inner = os.open("run", os.O_RDONLY, dir_fd=start)
    for depth in range(sys.getrecursionlimit() + 200):
        os.mkdir("deep", dir_fd=inner)
        os.close(os.open(f"f{depth}", os.O_CREAT, dir_fd=inner))
        deeper = os.open("deep", os.O_RDONLY, dir_fd=inner)
        os.close(inner)
        inner = deeper
    os.close(inner)
    os.close(start)
    assert temp_folder.over_quota(str(tmp_path / "run")) == "temporary folder nested too deep"
    temp_folder.remove(str(tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_l23_links_are_removed_and_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    run = tmp_path / "run"
    (run / "inner").mkdir(parents=True)
    (run / "folder").symlink_to(outside)
    (run / "inner" / "file").symlink_to(outside / "kept")
    os.link(outside / "kept", run / "hard")
    os.mkfifo(run / "pipe")
    (run / "inner").chmod(0)
    temp_folder.remove(str(run))
    assert not run.exists()
    assert (outside / "kept").read_text() == "x"


def test_l23_a_link_in_place_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "outside" / "kept").mkdir(parents=True)
    (tmp_path / "run").symlink_to(tmp_path / "outside")
    temp_folder.remove(str(tmp_path / "run"))
    temp_folder.remove(str(tmp_path / "absent"))
    assert (tmp_path / "outside" / "kept").is_dir()


names = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
trees = st.recursive(st.none(), lambda inner: st.dictionaries(names, inner, max_size=4), max_leaves=15)


@settings(max_examples=examples(30), deadline=None)
@given(trees)
def test_l23_every_tree_is_removed(tmp_path_factory, tree):
    root = tmp_path_factory.mktemp("tree")

    def plant(path, inner):
        if inner is None:
            path.write_text("x")
            return
        path.mkdir()
        for name, child in inner.items():
            plant(path / name, child)

    plant(root / "run", tree or {})
    assert temp_folder.over_quota(str(root / "run")) is None
    temp_folder.remove(str(root / "run"))
    assert list(root.iterdir()) == []


def test_l23_the_quota_counts_real_bytes_and_not_holes(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 * limits.MAX_TEMP_BYTES)
    assert temp_folder.over_quota(str(tmp_path)) is None
    assert temp_folder.over_quota(str(tmp_path / "absent")) is None
