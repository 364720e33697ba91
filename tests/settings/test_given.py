"""Settings for one call, `--set KEY=VALUE` and `PROSA_SET` (X7)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies

import prosa as api
from prosa.app.check.check import CheckOptions
from prosa.app.check.gather import gather
from prosa.app.check.workspace import Workspace
from prosa.app.settings import settings_for, with_given
from prosa.app.site import agents
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import open_site
from prosa.cli import main
from prosa.data import Value
from prosa.runtime.errors import RunError
from prosa.settings.environment import given_here
from prosa.settings.given import BadSetting, given_settings
from prosa.settings.model import SET_VARIABLE
from tests.cli.programs import configured, program, prosa, script, user

LINKS = "# Drafts\n\n[gone](gone.md)\n"


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("limits.iterations=3", ("limits", "iterations"), 3),
        ("limits.tool_calls = 3", ("limits", "tool-calls"), 3),
        ("limits.python-memory=64", ("limits", "python-memory"), 64 * 1024 * 1024),
        ("default-model=4", ("default-model",), "4"),
        ("default-model='a = b'", ("default-model",), "a = b"),
        ("prices.gpt-4.1.input=0.25", ("prices", "gpt-4.1", "input"), Decimal("0.25")),
        ('prices."gpt-4.1".input=0.25', ("prices", "gpt-4.1", "input"), Decimal("0.25")),
        (
            "servers.https://a.example.header-env.X-Key=A_KEY",
            ("servers", "https://a.example", "header-env", "X-Key"),
            "A_KEY",
        ),
    ],
)
def test_x7_a_text_is_a_setting_of_the_user(text: str, path: tuple[str, ...], value: Value):
    assert given_settings([text]).user == {path: value}


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("model=small", ("model",), "small"),
        ("strict=true", ("strict",), True),
        ("select=unresolved-link, MD040", ("select",), ("unresolved-link", "MD040")),
        ('select=["unresolved-link"]', ("select",), ("unresolved-link",)),
        ("dialects.site/**/*.md=mdh", ("dialects", "site/**/*.md"), "mdh"),
        ("per-glob.*.md.strict=true", ("per-glob", "*.md", "strict"), True),
        ("site.nav=['a.md', {Guides = ['b.md']}]", ("site", "nav"), ["a.md", {"Guides": ["b.md"]}]),
    ],
)
def test_x7_a_text_is_a_setting_of_the_project(text: str, path: tuple[str, ...], value: Value):
    assert given_settings([text]).project == {path: value}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("strict", "it is no setting", "write KEY=VALUE"),
        ("=1", "it is no setting", "write KEY=VALUE"),
        ("strict=true\nmodel=x", "it is no setting", "write KEY=VALUE"),
        ("ignor=a", "there is no setting `ignor`", "did you mean ignore?"),
        ("limits=3", "there is no setting `limits`", ""),
        ("limits.iterations=0", "`limits.iterations` must be a whole number from 1, not '0'", ""),
        ("strict=maybe", "`strict` must be true or false, not 'maybe'", ""),
        ("model=", "`model` must be a text, and it is empty", ""),
        ("dialects.[.md=mdh", "`[.md` in `dialects` is a glob that matches nothing", ""),
        ("endpoints.https://a.example.api-key-env=sk-secret", "must be the name of an environment variable", ""),
    ],
)
def test_x7_a_text_that_sets_nothing_is_refused(text: str, message: str, hint: str):
    with pytest.raises(BadSetting) as caught:
        given_settings([text])
    assert message in caught.value.message and hint in caught.value.hint
    assert "sk-secret" not in caught.value.message


@given(strategies.text(max_size=80))
def test_x7_any_text_is_a_setting_or_refused(text: str):
    try:
        found = given_settings([text])
    except BadSetting as refused:
        assert refused.message
    else:
        assert len(found.user) + len(found.project) == 1


def test_x7_what_is_given_replaces_what_files_say(tmp_path: Path):
    """Value by value: half of a price may stand in the file."""
    (tmp_path / "prosa.toml").write_text(
        'model = "file"\nstrict = true\n[dialects]\n"*.md" = "mdh"\n"a.md" = "prapti"\n'
    )
    config = configured(tmp_path, "[prices.m]\ninput = 1\noutput = 2\n[limits]\nretries = 1\n")
    environ = user(tmp_path, PROSA_CONFIG_DIR=config)
    environ = dict(with_given(environ, ["model=given", "prices.m.input=3", "dialects.*.md=ymj"]))
    found = settings_for(tmp_path / "a.md", environ)
    assert (found.model, found.strict, found.retries) == ("given", True, 1)
    assert (found.prices["m"].input, found.prices["m"].output) == (3, 2)
    assert found.dialects == (("a.md", "prapti"), ("*.md", "ymj"))
    (group,) = gather([tmp_path], given=given_here(environ))
    assert group.project.settings is not None and group.project.settings.dialects == found.dialects


def test_x7_half_a_price_is_no_price(tmp_path: Path):
    with pytest.raises(RunError, match="the price of `m` needs both"):
        settings_for(None, with_given(user(tmp_path), ["prices.m.input=3"]))


def test_x7_the_commands_know_the_variable():
    assert main.SET_VARIABLE == SET_VARIABLE


def test_x7_the_variable_is_refused_as_a_file_is(tmp_path: Path):
    with pytest.raises(RunError, match=f"{SET_VARIABLE}: `strict` must be true or false"):
        settings_for(tmp_path, {**user(tmp_path), SET_VARIABLE: "model=x\nstrict=2"})


def test_x7_a_check_takes_settings_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Cached findings too are those of the settings of the call."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.md").write_text(LINKS)
    environ = user(tmp_path)
    for flags, status in [
        ((), 1),
        (("--set", "ignore=unresolved-link"), 0),
        ((), 1),
        (("--set", "per-glob.*.md.ignore=unresolved-link"), 0),
        (("--set", "per-glob.*.txt.ignore=unresolved-link"), 1),
        (("--set", "ignore=unresolved-link", "--set", "ignore=duplicate-id"), 1),
    ]:
        assert prosa("check", ".", *flags, environ=environ)[0] == status, flags
    assert prosa("check", ".", environ={**environ, SET_VARIABLE: "ignore=unresolved-link\nmodel=m"})[0] == 0
    assert prosa("check", ".", environ={**environ, SET_VARIABLE: "limits.retries=1"})[0] == 1
    status, at = prosa("check", ".", environ={**environ, SET_VARIABLE: "ignore=nonsense"})
    assert (status, "PROSA_SET ignore=nonsense: there is no rule" in at.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "text", "err"),
    [
        ("check", "limits.iterations=3", "it has no effect here"),
        ("check", "ignore=nonsense", "there is no rule `nonsense`"),
        ("run", "dialects.*=nonsense", "there is no dialect `nonsense`"),
        ("run", "limits.iterations=0", "must be a whole number from 1"),
    ],
)
def test_x7_a_wrong_setting_is_wrong_use(command: str, text: str, err: str, tmp_path: Path):
    status, at = prosa(command, program(tmp_path), "--set", text, environ=user(tmp_path))
    assert status == 2 and at.err.startswith(f"error: --set {text}: ") and err in at.err


def test_x7_a_wrong_setting_is_a_finding_in_a_file_and_wrong_use_in_a_call(tmp_path: Path):
    """As the page of settings says: a file has errors as a document has; a flag or a variable is the call itself."""
    file, environ = program(tmp_path), user(tmp_path)
    config = configured(tmp_path, "[limits]\niterations = 0\n")
    assert prosa("run", file, environ=user(tmp_path, PROSA_CONFIG_DIR=config))[0] == 1
    assert prosa("run", file, "--set", "limits.iterations=0", environ=environ)[0] == 2
    assert prosa("run", file, environ={**environ, SET_VARIABLE: "limits.iterations=0"})[0] == 2


def test_x7_a_misspelt_setting_has_a_command_that_mends_it(tmp_path: Path):
    status, at = prosa("check", program(tmp_path), "--set", "ignor=MD020", "--format", "json", environ=user(tmp_path))
    assert status == 2 and "--set ignore=MD020 " in json.loads(at.err)["fix"]


def test_x7_a_test_takes_the_globs_of_a_project(tmp_path: Path):
    (tmp_path / "a.test.md").write_text("---\ntests: a.md\n---\n")
    found = {text: prosa("test", tmp_path, "--set", f"tests={text}*", environ=user(tmp_path))[1].err for text in "ab"}
    assert ["no test documents" in err for err in found.values()] == [False, True]


def test_x7_a_run_takes_settings_of_the_user_and_the_project(tmp_path: Path):
    count = program(tmp_path)
    wrong = script(tmp_path, {"content": {"words": -1}}, {"content": {"words": 2}})
    chosen, environ = ("run", count, "--model", wrong, "--set"), user(tmp_path)
    status, at = prosa(*chosen, "limits.iterations=1", environ=environ)
    assert status == 1 and at.out == ""
    status, at = prosa(*chosen, "limits.iterations=2", environ=environ)
    assert (status, json.loads(at.out)) == (0, {"words": 2})


GIVEN = "ignore=unresolved-link"


def test_x7_python_takes_the_settings_of_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`prosa.check` and `prosa.load`; a wrong setting is refused, as one of the command line is."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.md").write_text(LINKS)
    assert [each.rule for each in api.check(tmp_path)] == ["unresolved-link"]
    monkeypatch.setenv(SET_VARIABLE, GIVEN)
    assert api.check(tmp_path) == [] and api.load(tmp_path / "a.md").diagnostics == ()
    monkeypatch.setenv(SET_VARIABLE, "dialects.*.md=mdh")
    assert api.load(tmp_path / "a.md").dialect == "mdh"
    for wrong in ("strict=maybe", "strict"):
        monkeypatch.setenv(SET_VARIABLE, wrong)
        with pytest.raises(ValueError, match=SET_VARIABLE):
            api.check(tmp_path)


def test_x7_an_editor_and_an_agent_are_told_under_the_settings_of_the_call(tmp_path: Path):
    """Whether the project has a file or not; the server takes `--set` too."""
    (tmp_path / "folder" / ".git").mkdir(parents=True)
    folder = (tmp_path / "folder").resolve()
    (folder / "a.md").write_text(LINKS)
    environ = user(tmp_path)
    for text, count in [("", 1), (GIVEN, 0), ("per-glob.*.md.ignore=unresolved-link", 0), ("strict=true", 1)]:
        around = with_given(environ, [text])
        open_one = Workspace.open(folder, CheckOptions(cache=False), around)
        assert len(open_one.diagnostics.get(folder / "a.md", ())) == count, text
        with open_site(folder, SiteOptions("docs"), around, settings_for(folder, around), max_size=10**7) as site:
            site.start()
            found = agents.check(site, agents.CheckScope(around), document="a.md")["diagnostics"]
        assert isinstance(found, list) and len(found) == count, text


@pytest.mark.parametrize("command", ["lsp", "mcp"])
def test_x7_a_server_refuses_a_wrong_setting_at_its_start(command: str, tmp_path: Path):
    status, at = prosa(command, "--set", "ignore=nonsense", environ=user(tmp_path))
    assert (status, "--set ignore=nonsense: there is no rule" in at.err) == (2, True)
