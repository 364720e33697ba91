"""The owner's file: what it says stands everywhere, and what is empty stands nowhere."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tools.packaging.owner import FILE, PLACES, Owner, changes, empty, read_owner
from tools.packaging.texts import TEXTS, in_state

ANN = Owner(
    published=True,
    name="Ann O’Hara",
    security="security@example.org",
    repository="https://example.org/ann/prosa",
    hooks="https://example.org/ann/prosa-pre-commit",
    image="registry.example.org/ann/prosa",
    publisher="ann",
)


def test_every_file_is_as_the_owner_says():
    """`python -m tools.packaging.owner` writes it anew."""
    assert [name for name, _ in changes(read_owner(FILE.read_text(encoding="utf-8")))] == []


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The files that have something of the owner, after they were filled in."""
    for name in {*PLACES, *(text.path for text in TEXTS)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    write(tmp_path, Owner())
    write(tmp_path, ANN)
    return tmp_path


def write(root: Path, owner: Owner) -> list[str]:
    found = list(changes(owner, root))
    for name, text in found:
        (root / name).write_text(text, encoding="utf-8")
    return [name for name, _ in found]


def test_an_owner_is_written_everywhere_and_once(filled: Path):
    assert write(filled, ANN) == []
    for folder in (".", "sandbox", "packaging/prosa"):
        project = tomllib.loads((filled / folder / "pyproject.toml").read_text("utf-8"))["project"]
        assert project["urls"]["Source"] == ANN.repository and project["authors"] == [{"name": ANN.name}]
        assert project["license-files"] and project["classifiers"]
    extension = json.loads((filled / "editors/vscode/package.json").read_text("utf-8"))
    assert (extension["publisher"], extension["repository"]["url"]) == ("ann", f"{ANN.repository}.git")
    assert json.loads((filled / ".claude-plugin/plugin.json").read_text("utf-8"))["repository"] == ANN.repository
    said = {name: (filled / name).read_text("utf-8") for name in [*PLACES, *(text.path for text in TEXTS)]}
    assert f'LABEL org.opencontainers.image.source="{ANN.repository}"' in said["Dockerfile"]
    assert 'author: "Ann O’Hara"' in said["action.yml"] and "security@example.org," in said["SECURITY.md"]
    assert "uses: ann/prosa@v" in said["docs/checking.md"] and f"- repo: {ANN.hooks}" in said["docs/checking.md"]
    assert "PUBLISHED = True" in said["src/prosa/extras.py"]
    assert "const PUBLISHED = true;" in said["editors/vscode/src/extension.js"]
    assert "pip install prosa\n" in said["README.md"] and "What works today" not in said["docs/install.md"]


def test_another_address_takes_the_place_of_the_first(filled: Path):
    assert write(filled, ANN._replace(security="https://example.org/report")) == ["SECURITY.md"]
    assert "in private to https://example.org/report," in (filled / "SECURITY.md").read_text("utf-8")


def test_an_owner_that_is_emptied_leaves_nothing_behind(filled: Path):
    write(filled, Owner())
    for name in {*PLACES, *(text.path for text in TEXTS)}:
        text = (filled / name).read_text("utf-8")
        assert "ann" not in text.split() and "example.org/ann" not in text and ANN.name not in text, name
    assert write(filled, Owner()) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('[owner]\nnick = "a"', "no such value: nick"),
        ('[addresses]\nrepository = "example.org"', "repository"),
        ('[addresses]\nrepository = "https://example.org/ann/prosa.git"', "repository"),
        ('[owner]\nsecurity = "call me"', "security"),
        ("published = true", "published, but empty: name"),
    ],
)
def test_a_value_of_another_form_is_refused(line: str, said: str):
    with pytest.raises(ValueError, match=said):
        read_owner(line)


def test_what_is_empty_is_named():
    assert empty(Owner(name="a", documentation="")) == ("security", "repository", "hooks", "image", "publisher")
    assert empty(ANN) == ()


def test_a_passage_that_stands_nowhere_is_an_error():
    with pytest.raises(ValueError, match=r"docs/tutorial\.md says neither"):
        in_state("docs/tutorial.md", "nothing", published=False, security="")
