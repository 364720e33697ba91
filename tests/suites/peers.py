"""Programs of other projects that judge the same things: skills-ref, obsidiantools, and the conformance of MCP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prosa import check
from prosa.app.trust import accept_agreement
from prosa.document import parse
from prosa.source import SourceText
from tests.mcp_server.folder import write
from tests.mcp_server.test_peers import conformance
from tests.suites.suite import Outcome, stated_version

SKILLS: dict[str, str] = {
    "pdf-tools": "---\nname: pdf-tools\ndescription: Reads PDF files.\n---\nBody.\n",
    "all": "---\nname: all\ndescription: d\nlicense: MIT\nallowed-tools: Bash(git:*)\nmetadata:\n  a: b\n---\n",
    "missing-name": "---\ndescription: d\n---\n",
    "missing-description": "---\nname: missing-description\n---\n",
    "empty-description": "---\nname: empty-description\ndescription: ''\n---\n",
    "Upper": "---\nname: Upper\ndescription: d\n---\n",
    "under_score": "---\nname: under_score\ndescription: d\n---\n",
    "-leading": "---\nname: -leading\ndescription: d\n---\n",
    "trailing-": "---\nname: trailing-\ndescription: d\n---\n",
    "dou--ble": "---\nname: dou--ble\ndescription: d\n---\n",
    "other-folder": "---\nname: another-name\ndescription: d\n---\n",
    "unknown-field": "---\nname: unknown-field\ndescription: d\nunknown: 1\n---\n",
    "long-description": f"---\nname: long-description\ndescription: {'d' * 1025}\n---\n",
    "longest-description": f"---\nname: longest-description\ndescription: {'d' * 1024}\n---\n",
    "long-compatibility": f"---\nname: long-compatibility\ndescription: d\ncompatibility: {'c' * 501}\n---\n",
    "a" * 64: f"---\nname: {'a' * 64}\ndescription: d\n---\n",
    "b" * 65: f"---\nname: {'b' * 65}\ndescription: d\n---\n",
    "no-front-matter": "# A skill\n",
    "not-closed": "---\nname: not-closed\ndescription: d\n",
    "no-mapping": "---\n- a\n- b\n---\n",
    "café": "---\nname: café\ndescription: d\n---\n",
    "技能": "---\nname: 技能\ndescription: d\n---\n",
    "quoted": "---\nname: 'quoted'\ndescription: \"a: b\"\n---\n",
    "block-text": "---\nname: block-text\ndescription: |\n  Two\n  lines.\n---\n",
    "with space": "---\nname: with space\ndescription: d\n---\n",
}


def skills_ref(place: Path) -> Outcome:
    """Judge skills with the validator of Agent Skills and with `prosa check --profile agentskills`."""
    sys.path.insert(0, str(place))
    try:
        validate = import_module("skills_ref").validate
        version = import_module("skills_ref").__version__
    finally:
        sys.path.remove(str(place))
    wrong = []
    with TemporaryDirectory() as folder:
        for name, text in SKILLS.items():
            (skill := Path(folder, name)).mkdir()
            (skill / "SKILL.md").write_text(text, encoding="utf-8")
            theirs = bool(validate(skill))
            ours = any(each.severity == "error" for each in check([skill], profile="agentskills"))
            if ours is not theirs:
                wrong.append(f"{name}: {'refused by skills-ref alone' if theirs else 'refused by Prosa alone'}")
    return Outcome(version, len(SKILLS), tuple(wrong))


LINKS = """
import json, sys, logging
logging.disable(logging.CRITICAL)
from pathlib import Path
from importlib.metadata import version
from obsidiantools.api import Vault
vault = Vault(Path(sys.argv[1])).connect()
found = {name: sorted(set(vault.get_wikilinks(name))) for name in vault.md_file_index}
paths = {name: str(path) for name, path in vault.md_file_index.items()}
print(json.dumps({"version": version("obsidiantools"), "links": found, "paths": paths}))
"""


def obsidiantools(place: Path) -> Outcome:
    """Read the wikilinks of its test vault with both."""
    vault = place / "tests" / "vault-stub"
    environ = {**os.environ, "PYTHONPATH": str(place / "site")}
    done = subprocess.run(
        [sys.executable, "-c", LINKS, str(vault)], env=environ, capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout)
    wrong, total = [], 0
    for name, path in theirs["paths"].items():
        total += 1
        ours = _wikilinks(vault / path)
        if ours != theirs["links"][name]:
            wrong.append(f"{name}: {sorted(set(ours) ^ set(theirs['links'][name]))}")
    return Outcome(f"{theirs['version']} ({stated_version(place)})", total, tuple(wrong))


def _wikilinks(file: Path) -> list[str]:
    """Return the targets of a file, without headings, as obsidiantools names them."""
    document = parse(SourceText(file.read_text(encoding="utf-8")))
    return sorted(
        {each.target.partition("#")[0].removesuffix(".md") for each in document.wikilinks if not each.embed} - {""}
    )


def mcp(place: Path) -> Outcome:
    """Have the official suite ask a server of Prosa: what its own tests ask too, with the same list of what does not
    apply."""
    file = place / "node_modules" / "@modelcontextprotocol" / "conformance" / "package.json"
    package: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    with TemporaryDirectory() as home:
        accept_agreement({"HOME": home}, 0)
        (folder := Path(home, "docs")).mkdir()
        said = conformance(write(folder), place / "node_modules" / ".bin" / "conformance").stdout
    scenarios = re.findall(r"^([✓✗]) ([\w-]+)", said, re.MULTILINE)
    return Outcome(package["version"], len(scenarios), tuple(name for mark, name in scenarios if mark == "✗"))
