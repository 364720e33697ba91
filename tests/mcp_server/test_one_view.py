"""One view of what is published: the door of agents gives a document exactly where the site gives it, and no other file
of the folder (X23, X30)."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_from_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError

from prosa.app.options import Environment, Options
from prosa.app.run.world import server_budget
from prosa.app.site.agents import CheckScope
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.mcp_server.programs import Programs, Rights
from prosa.mcp_server.server import build_server
from prosa.settings import Settings
from prosa.web.static import built_files
from tests.depth import DEEP, examples
from tests.mcp_server.folder import served
from tests.web.asking import Served, called, cold, put, scope_of, serving

BY_NAME = ("read", "outline", "links", "check")
OTHERS = {
    "creds.txt": "KEY=sk-123",
    "id_rsa": "PRIVATE",
    "terraform.tfstate": '{"serial": 1}',
    "x.py": "P = 1",
    "data.json": '{"data": 1}',
    "table.csv": "a,b",
    "Makefile": "all:",
    "sub/deep.env": "A=1",
    "mdh/own.md": "# The site's own",
    "page.html": "<p>page",
}


@pytest.mark.parametrize("ready", [True, False], ids=["ready", "building"])
def test_x23_no_file_is_given_but_documents(tmp_path: Path, ready: bool):
    """X23. Text files, keys and what a site serves beside its documents, by every tool and as resources."""
    folder = tmp_path / "docs"
    put(folder, "index.md", "# Home\n\nSee [the data](data.json).\n")
    for name, text in OTHERS.items():
        put(folder, name, f"{text}\n")

    async def run() -> None:
        async with served(folder.resolve(), ready=ready) as client:
            assert (await client.read_resource("prosa:///index.md")).contents[0].text.startswith("# Home")
            for name, text in OTHERS.items():
                for tool in BY_NAME:
                    found = await client.call_tool(tool, {"document": name})
                    assert found.is_error, (tool, name)
                    assert text not in found.content[0].text
                with pytest.raises(MCPError, match="Resource not found"):
                    await client.read_resource(f"prosa:///{name}")

    asyncio.run(run())


@pytest.mark.parametrize("ready", [True, False], ids=["ready", "building"])
def test_x23_a_check_tells_nothing_of_files_that_are_not_published(tmp_path: Path, ready: bool):
    """X23. Neither that one is there, nor whether it has a digest, nor what stands in it."""
    folder = tmp_path / "docs"
    put(folder, "index.md", "# Home\n")
    put(folder, "creds.json", '{"type": "object", "properties": {"zanzibar": 1}}')
    digest = "0" * 64
    text = (
        "---\nymj_spec: 0.5.0\ndoc_summary: x\nattachments:\n"
        f"  - {{uri: %s, sha256: {digest}}}\n---\n# A\n\n[a](%s) ![[%s]]\n"
    )
    action = (
        "---\nid: a\ntype: page\ntitle: A\nactions:\n"
        "  - {id: go, method: POST, url: /x, body_schema: 'url:/%s'}\n---\n[a](%s)\n"
    )

    async def run() -> None:
        async with served(folder.resolve(), ready=ready) as client:
            for form in (text, action, "---\ntests: ./%s\n---\n", "[a](%s)\n"):
                said = []
                for name in ("creds.json", "other.json"):
                    count = form.count("%s")
                    found = await client.call_tool("check", {"text": form % ((name,) * count)})
                    said.append(json.dumps(found.structured_content).replace(name, "NAME"))
                assert said[0] == said[1]

    asyncio.run(run())


# The property: whatever lies in a folder.

MARK = "zanzibar"
"""Begins the word that stands in one file alone, and by which what was given is known."""

FOLDERS = ("", "", "a/", "A/", "b c/", "ß/", ".hid/", "mdh/", "node_modules/", "ig/", "a/ig/", "vault/")
STEMS = ("x", "X", "index", "README", ".dot", "%41", "a%2Fb", "q?r", "h#i", "two words", "ü", "back\\slash", "l\nf")
SUFFIXES = (*DOCUMENT_SUFFIXES, ".MD", ".Md", ".txt", ".json", ".csv", ".py", ".pem", ".env", ".html", ".png", "")
FIELDS = ("", "", "", "classification: secret\n", "visibility: private\n", "visibility: public\n")
RULES = ("", "ig/\n", "x.*\n", "*.md\n!index.md\n", "a/\n", "**/ig/x.md\n", "X.md\n")


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """A folder: the fields of each file by its path, links among them, what git ignores, what `vault/` is lent."""
    places = st.builds("{}{}{}".format, *map(st.sampled_from, (FOLDERS, STEMS, SUFFIXES)))
    paths = draw(st.lists(places, min_size=1, max_size=8, unique=True))
    files = {path: draw(st.sampled_from(FIELDS)) for path in paths}
    links = draw(st.dictionaries(places, st.sampled_from([*paths, "../outside.md", "a", "a/"]), max_size=3))
    return {
        "files": files,
        "links": links,
        "ignored": draw(st.sampled_from(RULES)),
        "lent": draw(st.booleans()),
        "named": draw(st.lists(st.sampled_from(paths), max_size=2)),
    }


def written(tree: dict[str, Any], root: Path) -> list[str]:
    """Writes a tree, and gives the paths in it; one that the system does not take is left out."""
    put(root.parent, "outside.md", f"# {MARK}outside\n")
    names: list[str] = []
    for number, (path, field) in enumerate(tree["files"].items()):
        head = f"---\nid: n{number}\ntype: page\ntitle: T{number}\n{field}---\n" if field or number % 2 else ""
        try:
            put(root, path, f"{head}# {MARK}{number}\n\nBoats.\n")
        except OSError:  # a file is where its folder would be
            continue
        names.append(path)
    for path, target in tree["links"].items():
        place = root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(root / target)
        except OSError:
            continue
        names.append(path)
    put(root, ".gitignore", tree["ignored"])
    if tree["lent"]:
        put(root, "about.mda", "---\nglobs: ['vault/**']\nclassification: secret\n---\nAbout.\n")
    linked = "".join(f"[d]({quote(path)})\n" for path in tree["named"])
    put(root, "front.md", f"# Front\n\n{linked}")
    return names


def spellings(path: str) -> Iterator[str]:
    """Names by which somebody may ask for a file."""
    yield from (path, f"./{path}", f"/{path}", f"{path}/", path.replace("/", "//"), path.swapcase(), quote(path))
    yield from (quote(path, safe=""), f"a/../{path}", f"{path}\0", path.rpartition(".")[0], path.rpartition("/")[0])


def marks(text: str) -> set[str]:
    """The files of which a text holds the word."""
    return set(re.findall(rf"{MARK}(\d+|outside)", text))


async def site_gives(web: Served, names: Iterable[str]) -> tuple[set[str], set[str]]:
    """The documents that the site gives under any of these names, and the files beside them."""
    documents, others = set[str](), set[str]()
    for name in dict.fromkeys(names):
        raw = quote_from_bytes(name.encode("utf-8", "surrogateescape"), safe="/")
        for target in (f"/{raw}", f"/{raw}?raw=1", f"/{raw}.json"):
            said = await called(web.app, scope_of(target, "GET", [("host", "127.0.0.1:8000")], "127.0.0.1"))
            found = marks(said.body.decode("utf-8", "replace")) if said.status == 200 else set()
            is_node = said.kind == "text/markdown" or "canonical" in said["link"] if found else False
            (documents if is_node else others).update(found)
    return documents, others - documents


@asynccontextmanager
async def agent(web: Served) -> AsyncIterator[Client]:
    """A client of the other door of the same site."""
    around = Environment(environ=web.site.index.environ, settings=Settings())
    programs = Programs(web.site, Options(), around, Rights(), server_budget(None, around))
    async with Client(build_server(web.site, programs, CheckScope(web.site.index.environ))) as client:
        yield client


async def agents_get(client: Client, names: Iterable[str]) -> set[str]:
    """The files of which an agent is given the text, by whatever tool, resource or list, under any of these names. In
    `make test` each name is given to `read` and to one of the others in turn."""
    found = set[str]()
    for place, name in enumerate(dict.fromkeys(names)):
        for tool in BY_NAME if DEEP else (BY_NAME[0], BY_NAME[1 + place % 3]):
            said = await client.call_tool(tool, {"document": name})
            found |= marks(said.content[0].text.replace(name, ""))
        raw = quote_from_bytes(name.encode("utf-8", "surrogateescape"), safe="")
        for uri in (f"prosa:///{raw}", f"prosa:///{raw.replace('%2F', '/')}"):
            try:
                found |= marks((await client.read_resource(uri)).contents[0].text)
            except MCPError:
                continue
    for tool, arguments in (("search", {"query": "boats", "limit": 50}), ("list", {})):
        said = (await client.call_tool(tool, arguments)).structured_content
        for each in said.get("hits", said.get("documents")):
            answer = await client.call_tool("read", {"document": each["path"]})
            assert not answer.is_error, each
            found |= marks(answer.content[0].text)
    for each in (await client.list_resources()).resources:
        found |= marks((await client.read_resource(each.uri)).contents[0].text)
    return found


@pytest.mark.parametrize("opened", [serving, cold], ids=["ready", "building"])
@settings(max_examples=examples(200, share=40), deadline=None)  # each asks for a hundred names at two doors
@given(tree=trees())
def test_x23_x30_agents_get_exactly_the_documents_of_the_site(opened: Any, tree: dict[str, Any]):
    """X23, X30. What the one door gives and the other does not is nothing, in both directions."""
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "root").mkdir()
        names = written(tree, folder / "root")
        with opened(folder, {}) as web:
            asked = [each for name in (*names, "../outside.md") for each in spellings(name)]

            async def both() -> tuple[set[str], set[str], set[str]]:
                documents, others = await site_gives(web, asked)
                async with agent(web) as client:
                    return documents, others, await agents_get(client, asked)

            documents, others, agents = asyncio.run(both())
            assert not web.faults
            assert (agents - documents, documents - agents) == (set(), set())
            assert agents.isdisjoint(others)
            if opened is serving:
                files = {
                    each.path: each.content for each in reversed([*built_files(web.app.web)])
                }  # the first one counts
                built = {mark for each in files.values() for mark in marks(each.decode("utf-8", "replace"))}
                assert built - documents - others == set()
    finally:
        shutil.rmtree(folder)
