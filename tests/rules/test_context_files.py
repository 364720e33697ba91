"""Context files in a project: faults that were planted, hostile files, and what a host reads there (X38)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prosa
from prosa.app.check.host_view import host_view, host_views
from prosa.cli.main import main
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects.context.hosts import HOSTS
from prosa.rules.context.reach import expanded
from tests.depth import DEEP, examples
from tests.work import is_linear


def agent(**fields: str) -> str:
    front = {"name": "one", "description": "Does one thing"} | fields
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in front.items()) + "---\n\nDo it.\n"


SKILL = "---\nname: deploy\ndescription: Deploys the site when a release is ready\n---\n\nDeploy it.\n"

SOUND: Mapping[str, str] = {
    "package.json": '{"scripts": {"build": "tsc", "test": "vitest"}}',
    "Makefile": "lint:\n\truff check\n\ndocs:\n\tmkdocs\n",
    "justfile": "bench:\n    hyperfine\n",
    "Cargo.toml": '[package]\nname = "engine"\nversion = "0.1.0"\n',
    "pyproject.toml": '[project]\nname = "app"\n\n[project.scripts]\nserve = "app.main:main"\n',
    "app/__init__.py": "",
    "app/main.py": "def main(): ...\n",
    "src/web/page.tsx": "page();\n",
    "docs/style.md": "# Style\n\nUse tabs.\n",
    ".claude/skills/deploy/SKILL.md": SKILL,
    ".github/agents/implementer.agent.md": "---\ndescription: Carries a plan out\n---\n\nDo it.\n",
    "CLAUDE.md": "@AGENTS.md\n",
    "AGENTS.md": "Run `npm run test`, `make lint`, `just bench` and `uv run serve`. See `src/web/page.tsx`.\n",
}
"""A project in which nothing is wrong."""

PLANTED: tuple[tuple[str, str, str], ...] = (
    # never read
    (".cursor/rules/style.md", "Use tabs.\n", "file-no-host-reads"),
    (".github/instructions/python.md", "Use type hints.\n", "file-no-host-reads"),
    (".github/prompts/review.md", "Review.\n", "file-no-host-reads"),
    (".gemini/commands/plan.md", "Plan.\n", "file-no-host-reads"),
    (".claude/skills/release.md", "Release.\n", "file-no-host-reads"),
    (".claude/rules/old.mdc", "Old.\n", "file-no-host-reads"),
    (".cursor/rules/api.mdc", "---\nglobs: services/**/*.go\n---\n\nValidate.\n", "glob-without-match"),
    (".github/instructions/vue.instructions.md", "---\napplyTo: '**/*.vue'\n---\n\nX.\n", "glob-without-match"),
    (".claude/rules/php.md", "---\npaths: ['lib/**/*.php']\n---\n\nX.\n", "glob-without-match"),
    ("web/AGENTS.override.md", "Fast.\n", ""),
    ("web/AGENTS.md", "Slow.\n", "shadowed-context-file"),
    (".claude/commands/deploy.md", "---\ndescription: Deploys\n---\n\nDeploy.\n", "shadowed-context-file"),
    ("api/AGENTS.md", "Follow @rules.md in all code.\n", "unexpanded-import"),
    ("api/rules.md", "# Rules\n", ""),
    ("sub/CLAUDE.md", "@docs/gone.md\n", "missing-import"),
    ("loop/CLAUDE.md", "@a.md\n", "circular-import"),
    ("loop/a.md", "@CLAUDE.md\n", ""),
    ("out/CLAUDE.md", "@~/.claude/mine.md\n", "import-of-outside-file"),
    # wrong
    (".claude/agents/tool.md", agent(name="tool", tools="Read, Grap"), "unknown-host-tool"),
    (".claude/agents/model.md", agent(name="model", model="sonet"), "unknown-host-model"),
    (".claude/agents/field.md", agent(name="field", colour="red"), "unknown-field"),
    (".claude/agents/value.md", agent(name="value", memory="team"), "unknown-value"),
    (".claude/agents/type.md", agent(name="type", maxTurns="many"), "wrong-type"),
    (".claude/agents/colon.md", agent(name="team:one"), "wrong-form"),
    (".claude/agents/parse.md", "---\nname: parse\ndescription: Use it when: now\n---\n\nX.\n", "yaml-syntax"),
    (".claude/agents/allowed.md", agent(name="allowed", allowedTools="Read"), "unknown-field"),
    (".claude/agents/nameless.md", "---\ndescription: Does it\n---\n\nX.\n", "missing-field"),
    (".claude/agents/skills.md", agent(name="skilled", skills="[deplyo]"), "unknown-skill"),
    (".claude/agents/twin.md", agent(name="tool"), "duplicate-agent-name"),
    (".gemini/agents/strict.md", agent(author="me"), "unknown-field"),
    (".gemini/agents/tools.md", agent(name="two", tools="[read_fiel]"), "unknown-host-tool"),
    (".github/agents/target.agent.md", "---\ndescription: X\ntarget: vscod\n---\n\nX.\n", "unknown-value"),
    (".github/prompts/go.prompt.md", "---\ndescription: X\nagent: implementor\n---\n\nX.\n", "unknown-agent"),
    (".cursor/rules/always.mdc", "---\nalwaysApply: 'yes'\n---\n\nX.\n", "wrong-type"),
    (".claude/rules/twin.md", "---\nglobs: src/**\n---\n\nX.\n", "unknown-field"),
    (".mcp.json", '{"mcpServers": {"a": {"url": "https://example.org"}}}', "server-without-type"),
    (".claude/settings.json", '{"permissions": {"alow": ["Read"]}}', "unknown-field"),
    (".cursor/mcp.json", '{"mcpServers": {"a": {"args": []}}}', "unstartable-server"),
    (".vscode/mcp.json", '{"mcpServers": {"a": {"command": "a"}}}', "unstartable-server"),
    (".claude-plugin/plugin.json", '{"name": "x", "commands": "./nowhere/"}', "missing-plugin-path"),
    (".claude-plugin/marketplace.json", '{"name": "x", "owner": {"name": "y"}, "plugins": [', "json-syntax"),
    # current
    (".claude/rules/npm.md", "Run `npm run tset`.\n", "missing-script"),
    (".claude/rules/make.md", "Run `make lnit`.\n", "missing-target"),
    (".claude/rules/just.md", "Run `just bnech`.\n", "missing-recipe"),
    (".claude/rules/cargo.md", "Run `cargo run --bin egnine`.\n", "missing-entry-point"),
    (".claude/rules/python.md", "Run `python -m app.mian`.\n", "missing-entry-point"),
    (".claude/rules/uv.md", "Run `uv run srve`.\n", "missing-entry-point"),
    (".claude/rules/path.md", "See `src/pages/page.tsx`.\n", "missing-path"),
    (".claude/rules/anchor.md", "See [tabs](../../docs/style.md#spaces).\n", "unresolved-anchor"),
    (".claude/rules/one.md", "- Keep lines below 100 characters.\n", ""),
    (".claude/rules/two.md", "- Keep lines below 80 characters.\n", "differing-numbers"),
)
"""Files with one fault each, and the rule that finds it; the file beside a fault has none."""


def laid(folder: Path, files: Mapping[str, str]) -> Path:
    (folder / ".git").mkdir(parents=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def found(folder: Path) -> set[tuple[str, str]]:
    diagnostics = prosa.check(folder)
    assert all(each.rule != "internal-error" for each in diagnostics)
    return {(Path(each.path).relative_to(folder).as_posix(), each.rule) for each in diagnostics}


def test_x38_every_planted_fault_is_found(tmp_path: Path):
    """X38. The recall on a folder of our own, which the documentation states."""
    planted = [(path, rule) for path, _, rule in PLANTED if rule]
    assert len(planted) >= 26
    here = found(laid(tmp_path / "p", SOUND | {path: text for path, text, _ in PLANTED}))
    assert [each for each in planted if each not in here] == []


def test_x38_a_sound_project_has_no_finding(tmp_path: Path):
    """X38. Imports, scripts, targets, recipes, entry points and paths that exist."""
    assert found(laid(tmp_path / "p", SOUND)) == set()


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": '{"scripts": '},
        {"package.json": "[1]"},
        {"Makefile": "include other.mk\nlint:\n\ttrue\n"},
        {"Makefile": "include Makefile\n-include $(shell touch /tmp/never)\n"},
        {"Makefile": "$(TARGETS):\n\ttrue\n"},
        {"justfile": "mod web\n"},
        {"Cargo.toml": "[package\n"},
        {"pyproject.toml": "= 1\n"},
    ],
)
def test_x38_what_is_not_known_is_not_judged(tmp_path: Path, files: dict[str, str]):
    """X38. Files of definitions that cannot be read say nothing, and nothing is run to find out."""
    text = "Run `npm run gone`, `make gone`, `just gone`, `cargo run --bin gone`, `uv run gone`.\n"
    assert found(laid(tmp_path / "p", {"AGENTS.md": text} | files)) == set()


def test_x5_imports_of_devices_and_outside_files_are_not_opened(tmp_path: Path):
    """X5. An import is followed inside the root alone, and only into regular files."""
    (tmp_path / "secret.md").write_text("secret\n")
    folder = laid(tmp_path / "p", {"CLAUDE.md": "@../secret.md @/dev/zero.md @fifo.md @link.md\n"})
    (folder / "link.md").symlink_to("/dev/zero")
    here = found(folder)
    assert ("CLAUDE.md", "import-of-outside-file") in here
    assert "secret" not in "".join(each.text for each in host_view("claude", folder).files[1:])


def test_x38_cycles_end_and_large_files_are_read(tmp_path: Path):
    """X38. Five hosts at once, a large file (5 MB in `make test-deep`), imports that lead everywhere."""
    lines = 200_000 if DEEP else 40_000
    names = [f"m{at}.md" for at in range(40)]
    text = " ".join(f"@{name}" for name in names)
    files = dict.fromkeys(names, text) | {
        "CLAUDE.md": text,
        "GEMINI.md": text,
        "AGENTS.md": "x `a/b.c` 5 words in here\n" * lines,
    }
    folder = laid(tmp_path / "p", files | {".github/copilot-instructions.md": text, ".cursor/rules/a.mdc": text})
    assert len((folder / "AGENTS.md").read_bytes()) > 25 * lines
    here = found(folder)
    assert ("CLAUDE.md", "circular-import") not in here
    assert [each.host.name for each in host_views(folder)] == [each.name for each in HOSTS]
    codex = host_view("codex", folder)
    assert codex.files[0].cut and len(codex.files[0].text) == 32 * 1024


def test_x38_globs_that_explode_are_bounded():
    """X38. Braces multiply: beyond a limit a glob is not judged, and none takes more than linear time."""
    assert expanded("src/*.{ts,tsx}") == ["src/*.ts", "src/*.tsx"]
    assert expanded("{a,b}/{c,d}") == ["a/c", "b/c", "a/d", "b/d"]
    assert expanded("{a,b}" * 40) == []
    assert expanded("{a") == [] and expanded("{a,{b,c}}") == []
    assert is_linear(lambda size: expanded("{a,b}" * size), 1_000, 10_000)


EXPLODING = ("**/" * 300 + "*.ts", "**/**" * 300, "{a,b}" * 40 + ".ts", "*a" * 200, "{a,{b,{c", "[" * 500, "/" * 500)


def test_x38_globs_that_explode_end_in_a_project(tmp_path: Path):
    """X38. Each in the rule of its host, beside files with long names: no crash, and what is not judged is silent."""
    deep = "/".join(["a"] * 30)
    files = {f"{deep}/{'a' * 100}{at}.md": "x\n" for at in range(100)}
    rules = {f".cursor/rules/r{at}.mdc": f"---\nglobs: '{glob}'\n---\n\nX.\n" for at, glob in enumerate(EXPLODING)}
    here = found(laid(tmp_path / "p", files | rules))
    assert {rule for _, rule in here} <= {"glob-without-match"}


def test_x38_nothing_is_run_to_find_out_what_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X38. Scripts, targets, recipes, entry points, servers and hooks: git alone is asked, and only what moved."""
    started: list[str] = []
    popen = subprocess.Popen

    def spied(command: list[str], *rest: object, **options: object) -> object:
        started.append(command[0])
        return popen(command, *rest, **options)

    monkeypatch.setattr(subprocess, "Popen", spied)
    found(laid(tmp_path / "p", SOUND | {path: text for path, text, _ in PLANTED}))
    assert set(started) <= {"git"}


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=80), min_size=8, max_size=8), st.integers(0, 10**6))
def test_x38_hostile_projects_give_findings_and_no_crash(tmp_path: Path, texts: list[str], number: int):
    """X38. Whatever its files hold."""
    names = (
        "package.json",
        "Makefile",
        "justfile",
        "Cargo.toml",
        ".mcp.json",
        "CLAUDE.md",
        ".cursor/rules/a.mdc",
        "a.md",
    )
    body = "---\nglobs: {}\n---\n`npm run a` `make b` `just c` @a.md {}\n"
    files = {name: text.encode("utf-8", "replace").decode() for name, text in zip(names, texts, strict=True)}
    files["CLAUDE.md"] = body.format(files["CLAUDE.md"], number)
    files[".cursor/rules/a.mdc"] = body.format(files[".cursor/rules/a.mdc"], number + 1)
    folder = tmp_path / str(abs(hash((*texts, number))))
    found(folder if folder.exists() else laid(folder, files))


