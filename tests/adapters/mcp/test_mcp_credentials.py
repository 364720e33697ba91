"""X18, X8, X7: credentials for MCP servers over HTTP are the user's own, and go to their origin alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.mcp.credential import Credential
from prosa.app.options import Environment
from prosa.app.run.server_credentials import server_credentials
from prosa.app.run.world import servers
from prosa.cli.main import main
from prosa.rules.engine import check_text
from prosa.runtime.errors import RunError, ToolServerError
from prosa.runtime.limits import Limits
from prosa.runtime.ports import ServerConfig
from prosa.runtime.program import Program
from prosa.settings import Settings
from prosa.settings.model import ServerSettings
from prosa.settings.read import read_user_settings
from prosa.source import SourceText
from prosa.source.url import origin_of
from tests.adapters.mcp.servers.locked import TOKEN, answering, locked
from tests.adapters.mcp.support import run
from tests.cli.desk import desk
from tests.depth import examples


def environment(origins: Mapping[str, ServerSettings], environ: Mapping[str, str]) -> Environment:
    return Environment(environ=environ, settings=Settings(servers=origins))


async def tell(url: str, environment: Environment, transport: str = "auto", **arguments: Any) -> tuple[str, str]:
    """What a server says of its tool, and what the tool answers, as a run gets them."""
    config = ServerConfig("gh", url=url, transport=transport)
    program = program_with(config)
    async with servers(program, environment).connect([config], cwd="/") as session:
        answer = await session.call("gh", "tell", arguments)
        return session.tools[0].description, answer.content


def program_with(config: ServerConfig) -> Program:
    return Program(
        name="p",
        description="d",
        file="p.md",
        folder="/",
        model_name="m",
        template=None,
        input_schema={},
        output_schema={},
        limits=Limits(),
        servers=(config,),
    )


def refused(url: str, environment: Environment, transport: str = "auto") -> ToolServerError:
    with pytest.raises(ToolServerError) as caught:
        run(tell(url, environment, transport))
    return caught.value


def test_x18_a_token_of_the_settings_opens_a_server():
    """X18. A server of the `mcp` library that wants one; every request has it, the last one too."""

    async def work() -> None:
        async with locked() as server:
            known = environment({server.origin: ServerSettings("GH_TOKEN")}, {"GH_TOKEN": TOKEN})
            _, answer = await tell(server.url, known)
            assert answer.startswith("tell: ")
            assert server.sent("authorization") == {f"Bearer {TOKEN}"}
            assert server.seen[-1][0] in ("DELETE /mcp", "POST /mcp")

    run(work())


def test_x18_headers_of_the_settings_are_sent_as_they_are():
    """X18. Some servers want a key in a header of their own."""

    async def work() -> None:
        async with locked(open_to_all=True) as server:
            headers = {"X-Api-Key": "KEY", "X_Team": "TEAM"}
            known = environment({server.origin: ServerSettings(None, headers)}, {"KEY": "k-12345", "TEAM": "a b"})
            await tell(server.url, known)
            assert (server.sent("x-api-key"), server.sent("x_team")) == ({"k-12345"}, {"a b"})
            assert server.sent("authorization") == {None}

    run(work())


def test_x18_a_server_that_wants_a_token_is_told_as_that():
    """X18, LA11. The status, what the server says of the token, and the way to give one."""

    async def work() -> tuple[ToolServerError, str]:
        async with locked() as server:
            with pytest.raises(ToolServerError) as caught:
                await tell(server.url, environment({}, {}))
            assert server.sent("authorization") == {None}
            return caught.value, server.origin

    error, origin = run(work())
    assert "HTTP status 401" in error.message and "Bearer" in error.message and "resource_metadata=" in error.message
    assert f'[servers."{origin}"]' in error.hint and "token-env" in error.hint


def test_x18_a_token_that_is_not_accepted_is_named_and_not_shown():
    """X18, X8. By its variable."""

    async def work() -> ToolServerError:
        async with locked() as server:
            known = environment({server.origin: ServerSettings("GH_TOKEN")}, {"GH_TOKEN": "another-token"})
            with pytest.raises(ToolServerError) as caught:
                await tell(server.url, known)
            return caught.value

    error = run(work())
    assert "HTTP status 401" in error.message and "did not accept" in error.hint and "GH_TOKEN" in error.hint
    assert "another-token" not in error.message + error.hint


@pytest.mark.parametrize("transport", ["auto", "streamable-http"])
def test_x18_the_first_refusal_is_told_whatever_comes_after_it(transport: str):
    """X18, LA9. A server that answers 401 to POST and 404 to GET, as every server behind OAuth does."""

    async def work() -> ToolServerError:
        async with answering('401 No\r\nWWW-Authenticate: Bearer realm="gh"') as (url, heads):
            with pytest.raises(ToolServerError) as caught:
                await tell(url, environment({}, {}), transport)
            assert any(each.startswith("GET") for each in heads) is (transport == "auto")
            return caught.value

    error = run(work())
    assert 'HTTP status 401, and wants: Bearer realm="gh"' in error.message and "404" not in error.message


def test_x8_a_credential_does_not_come_back():
    """X8. A server says what it was sent: in a description, a result, an error and a refusal."""

    async def work() -> None:
        async with locked() as server:
            known = environment({server.origin: ServerSettings("GH_TOKEN")}, {"GH_TOKEN": TOKEN})
            for arguments in ({}, {"fail": True}):
                for said in await tell(server.url, known, **arguments):
                    assert "Bearer ***" in said and TOKEN not in said
        async with answering(f'401 No\r\nWWW-Authenticate: Bearer realm="{TOKEN}"') as (url, _):
            known = environment({str(origin_of(url)): ServerSettings("GH_TOKEN")}, {"GH_TOKEN": TOKEN})
            with pytest.raises(ToolServerError) as caught:
                await tell(url, known)
            assert TOKEN not in caught.value.message + caught.value.hint and 'realm="***"' in caught.value.message

    run(work())


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_x8_a_credential_is_not_sent_after_a_redirect(status: int):
    """X8. Neither to another origin, nor at all."""

    async def work() -> None:
        async with (
            locked(open_to_all=True) as other,
            answering(f"{status} On\r\nLocation: {other.url}") as (url, heads),
        ):
            known = environment({str(origin_of(url)): ServerSettings("GH_TOKEN")}, {"GH_TOKEN": TOKEN})
            with pytest.raises(ToolServerError):
                await tell(url, known)
            assert heads and other.seen == []

    run(work())


def test_x8_a_credential_is_not_sent_to_another_origin():
    """X8. The same host on another port is another origin, and so is another name of this machine."""

    async def work() -> None:
        async with locked(open_to_all=True) as server, locked(open_to_all=True) as other:
            known = environment({other.origin: ServerSettings("GH_TOKEN")}, {"GH_TOKEN": TOKEN})
            await tell(server.url, known)
            assert server.sent("authorization") == {None} and other.seen == []

    run(work())


HOSTS = st.sampled_from(
    ["mcp.example.org", "MCP.example.org", "example.org", "mcp.example.org.evil.example", "127.0.0.1"]
)
URLS = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["https", "http", "HTTPS", "ftp"]),
    st.sampled_from(["", "", "ann:pw@", "mcp.example.org@"]),
    HOSTS,
    st.sampled_from(["", ":443", ":80", ":8443", ":x"]),
    st.sampled_from(["", "/", "/mcp", "/mcp?x=https://mcp.example.org", "#@mcp.example.org"]),
)


@settings(max_examples=examples(300), deadline=None)
@given(url=URLS)
def test_x8_headers_are_for_one_origin(url: str):
    """X8. Whatever a request goes to."""
    credential = Credential(origin_of("https://mcp.example.org"), {"Authorization": "Bearer x"}, {"T": "x"})
    try:
        is_there = origin_of(url) == origin_of("https://mcp.example.org")
    except ValueError:
        is_there = False
    assert bool(credential.for_url(url)) is is_there


@pytest.mark.parametrize(
    ("origin", "given_", "said"),
    [
        ("http://mcp.example.org", ServerSettings("T"), "https://"),
        ("https://mcp.example.org/mcp", ServerSettings("T"), "without a path"),
        ("https://ann:pw@mcp.example.org", ServerSettings("T"), "servers."),
        ("mcp.example.org", ServerSettings("T"), "servers."),
        ("https://mcp.example.org", ServerSettings(None, {"Host": "T"}), "header"),
        ("https://mcp.example.org", ServerSettings(None, {"Mcp-Session-Id": "T"}), "header"),
        ("https://mcp.example.org", ServerSettings(None, {"a b": "T"}), "header"),
        ("https://mcp.example.org", ServerSettings(None, {"X:": "T"}), "header"),
        ("https://mcp.example.org", ServerSettings("T", {"authorization": "T"}), "one of them"),
    ],
)
def test_x18_settings_that_could_be_overheard_or_cannot_be_sent_are_refused(origin: str, given_: Any, said: str):
    """X18, X8. Before anything is asked."""
    with pytest.raises(RunError, match=said):
        server_credentials(Settings(servers={origin: given_}), {"T": "x"})


@pytest.mark.parametrize("value", ["", "a\nb", "a\r\nX: y", "ü", " zq", "a\0b"])
def test_x8_a_value_that_cannot_be_sent_is_refused_by_the_name_of_its_variable(value: str):
    """X8. CR and LF among them; the value is not shown."""
    credentials = server_credentials(
        Settings(servers={"https://a.example": ServerSettings("SECRET")}), {"SECRET": value}
    )
    with pytest.raises(RunError, match="SECRET") as caught:
        credentials("https://a.example/mcp")
    assert not value.strip() or value not in caught.value.message + caught.value.hint


def test_x7_a_document_names_no_credential():
    """X7, X18. Neither a field of a server nor a name in its URL."""
    text = (
        "---\nname: a\ndescription: d\ninput: {type: object}\noutput: {type: object}\nmcp_servers:\n"
        "  - {name: gh, url: 'https://mcp.example.org/mcp', %s}\n---\nx\n"
    )
    for field in ("headers: {Authorization: x}", "token_env: OPENAI_API_KEY", "token-env: X", "header-env: {A: B}"):
        found = check_text(SourceText(text % field, "p.md")).diagnostics
        assert "unknown-field" in {each.rule for each in found}

    async def work() -> None:
        async with locked(open_to_all=True) as server:
            url = server.url.replace("http://", "http://ann:p4ss@")
            with pytest.raises(ToolServerError, match="carries a name or a password") as caught:
                await tell(url, environment({}, {}))
            assert "p4ss" not in caught.value.message + caught.value.hint and server.seen == []

    run(work())


SETTINGS = """
[servers."https://mcp.example.org"]
token-env = "GH_TOKEN"

