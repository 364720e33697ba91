"""The extension for VS Code: its manifest says what the server takes, its sources can be read, and `prosa` is found as
its page says. `make vscode` builds it; that is no part of the tests, as it asks a registry."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import prosa
from prosa.dialects.table import DOCUMENT_SUFFIXES, EVALS
from prosa.lsp.configuration import Configuration, Features, read_configuration
from tests.house.tree import ROOT

FOLDER = ROOT / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
LOCK = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
SETTINGS: dict[str, Any] = MANIFEST["contributes"]["configuration"]["properties"]
SOURCES = sorted((FOLDER / "src").glob("*.js"))
EXTENSION = (FOLDER / "src" / "extension.js").read_text(encoding="utf-8")
NODE = str(Path(sys.executable).with_name("node"))


def node(script: str, given: object = None) -> Any:
    """What a script writes as JSON; `given` is what it was given, and `require` begins in the folder of the sources."""
    begin = 'const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"));\n'
    done = subprocess.run(
        [NODE, "-e", begin + script],
        cwd=FOLDER / "src",
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def own() -> list[str]:
    """The settings that only the extension reads."""
    found: list[str] = node('console.log(JSON.stringify(require("./settings.js").OWN));')
    return found


def nested(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by their dotted names as the section of an editor has them."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        *above, last = name.split(".")
        inner = found
        for each in above:
            inner = inner.setdefault(each, {})
        inner[last] = value
    return found


def test_x30_the_settings_of_the_extension_are_those_of_the_server():
    """In both directions; the version is compared before the server starts, with a message that has buttons."""
    features = {f"prosa.features.{each}" for each in msgspec.structs.asdict(Features())}
    others = {f"prosa.{each.encode_name}" for each in msgspec.structs.fields(Configuration)}
    mine = {name for name in SETTINGS if name.split(".")[1] in own()}
    assert SETTINGS.keys() - mine == features | others - {"prosa.features", "prosa.version"}
    assert {name.split(".")[1] for name in mine} == set(own())


def test_what_is_handed_on_without_any_choice_is_what_the_server_does_by_itself():
    section = nested({name: each["default"] for name, each in SETTINGS.items()})["prosa"]
    told = node('console.log(JSON.stringify(require("./settings.js").forServer(given)));', section)
    assert read_configuration(told) == (Configuration(), "")
    assert not told.keys() & set(own())
    assert msgspec.convert(told["features"], dict[str, bool]) == msgspec.structs.asdict(Features())


@pytest.mark.parametrize("name", [each for each in SETTINGS if "enum" in SETTINGS[each] and "trace" not in each])
def test_the_server_takes_every_value_that_is_offered(name: str):
    for value in SETTINGS[name]["enum"]:
        assert read_configuration(nested({name: value}))[1] == ""


def test_the_extension_is_made_for_this_version():
    assert MANIFEST["version"] == prosa.__version__ == LOCK["version"]
    assert MANIFEST["license"] == re.findall(r'^license = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)[0]


def test_every_document_and_nothing_else_goes_to_the_server():
    (suffixes,) = re.findall(r"\*\*/\*\.\{([^}]+)\}", EXTENSION)
    assert tuple(f".{each}" for each in suffixes.split(",")) == DOCUMENT_SUFFIXES
    (names,) = re.findall(r"\*\*/\{([^}]+)\}", EXTENSION)
    assert names.split(",") == [*EVALS.file_names, "prosa.toml"]
    known = [suffix for each in MANIFEST["contributes"]["languages"] for suffix in each["extensions"]]
    assert set(known) < set(DOCUMENT_SUFFIXES)


def test_every_command_is_there_and_every_file_too():
    commands = {each["command"] for each in MANIFEST["contributes"]["commands"]}
    assert commands == set(re.findall(r'registerCommand\("([^"]+)"', EXTENSION))
    contributed = MANIFEST["contributes"]
    files = [each["configuration"] for each in contributed["languages"] if "configuration" in each]
    files += [each["path"] for each in contributed["grammars"]]
    built = (FOLDER / "package.mjs").read_text(encoding="utf-8")
    for each in files:
        assert json.loads((FOLDER / each).read_text(encoding="utf-8"))
        assert f'"{each.removeprefix("./")}"' in built


def test_a_folder_cannot_choose_what_is_started():
    untrusted = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert untrusted["supported"] == "limited"
    assert untrusted["restrictedConfigurations"] == ["prosa.path"]


def test_the_lock_has_hashes_and_no_address():
    packages = LOCK["packages"]
    assert packages[""]["devDependencies"] == MANIFEST["devDependencies"]
    assert all(re.fullmatch(r"[\d.]+", version) for version in MANIFEST["devDependencies"].values())
    assert [name for name, each in packages.items() if name and "integrity" not in each] == []
    assert "resolved" not in (FOLDER / "package-lock.json").read_text()


def test_the_sources_are_javascript():
    script = """
    const wrong = [];
    for (const [name, text] of given) {
      try { new (require("node:vm").Script)(require("node:module").wrap(text)); }
      catch (error) { wrong.push(`${name}: ${error}`); }
    }
    console.log(JSON.stringify(wrong));
    """
    assert len(SOURCES) >= 4
    assert node(script, [[each.name, each.read_text(encoding="utf-8")] for each in SOURCES]) == []


HERE: dict[str, Any] = {
    "setting": "",
    "folders": ["/p", "/q"],
    "isTrusted": True,
    "env": {"PATH": "/usr/bin:relative::/opt/bin"},
    "platform": "linux",
    "home": "/home/me",
}
WINDOWS: dict[str, Any] = {
    **HERE,
    "folders": ["C:\\p"],
    "env": {"Path": "C:\\tools;D:\\bin"},
    "platform": "win32",
    "home": "C:\\me",
}
FOUND: list[tuple[dict[str, Any], list[str], str]] = [
    # where · what can be started there · what is found, or how the problem begins
    (HERE, ["/usr/bin/prosa", "/q/venv/bin/prosa"], "/q/venv/bin/prosa (folder)"),
    (HERE, ["/p/.venv/bin/prosa", "/p/venv/bin/prosa"], "/p/.venv/bin/prosa (folder)"),
    ({**HERE, "isTrusted": False}, ["/opt/bin/prosa", "/p/.venv/bin/prosa"], "/opt/bin/prosa (PATH)"),
    ({**HERE, "isTrusted": False}, ["/p/.venv/bin/prosa"], "no program prosa was found (looked in PATH; what lies"),
    (HERE, ["/p/relative/prosa", "relative/prosa", "prosa", "/prosa"], "no program prosa was found (looked in .venv"),
    ({**HERE, "folders": []}, [], "no program prosa was found (looked in PATH)"),
    ({**HERE, "env": {}}, [], "no program prosa was found"),
    ({**HERE, "setting": "/x/prosa"}, ["/x/prosa", "/usr/bin/prosa"], "/x/prosa (setting)"),
    ({**HERE, "setting": "/x/prosa"}, ["/usr/bin/prosa"], "the setting prosa.path leads to no program"),
    ({**HERE, "setting": " ~/bin/prosa "}, ["/home/me/bin/prosa"], "/home/me/bin/prosa (setting)"),
    ({**HERE, "setting": "${workspaceFolder}/b/prosa"}, ["/q/b/prosa"], "/q/b/prosa (setting)"),
    ({**HERE, "setting": "${workspaceFolder}/b", "folders": []}, [], "the setting prosa.path is ${workspaceFolder}/b,"),
    ({**HERE, "setting": "b/prosa"}, ["/p/b/prosa"], "/p/b/prosa (setting)"),
    ({**HERE, "setting": "prosa-next"}, ["/opt/bin/prosa-next"], "/opt/bin/prosa-next (setting)"),
    ({**HERE, "setting": "~/$&", "home": "/a$&b"}, ["/a$&b/$&"], "/a$&b/$& (setting)"),
    (WINDOWS, ["C:\\p\\.venv\\Scripts\\prosa.exe"], "C:\\p\\.venv\\Scripts\\prosa.exe (folder)"),
    (WINDOWS, ["D:\\bin\\prosa.exe"], "D:\\bin\\prosa.exe (PATH)"),
]


def test_prosa_is_found_by_setting_folder_and_path():
    """X7: a relative entry of PATH and what lies in a folder that is not trusted are never started."""
    script = """
    const { findProsa } = require("./find.js");
    console.log(JSON.stringify(given.map(([around, there]) => {
      const found = findProsa({ ...around, isExecutable: (file) => there.includes(file) });
      return found.problem ?? `${found.command} (${found.origin})`;
    })));
    """
    found = node(script, [[around, there] for around, there, _ in FOUND])
    assert len(found) == len(FOUND)
    assert [
        (at, got) for at, (got, (_, _, said)) in enumerate(zip(found, FOUND, strict=True)) if not got.startswith(said)
    ] == []


LINKS = {
    ("See ", "[a](b.md)"): True,
    ("See ", "![a](b.png)"): True,
    ("See [a](", "b.md#c"): True,
    ("See [a](<", "b c.md"): True,
    ("See [a][", "label"): True,
    ("[label]: ", "b.md"): True,
    ("See ", "[[b]]"): False,
    ("See ", "![[b]]"): False,
    ("See [[", "b"): False,
    ("Text", "[^1]"): False,
    ("imports: [", "./b.md"): False,
    ("doc-id: ", "b"): False,
    ("{{ ", ".name"): False,
}


def test_definitions_of_ordinary_links_alone_are_left_to_the_markdown_support():
    script = """
    const { isOrdinary } = require("./links.js");
    console.log(JSON.stringify(given.map(([before, text]) => isOrdinary(before, text))));
    """
    assert dict(zip(LINKS, node(script, [*LINKS]), strict=True)) == LINKS


def test_a_program_tells_its_version_or_why_it_cannot(tmp_path: Path):
    other = tmp_path / "prosa"
    other.write_text("#!/bin/sh\necho 'it is broken' >&2\nexit 3\n")
    other.chmod(0o755)
    script = """
    const { versionOf } = require("./server.js");
    Promise.all(given.map((each) => versionOf(each).catch((error) => error.message)))
      .then((found) => console.log(JSON.stringify(found)));
    """
    real = str(Path(sys.executable).with_name("prosa"))
    version, broken, gone = node(script, [real, str(other), str(tmp_path / "none")])
    assert version == prosa.__version__
    assert broken == f"{other} --version gave no version: it is broken"
    assert gone.startswith(f"{tmp_path / 'none'} --version gave no version: spawn ")
    assert os.linesep not in gone


def test_a_server_that_ends_at_once_has_said_why(tmp_path: Path):
    """Prosa without the library of the server prints a sentence and ends."""
    server = tmp_path / "prosa"
    server.write_text("#!/bin/sh\necho 'error: a library is missing' >&2\necho '  pip install it' >&2\nexit 2\n")
    server.chmod(0o755)
    script = """
    const { ServerProcess } = require("./server.js");
    const made = new ServerProcess(given, undefined);
    made.started().then(() => made.firstWords()).then((words) => console.log(JSON.stringify(words)));
    """
    assert node(script, str(server)) == "error: a library is missing"