def test_x38_show_prints_what_a_host_reads_in_its_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
):
    """X38. From the root inwards, with imports expanded, tokens, and what is offered for a choice."""
    files = {
        "CLAUDE.md": "First.\n\n@docs/style.md\n",
        "docs/style.md": "Style.\n",
        "web/CLAUDE.md": "Second.\n",
        ".claude/rules/all.md": "Always.\n",
        ".claude/rules/py.md": "---\npaths: '**/*.py'\n---\n\nPython.\n",
        ".claude/rules/ts.md": "---\npaths: 'web/**/*.ts'\n---\n\nTypes.\n",
        ".claude/skills/deploy/SKILL.md": SKILL,
        "AGENTS.md": "Codex.\n",
        "web/main.ts": "main();\n",
    }
    folder = laid(tmp_path / "p", files)
    monkeypatch.chdir(folder)
    view = host_view("claude", folder / "web" / "main.ts")
    assert [(each.path, each.loaded) for each in view.files] == [
        ("CLAUDE.md", "start"),
        ("docs/style.md", "start"),
        ("web/CLAUDE.md", "start"),
        (".claude/rules/all.md", "start"),
        (".claude/rules/ts.md", "start"),
        (".claude/rules/py.md", "match"),
        (".claude/skills/deploy/SKILL.md", "choice"),
    ]
    assert view.files[1].imported_by == "CLAUDE.md" and view.tokens == sum(
        each.tokens for each in view.files if each.loaded != "match"
    )
    assert main(["show", "--host", "codex", "web", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["host"] == "codex" and [each["text"] for each in shown["files"]] == ["Codex."]
    assert main(["show", "--host", "claude", "."]) == 0
    assert "--- CLAUDE.md (instructions, about" in capsys.readouterr().out
    assert main(["check", "--context-tokens"]) == 0
    assert "Claude Code" in capsys.readouterr().out
    assert main(["check", "--context-tokens", "--format", "json"]) == 0
    assert {each["host"] for each in json.loads(capsys.readouterr().out)} == {"claude", "codex", "copilot", "cursor"}
    with pytest.raises(UnknownName, match="claud"):
        host_view("claud", folder)


def test_x38_json_files_of_hosts_are_read_by_check_alone(tmp_path: Path):
    """X38, X3. In the root and in the folders of plugins; others take none for a document."""
    files = {
        ".mcp.json": "{",
        "plugins/a/.claude-plugin/plugin.json": "{}",
        "plugins/a/README.md": "x\n",
        "data.json": "{",
    }
    here = found(laid(tmp_path / "p", files))
    assert here == {(".mcp.json", "json-syntax"), ("plugins/a/.claude-plugin/plugin.json", "missing-field")}


def test_x38_the_graph_has_imports_and_skills(tmp_path: Path):
    """X38. What a file imports and the skills that an agent names are edges."""
    files = {
        "CLAUDE.md": "@docs/style.md\n",
        "docs/style.md": "# Style\n",
        ".claude/agents/a.md": agent(skills="[deploy]"),
    }
    folder = laid(tmp_path / "p", files | {".claude/skills/deploy/SKILL.md": SKILL})
    with prosa.Corpus(folder, environ={"PROSA_CACHE_DIR": str(tmp_path / "cache")}) as corpus:
        edges = {(each.source, each.target) for each in corpus.graph().edges}
    assert edges == {("CLAUDE.md", "docs/style.md"), (".claude/agents/a.md", ".claude/skills/deploy/SKILL.md")}


def test_x38_an_agent_of_another_dialect_is_known_by_its_file(tmp_path: Path):
    """X38. A project may say that agents are written in another dialect; the first letter of such a name is none."""
    texts = {
        "prosa.toml": '[dialects]\n".claude/agents/*.md" = "mda"\n',
        ".claude/agents/plan.md": "---\nname: implementer\ndescription: Plans\n---\n\nPlan.\n",
        ".github/prompts/go.prompt.md": "---\ndescription: X\nagent: i\n---\n\nX.\n",
    }
    assert (".github/prompts/go.prompt.md", "unknown-agent") in found(laid(tmp_path / "p", texts))