[servers."https://other.example".header-env]
X_Api_Key = "OTHER_KEY"
"""


def test_x18_settings_keep_origins_and_headers_as_they_are_written():
    """X18. Names that the user chooses are no keys of ours."""
    found, problems = read_user_settings(SETTINGS)
    assert problems == ()
    assert found.servers == {
        "https://mcp.example.org": ServerSettings("GH_TOKEN"),
        "https://other.example": ServerSettings(None, {"X_Api_Key": "OTHER_KEY"}),
    }


def test_x18_plan_and_doctor_know_what_is_configured_and_show_no_secret(tmp_path: Path):
    """X18. By the names of variables."""
    (tmp_path / "settings.toml").write_text(SETTINGS)
    (tmp_path / "p.md").write_text(
        "---\nname: p\ndescription: d\ninput: {type: object}\noutput: {type: object}\nmcp_servers:\n"
        "  - {name: gh, url: 'https://mcp.example.org/mcp'}\n  - {name: no, url: 'https://none.example/mcp'}\n"
        "  - {name: other, url: 'https://other.example/'}\n---\nx\n"
    )
    environ = {"PROSA_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path), "GH_TOKEN": TOKEN, "PATH": os.environ["PATH"]}
    at = desk("", environ)
    assert main(["plan", str(tmp_path / "p.md")], at.console) == 0
    assert "gh at https://mcp.example.org/mcp with the credential in GH_TOKEN\n" in at.out
    assert "no at https://none.example/mcp without a credential\n" in at.out
    assert "other at https://other.example/ with the credential in OTHER_KEY, which is not set\n" in at.out
    told = desk("", environ)
    main(["doctor"], told.console)
    assert "https://mcp.example.org: set: GH_TOKEN" in told.out
    assert "https://other.example: not set: OTHER_KEY" in told.out
    assert TOKEN not in at.out + at.err + told.out + told.err
