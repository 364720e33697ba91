"""The action that a site adds to a program."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from prosa.schema import Schema
from prosa.site.contract import read_contract
from prosa.web.run.runner import action_id
from tests.web.run.site import TOKEN, greeting, site


def test_h11_a_program_declares_an_action_that_leads_to_its_output(tmp_path: Path) -> None:
    """H11, H12. The node names method, URL, schemas and how to prove who asks; calling it so gives the output."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            node = (await at.call("GET", "/greet", {"accept": "application/json"})).json
            (action,) = node["actions"]
            contract = read_contract(action)
            assert (action["id"], contract.method, contract.auth.type) == ("greet.run", "POST", "bearer")
            assert "Authorization" in contract.auth.token_help and TOKEN not in json.dumps(node)
            assert contract.body_schema is not None
            assert not contract.body_schema.problems({"name": "Ada"})
            assert contract.body_schema.problems({"name": 7})
            reply = await at.run(path=action["url"])
            assert (reply.status, reply.json) == (200, {"greeting": "Hello"})
            assert reply.headers["cache-control"] == "no-store"
            assert reply.headers["x-prosa-tokens"] == "15"
            schema = await at.call("GET", action["response_schema"])
            assert schema.headers["content-type"] == "application/schema+json"
            assert not Schema(schema.json).problems(reply.json) and Schema(schema.json).problems({})
            assert action["examples"] == [{"request": {"body": {"name": "Ada"}}}]

    asyncio.run(work())


def test_h11_the_urls_of_a_site_below_a_prefix_have_it(tmp_path: Path) -> None:
    async def work() -> None:
        with site(greeting(tmp_path, "tools/say it.md"), prefix="/docs") as at:
            node = (await at.call("GET", "/docs/tools/say%20it.json")).json
            (action,) = node["actions"]
            assert action["url"] == "/docs/mdh/run/tools/say%20it"
            assert (await at.run(path=action["url"])).status == 200
            assert (await at.call("GET", action["response_schema"])).status == 200

    asyncio.run(work())


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("greet.md", r"greet\.run"),
        ("tools/greet.md", r"tools\.greet\.run"),
        ("a/b/greet.md", r"a\.b\.greet\.run"),
        ("Say hello.md", r"Say-hello\.run-[0-9a-f]{6}"),
        ("a.b/greet.md", r"a-b\.greet\.run-[0-9a-f]{6}"),
        ("é.md", r"-\.run-[0-9a-f]{6}"),
    ],
)
def test_h11_ids_of_actions_are_words(path: str, found: str) -> None:
    assert re.fullmatch(found, action_id(path))


def test_h11_ids_of_actions_are_unique_on_a_site() -> None:
    """Folders, dots and suffixes that would read the same do not give the same id."""
    files = ["a/b.md", "a.b.md", "a-b.md", "a b.md", "a/b.mda", "x.md", "é.md", "è.md", "a/x.md", "A/b.md", "b.md"]
    assert len({action_id(each) for each in files}) == len(files)
