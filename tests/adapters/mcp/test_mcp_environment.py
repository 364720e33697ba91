"""X18: what a stdio server gets of the user's environment."""

from __future__ import annotations

import json
import os

import pytest

from prosa.adapters.mcp import McpServers
from prosa.adapters.mcp.servers import server_environment
from prosa.runtime.errors import ToolServerError
from tests.adapters.mcp.support import odd, run

USER = {
    "HOME": "/home/ann",
    "PATH": os.environ["PATH"],
    "OPENAI_API_KEY": "secret",
    "GH_TOKEN": "t0",
    "TERM": "() { :; }",
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        ("${GH_TOKEN}", "t0"),
        ("Bearer ${GH_TOKEN}!", "Bearer t0!"),
        ("${GH_TOKEN}${HOME}", "t0/home/ann"),
        ("$GH_TOKEN $ $$", "$GH_TOKEN $ $$"),
        ("$${GH_TOKEN}", "${GH_TOKEN}"),
        ("", ""),
    ],
)
def test_x18_a_reference_takes_one_variable_of_the_user(value, expected):
    assert server_environment("s", {"A": value}, USER)["A"] == expected


@pytest.mark.parametrize("value", ["${MISSING}", "${", "${}", "${A-b}", "${A B}", "${GH_TOKEN"])
def test_x18_a_reference_that_names_no_variable_is_refused_by_name(value):
    with pytest.raises(ToolServerError, match=r"'s'.*env\.A") as caught:
        server_environment("s", {"A": value}, USER)
    assert caught.value.hint
    if value == "${MISSING}":
        assert "MISSING" in caught.value.message


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A": "x\0y"}, {"A\0": "x"}])
def test_x18_a_variable_no_process_can_have_is_refused(env):
    with pytest.raises(ToolServerError, match="variable"):
        server_environment("s", env, USER)


def test_x18_a_value_that_came_from_the_user_is_not_expanded_again():
    assert server_environment("s", {"A": "${B}"}, {"B": "${GH_TOKEN}"})["A"] == "${GH_TOKEN}"


def test_x18_lw2_servers_get_the_safe_variables_and_env_but_never_keys():
    """X18, LW2: the environment is the SDK's safe one plus `env`, seen from inside a server."""

    async def main():
        servers = McpServers(environ=USER)
        config = odd(env={"TOKEN": "${GH_TOKEN}", "HOME": "/tmp"})
        async with servers.connect([config], cwd="/") as session:
            return (await session.call("odd", "env", {})).content, (await session.call("odd", "cwd", {})).content

    env, cwd = run(main())
    seen = {key: value for key, value in json.loads(env).items() if key not in ("LC_CTYPE", "PWD")}
    assert seen == {"HOME": "/tmp", "PATH": USER["PATH"], "TOKEN": "t0"}
    assert cwd == "/"


def test_x18_a_missing_variable_starts_nothing():
    async def main():
        async with McpServers(environ=USER).connect([odd(), odd(name="b", env={"K": "${NOPE}"})], cwd="/"):
            raise AssertionError

    with pytest.raises(ToolServerError, match="NOPE"):
        run(main())
