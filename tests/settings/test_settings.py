"""Settings: what is read, what is refused, where the complaints point (X7, X9, X16)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.diagnostics import Severity
from prosa.settings import (
    SETTINGS,
    GlobSettings,
    Price,
    Settings,
    merge,
)
from prosa.settings.read import KINDS, MIB, read_project_settings, read_user_settings
from prosa.source.wildmatch import glob_matches, is_glob
from tests.depth import examples
from tests.work import is_quick

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "settings.md"

USER = """\
base_url = "https://models.example.org/v1"
api = "responses"
default-model = "small"

[endpoints."https://models.example.org/v1/"]
api_key_env = "EXAMPLE_KEY"

[limits]
iterations = 80
wall-clock = 1.5
retries = 0
python-memory = 1024

[prices."small-model"]
input = 0.25
output = 1
"""

PROJECT = """\
model = "small"
strict = true
select = ["unknown-doc-id"]

[dialects]
"site/**/*_x.md" = "mdh"
"chats/*" = "prapti"

[per-glob."drafts_1/**"]
strict = false
ignore = ["missing-description"]
"""


def test_x7_x9_a_user_sets_endpoint_limits_beyond_ceilings_and_prices():
    found, problems = read_user_settings(USER)
    assert problems == ()
    assert found == Settings(
        base_url="https://models.example.org/v1",
        api="responses",
        default_model="small",
        key_variables={"https://models.example.org/v1": "EXAMPLE_KEY"},
        iterations=80,
        wall_clock=1.5,
        retries=0,
        python_memory=1024 * MIB,
        prices={"small-model": Price(Decimal("0.25"), Decimal(1))},
    )


def test_a_project_sets_model_name_dialects_and_rules():
    found, problems = read_project_settings(PROJECT)
    assert problems == ()
    assert found == Settings(
        model="small",
        strict=True,
        select=("unknown-doc-id",),
        dialects=(("site/**/*_x.md", "mdh"), ("chats/*", "prapti")),
        per_glob=(GlobSettings("drafts_1/**", strict=False, ignore=("missing-description",)),),
    )


def test_in_pyproject_only_tool_prosa_counts():
    text = '[project]\nname = "x"\n[tool.other]\nmodel = 3\n[tool.prosa]\nmodel = "m"\nmodle = 1\n'
    found, problems = read_project_settings(text, "pyproject.toml")
    assert found.model == "m"
    assert [(each.message, each.span.of(text)) for each in problems] == [("there is no setting `modle`", "modle")]
    assert read_project_settings('[project]\nname = "x"\n', "pyproject.toml") == (Settings(), ())


def test_merge_takes_each_setting_from_the_one_who_may_set_it():
    user, _ = read_user_settings(USER)
    project, _ = read_project_settings(PROJECT)
    both = merge(user, project)
    assert (both.base_url, both.iterations, both.model, both.strict) == (user.base_url, 80, "small", True)
    assert both.model_name == "small"
    assert merge(user, Settings()).model_name == user.default_model


@pytest.mark.parametrize(
    ("text", "key", "way"),
    [
        ('base_url = "https://evil.example/v1"', "base_url", "prosa run --base-url"),
        ('base-url = "https://evil.example/v1"', "base-url", "prosa run --base-url"),
        ('api_key = "x"', "api_key", "OPENAI_API_KEY"),
        ('[endpoints."https://evil.example"]\napi-key-env = "AWS_SECRET"', "api-key-env", "own settings"),
        ('plugins = ["x"]', "plugins", "prosa trust"),
        ("[tools.python]\ntimeout = 3", "timeout", "prosa trust"),
        ('[mcp_servers.x]\ncommand = "sh"', "command", "prosa trust"),
        ("[mcp]", "mcp", "prosa trust"),
        ('[permissions]\nfiles = "all"', "files", "prosa trust"),
        ('[per-glob."x/**"]\nbase_url = "y"', "base_url", "prosa run --base-url"),
        ('per-glob = {"x/**" = {tools = ["sh"]}}', "per-glob", "prosa trust"),
        ("[limits]\niterations = 9000", "iterations", "own settings"),
    ],
)
def test_x7_a_project_that_chooses_an_endpoint_or_a_tool_is_refused_with_the_way_on(text: str, key: str, way: str):
    found, problems = read_project_settings(text)
    assert found == Settings()
    assert [(each.rule, each.severity, each.span.of(text)) for each in problems] == [
        ("refused-setting", Severity.ERROR, key)
    ]
    assert way in problems[0].notes[0]


@pytest.mark.parametrize(
    ("text", "rule", "message", "note", "place"),
    [
        (
            "default-modle = 'x'",
            "unknown-setting",
            "there is no setting `default-modle`",
            "did you mean `default-model`?",
            "default-modle",
        ),
        (
            "[limits]\niteration = 3",
            "unknown-setting",
            "there is no setting `limits.iteration`",
            "did you mean `limits.iterations`?",
            "iteration",
        ),
        ("[limits.x.y.z]\nq = 3", "unknown-setting", "there is no setting `limits.x.y.z`", "", "limits.x.y.z"),
        (
            "strict = true",
            "misplaced-setting",
            "`strict` has no effect here",
            "it is a setting of a project: move it to prosa.toml",
            "strict",
        ),
        ("limits = 3", "bad-setting", "`limits` is a table", "write [limits] and its settings below it", "limits"),
        ("[base-url.x]\ny = 1", "unknown-setting", "there is no setting `base-url.x.y`", "", "y"),
        (
            "[base-url]",
            "bad-setting",
            "`base-url` must be a URL that starts with http:// or https://, not a table",
            "",
            "base-url",
        ),
        (
            "base-url = 'ftp://x'",
            "bad-setting",
            "`base-url` must be a URL that starts with http:// or https://, not 'ftp://x'",
            "",
            "base-url",
        ),
        ("api = 'chatt'", "bad-setting", '`api` must be "chat" or "responses", not \'chatt\'', "", "api"),
        (
            "[limits]\nretries = -1",
            "bad-setting",
            "`limits.retries` must be a whole number from 0, not -1",
            "",
            "retries",
        ),
        (
            "[limits]\nretries = true",
            "bad-setting",
            "`limits.retries` must be a whole number from 0, not true",
            "",
            "retries",
        ),
        (
            "[limits]\nretries = 1979-05-27",
            "bad-setting",
            "`limits.retries` must be a whole number from 0, not 1979-05-27",
            "",
            "retries",
        ),
        (
            "[limits]\nwall-clock = nan",
            "bad-setting",
            "`limits.wall-clock` must be a number of seconds above 0, not nan",
            "",
            "wall-clock",
        ),
        (
            "[limits]\nwall-clock = 0",
            "bad-setting",
            "`limits.wall-clock` must be a number of seconds above 0, not 0",
            "",
            "wall-clock",
        ),
        (
            "endpoints.x.api-key-env = 'sk-123'",
            "bad-setting",
            "`endpoints.x.api-key-env` must be the name of an environment variable",
            "",
            "endpoints.x.api-key-env",
        ),
        ("[prices.m]\ninput = 1", "bad-setting", "the price of `m` needs both `input` and `output`", "", "prices.m"),
        ("a = ", "bad-settings-file", "the settings are not valid TOML: Invalid value", "", ""),
        ("x = 1\nx = 2", "bad-settings-file", "the settings are not valid TOML: Cannot overwrite a value", "", ""),
        ("#" * 70_000, "bad-settings-file", "the settings are longer than 65,536 characters", "", ""),
    ],
)
def test_a_mistake_is_named_at_its_key(text: str, rule: str, message: str, note: str, place: str):
    found, problems = read_user_settings(text)
    assert found == Settings()
    assert [(each.rule, each.message, each.span.of(text)) for each in problems] == [(rule, message, place)]
    assert "".join(problems[0].notes).startswith(note)


@pytest.mark.parametrize(
    ("text", "message", "note"),
    [
        ("[relations]\n'' = 'x'", "a name in `relations` is empty", "write a field of front matter"),
        ("[relations]\n' ' = 'x'", "a name in `relations` is empty", "write a field of front matter"),
        ("[schemas]\n'' = 'a.json'", "a name in `schemas` is empty", "write a glob"),
        ("[per-glob.'']\nstrict = true", "a name in `per-glob` is empty", "write a glob"),
        ("[schemas]\n'docs/[' = 'a.json'", "`docs/[` in `schemas` is a glob that matches nothing", "a `[` needs"),
        ("[dialects]\n'docs/[a' = 'magi'", "`docs/[a` in `dialects` is a glob that matches nothing", "a `[` needs"),
        ("[dialects]\n'a*\\' = 'magi'", "`a*\\` in `dialects` is a glob that matches nothing", "a `[` needs"),
        ("[per-glob.'[']\nstrict = true", "`[` in `per-glob` is a glob that matches nothing", "a `[` needs"),
        (f"[dialects]\n'{'a' * 1025}' = 'magi'", f"`{'a' * 63}…` in `dialects` is a glob", "it is longer than"),
        ("model = ''", "`model` must be a text, and it is empty", ""),
        ("[relations]\nup = ''", "`relations.up` must be a text, and it is empty", ""),
        ("select = ['a', '']", "`select` must be a list of texts, and one of them is empty", ""),
        ('model = "a\\nb"', "`model` must be a text, and it has a line break or a control character: 'a\\nb'", ""),
    ],
)
def test_x7_names_that_are_nothing_and_globs_that_match_nothing_are_refused(text: str, message: str, note: str):
    """X7. A setting that cannot have an effect is a mistake."""
    found, problems = read_project_settings(text)
    assert found == Settings()
    assert [each.rule for each in problems] == ["bad-setting"]
    assert problems[0].message.startswith(message)
    assert "".join(problems[0].notes).startswith(note)


@given(st.text(alphabet="ab/*?[]!^-\\:.", max_size=8), st.from_regex(r"[ab]{1,3}(/[ab]{1,3}){0,2}", fullmatch=True))
def test_x7_no_glob_that_matches_something_is_refused(glob: str, path: str):
    """X7."""
    assert is_glob(glob) or not glob_matches(glob, path)


def test_what_is_right_beside_a_mistake_is_kept():
    found, problems = read_user_settings('api = "chat"\ndefault-model = 3\n')
    assert (found.api, found.default_model, len(problems)) == ("chat", None, 1)


def test_the_place_of_bad_toml_is_its_line():
    text = 'model = "m"\r\n\r\nstrict = maybe\r\n'
    _, problems = read_project_settings(text)
    assert text[: problems[0].span.start].count("\n") == 2


def test_a_byte_order_mark_and_line_ends_change_nothing():
    assert read_project_settings("\ufeff" + PROJECT.replace("\n", "\r\n")) == read_project_settings(PROJECT)


@pytest.mark.parametrize(
    "text",
    [
        "[" + ".".join("a" * 30_000) + "]\n",
        "[" + ".".join("a" * 12_000) + "]\n" + "b=1\n" * 8_000,
        ".".join("a" * 30_000) + " = 1",
        "x = " + "[" * 30_000,
        "x = {a=" * 8_000,
        '"a" ' * 15_000,
        ("a" + " " * 200) * 300,
        "\n".join(f"limits.a{number} = 1" for number in range(4_000)),
        "x = 1e999999999",
        "x = " + "9" * 5_000,
    ],
    ids=range(10),
)
def test_hostile_settings_end_soon_with_few_problems(text: str):
    found, problems = read_project_settings(text)
    assert found == Settings()
    assert 0 < len(problems) <= 51
    assert is_quick(lambda: read_project_settings(text), 2)


@settings(max_examples=examples(60), deadline=None)
@given(st.text(alphabet="[]{}=.\"'\n\r\t# abmodelstrict-_0123456789,\\u\ufeffé", max_size=80))
def test_no_text_makes_reading_fail(text: str):
    for read in (read_user_settings, read_project_settings):
        _, problems = read(text)
        assert all(each.span.end <= len(text) and each.message for each in problems)


def test_every_setting_is_documented_and_nothing_else():
    rows = [line for line in DOCUMENTATION.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    table = [f"| `{each.key}` | {KINDS[each.kind][0]} | {each.default} | {each.doc} |" for each in SETTINGS]
    assert rows == table


def test_the_examples_of_the_page_are_good_settings():
    fences = DOCUMENTATION.read_text(encoding="utf-8").split("```toml\n")[1:]
    mine, project = (fence.partition("```")[0] for fence in fences)
    assert read_user_settings(mine)[1] == ()
    assert read_project_settings(project)[1] == ()


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('default-model = "a"\ndefault_model = "b"\n', "default-model", 2),
        ('api = "chat"\ndefault_model = "a"\n\n"default-model" = "b"\n', "default-model", 4),
        ("[limits]\ntool-calls = 1\ntool_calls = 2\n", "limits.tool-calls", 3),
        ("limits = {tool-calls = 1, tool_calls = 2}\n", "limits.tool-calls", 1),
    ],
)
def test_x7_a_setting_that_is_written_in_both_spellings_is_an_error_at_the_second_one(text: str, key: str, line: int):
    """TOML knows two keys, and only one of them could count."""
    _, (problem,) = read_user_settings(text)
    assert (problem.rule, problem.severity) == ("bad-setting", Severity.ERROR)
    assert problem.message == f"`{key}` is set twice, with `-` and with `_`"
    assert text.count("\n", 0, problem.span.start) + 1 == line


def test_x7_names_that_a_user_chose_are_two_with_either_spelling():
    found, problems = read_project_settings('[dialects]\n"a-b.md" = "mdh"\n"a_b.md" = "prapti"\n')
    assert (len(found.dialects), problems) == (2, ())
