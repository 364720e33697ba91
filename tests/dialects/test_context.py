"""Context files: how they are recognised, the table of hosts, and how they are read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.context.hosts import HOSTS, fields_at, unread_at, uses_of
from prosa.dialects.context.places import is_context
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.dialects.table import CONTEXT, dialect_of_path
from prosa.rules.engine import check_text
from prosa.source import SourceText
from tests.depth import examples

CONTEXT_PATHS = (
    *("AGENTS.md", "sub/AGENTS.md", "/a/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "AGENTS.override.md", ".mcp.json"),
    *(".claude/agents/a.md", "/p/.claude/agents/team/a.md", ".claude/commands/x/y.md", ".claude/rules/a.md"),
    *(".cursor/rules/a.mdc", ".cursor/rules/a.md", ".github/copilot-instructions.md", ".github/agents/a.md"),
    *(".github/instructions/x/a.instructions.md", "agents/a.agent.md", "prompts/a.prompt.md", ".gemini/agents/a.md"),
    *(".gemini/commands/a.md", ".claude/skills/a.md", ".claude-plugin/plugin.json", ".vscode/mcp.json"),
    *(".claude\\agents\\a.md", ".claude/settings.json"),
)
OTHER_PATHS = (
    *("README.md", "agents.md", "claude.md", "docs/rules/a.md", "a.mdc", "docs/a.mdc", ".claude/skills/a/SKILL.md"),
    *(".claude/skills/a/notes.md", "settings.json", "package.json", "plugin.json", "x.claude/agents/a.md", "agent.md"),
    *(".claude/agents/a.txt", ".github/workflows/a.md", ".github/README.md", "mcp.json"),
)


@pytest.mark.parametrize("path", CONTEXT_PATHS)
def test_x3_names_and_places_of_hosts_decide_before_the_rest_of_the_name(path: str):
    """X3. They come before the extension and the shape; a program beside the folders of hosts stays one."""
    assert is_context(path) and dialect_of_path(path) == "context"
    if path.endswith((".md", ".mdc")):
        text = "---\nname: a\ninput: {}\noutput: {}\n---\n\n### @user:\n\nHi\n"
        assert open_document(SourceText(text, path)).name == "context"
        assert open_document(SourceText(text, path), Hints("plain")).name == "plain"
        assert open_document(SourceText(text, path), Hints(glob="mdh")).name == "mdh"
        assert open_document(SourceText(text, path), Hints(forced="markdownlang")).name == "markdownlang"


@pytest.mark.parametrize("path", OTHER_PATHS)
def test_x3_other_files_are_no_context_files(path: str):
    """X3. `.mdc` elsewhere is plain Markdown, and a skill stays a skill."""
    assert not is_context(path)


def test_x3_every_place_of_the_table_is_recognised():
    """X3, X38. The pattern of `places.py` and the table of `hosts.py` say the same."""
    for host in HOSTS:
        for row in (*host.places, *host.unread):
            for glob in row.globs.split("|"):
                path = glob.replace("**/", "a/").replace("*", "b")
                if not path.endswith("SKILL.md"):
                    assert is_context(path), path
                    assert is_context(f"/somewhere/{path}"), path
                assert row.matches(path) and row.matches(f"/x/{path}") and not row.matches(f"{path}x")


def test_x38_every_row_has_a_source():
    """X38. What has no source is not in the table, and is not judged."""
    for host in HOSTS:
        assert host.versions and host.name.islower()
        sources = [row.source for row in (*host.places, *host.unread)]
        sources += [source for on, source in _limits(host) if on]
        assert sources and all(each.startswith("https://") for each in sources), host.name


def _limits(host):
    yield host.imports, host.imports_source
    yield host.limit, host.limit_source
    yield host.tools, host.tools_source
    yield host.budget.characters or host.budget.most, host.budget.source


def test_x38_a_file_that_one_host_reads_is_not_unread():
    """X38. Several hosts read one file, each as its own kind."""
    assert [each.host.name for each in uses_of("AGENTS.md")] == ["claude", "codex", "copilot", "cursor"]
    assert [each.host.name for each in uses_of("a/.claude/rules/x/b.md")] == ["claude", "copilot"]
    assert uses_of(".cursor/rules/a.md") == () and [each.name for each, _ in unread_at(".cursor/rules/a.md")] == [
        "cursor"
    ]
    assert unread_at(".github/prompts/a.prompt.md") == ()
    assert {each.name for each in fields_at("prompts/a.prompt.md")} >= {"agent", "tools"}


def test_x38_fields_are_those_of_the_host():
    """X38. A misspelt field is a warning, another one information, and an error where the host refuses the file."""
    agent = "---\nname: a\ndescription: b\ncolour: red\nauthor: me\nmemory: team\nmaxTurns: many\n---\n\nText\n"
    found = [
        (each.rule, each.severity.value) for each in check_text(SourceText(agent, ".claude/agents/a.md")).diagnostics
    ]
    assert found == [
        ("unknown-field", "warning"),
        ("unknown-field", "info"),
        ("unknown-value", "warning"),
        ("wrong-type", "warning"),
    ]
    strict = "---\nname: a\ndescription: b\nauthor: me\n---\n\nText\n"
    found = [
        (each.rule, each.severity.value) for each in check_text(SourceText(strict, ".gemini/agents/a.md")).diagnostics
    ]
    assert found == [("unknown-field", "error")]
    rule = check_text(SourceText("---\nglobs: '*.py'\n---\n\nText\n", ".claude/rules/a.md")).diagnostics
    assert [each.notes for each in rule] == [("did you mean `paths`?",)]
    assert check_text(SourceText("No front matter.\n", ".claude/agents/README.md")).diagnostics == ()


def test_x38_settings_of_claude_code_are_judged_by_their_table():
    """X38. Permissions and hooks are closed tables; a rule begins with a tool, and there are more settings."""
    permissions = {"alow": [], "allow": ["Raed(./x)", "Bash(git *)", "mcp__x__y", "*"], "defaultMode": "accept"}
    hooks: dict[str, object] = {"PreToolUs": [], "Stop": {}, "Later": []}
    text = json.dumps({"permissions": permissions, "hooks": hooks, "env": {"A": "b"}, "plansDirectory": "x"})
    found = [
        (each.severity.value, each.rule, each.span.of(text))
        for each in check_text(SourceText(text, ".claude/settings.json")).diagnostics
    ]
    assert found == [
        ("warning", "unknown-field", '"alow"'),
        ("warning", "unknown-host-tool", '"Raed(./x)"'),
        ("warning", "unknown-value", '"accept"'),
        ("warning", "unknown-field", '"PreToolUs"'),
        ("warning", "wrong-type", "{}"),
        ("info", "unknown-field", '"Later"'),
    ]


def test_x38_a_field_of_another_kind_of_file_names_the_one_that_means_the_same():
    """X38. `disallowedTools` looks more alike, and means the opposite. A file that begins with `_` is a template."""
    text = "---\nname: a\ndescription: b\nallowedTools: [Read]\n---\n\nText\n"
    [found] = check_text(SourceText(text, ".claude/agents/a.md")).diagnostics
    assert (found.severity.value, found.notes) == ("warning", ("did you mean `tools`?",))
    [found] = check_text(SourceText(text, ".claude/agents/_template.md")).diagnostics
    assert found.severity.value == "info"


def test_x38_tools_in_a_field_that_is_none_are_not_judged():
    """X38. The field is wrong, and says so; what is in it is read by no host."""
    found = check_text(SourceText("---\ntools: [read, write]\n---\n\nText\n", ".claude/commands/a.md")).diagnostics
    assert [each.rule for each in found] == ["unknown-field"]


def test_x38_the_text_of_a_file_names_what_it_imports_and_runs():
    """X38. Code is no import; a command in a comment is none."""
    text = (
        "See @docs/a.md, @b.md. `@c.md` @scope/pkg @app.route a@b.md\n\n"
        "```bash\nnpm run dev # npm run no\nmake one two && just three\ncargo test -p four\n```\n\n`src/x.py:3`\n"
    )
    reading = open_document(SourceText(text, "CLAUDE.md"))
    model = reading.model_of(CONTEXT)
    assert model is not None
    assert [(each.target, each.clear) for each in model.imports] == [
        ("docs/a.md", True),
        ("b.md", True),
        ("app.route", False),
    ]
    assert [(each.tool, each.name) for each in model.commands] == [
        *(("npm", "dev"), ("make", "one"), ("make", "two"), ("just", "three"), ("cargo-package", "four")),
    ]
    assert [(each.text, each.span.of(text)) for each in model.mentioned] == [("src/x.py", "src/x.py")]
    assert [(each.target, each.kind) for each in reading.references()] == [("docs/a.md", "path"), ("b.md", "path")]


PIECES = st.lists(
    st.sampled_from(
        [
            "@",
            "@a.md",
            "`",
            "```bash\n",
            "make ",
            "npm run x",
            "{",
            "}",
            ",",
            "(",
            "\n",
            "---\n",
            "tools: ",
            "a/b",
            "é",
            "*",
            '"',
            "[",
        ]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from(CONTEXT_PATHS),
    st.one_of(PIECES, st.text(max_size=200), PIECES.map(lambda x: f"---\n{x}\n---\n{x}")),
)
def test_x38_no_text_breaks_the_reader(path: str, text: str):
    """X38. Anything may be in such a file: findings, no crash."""
    found = check_text(SourceText(text, path)).diagnostics
    assert all(each.rule != "internal-error" for each in found)
    assert all(0 <= each.span.start <= each.span.end <= len(text) for each in found)
