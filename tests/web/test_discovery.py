"""What agents look for on a site: the same bytes served and built, of what is published alone (X40, X23)."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from prosa.app.site import skills as published
from prosa.site.archive import unpack
from prosa.web.context import Sessions, Web
from prosa.web.static import built_files
from tests.web.asking import Files, Served
from tests.web.conftest import Serve

SKILL = "---\nname: {name}\ndescription: Use it for {name}.\n{more}---\n# {name}\n\nDo it.\n"
ACTION = """---
id: ferry
type: page
title: The ferry
actions:
  - {id: sailings.list, method: GET, url: "/api/sailings?kind=all", title: The sailings, auth: {type: none},
     query: {required: [day], properties: {day: {type: string}, page: {type: integer}}}}
  - {id: sailings.book, method: POST, url: "/api/sailings/{id}/berths", auth: {type: bearer},
     content_type: application/json, body_schema: {type: object, properties: {who: {$ref: "#/$defs/who"}},
       required: [who], $defs: {who: {type: string}}}}
---
See [the pier](pier.md) and [[pier]].
"""


def skill(name: str, more: str = "") -> str:
    return SKILL.format(name=name, more=more)


FILES: dict[str, str | bytes] = {
    "index.md": "# Harbour\n\nHello.\n",
    "ferry.md": ACTION,
    "pier.md": "# The pier\n\nBoats land here.\n",
    "skills/plain/SKILL.md": skill("plain"),
    "skills/rich/SKILL.md": skill("rich", "license: MIT\nmetadata: {version: 1.10}\n"),
    "skills/rich/scripts/run.py": b"print('never')\n",
    "skills/rich/references/more.md": "More.\n",
    "skills/rich/.hidden": "secret-hidden",
    "skills/rich/ignored.txt": "secret-ignored",
    "skills/rich/evals/evals.json": "secret-answers",
    "skills/classified/SKILL.md": skill("classified", "classification: confidential\n"),
    "skills/partly/SKILL.md": skill("partly"),
    "skills/partly/references/s.md": "---\nclassification: secret\n---\nsecret-classified\n",
    ".claude/skills/hid/SKILL.md": skill("hid"),
    "skills/none/SKILL.md": "No front matter.\n",
    "skills/Big/SKILL.md": skill("Big-Name"),
    "other/plain/SKILL.md": skill("plain"),
    ".gitignore": "ignored.txt\n",
}
INDEX = "/.well-known/agent-skills/index.json"


def built(site: Served, **more: Any) -> dict[str, bytes]:
    """The files of a build; the first of several at one path counts."""
    found: dict[str, bytes] = {}
    for each in built_files(Web(site.site, Sessions(""), **more)):
        found.setdefault(each.path, each.content)
    return found


def test_x40_skills_are_listed_with_digests_and_come_as_listed(look: Serve) -> None:
    site = look(FILES)
    index = site.get(INDEX)
    assert (index.status, index.kind) == (200, "application/json")
    assert index.json["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    listed = {each["name"]: each for each in index.json["skills"]}
    assert list(listed) == ["plain", "rich"]
    assert listed["plain"] == {
        "name": "plain",
        "type": "skill-md",
        "description": "Use it for plain.",
        "url": "plain/SKILL.md",
        "digest": f"sha256:{sha256(skill('plain').encode()).hexdigest()}",
    }
    for name, kind in (("plain", "text/markdown"), ("rich", "application/gzip")):
        said = site.get(f"/.well-known/agent-skills/{listed[name]['url']}")
        assert (said.status, said.kind) == (200, kind)
        assert f"sha256:{sha256(said.body).hexdigest()}" == listed[name]["digest"]
        assert site.head(f"/.well-known/agent-skills/{listed[name]['url']}").status == 200
    paths = [path for path, _ in unpack(site.get("/.well-known/agent-skills/rich.tar.gz").body)]
    assert paths == ["SKILL.md", "references/more.md", "scripts/run.py"]


def test_x40_both_doors_give_the_same_bytes_and_nothing_unpublished(look: Serve) -> None:
    site = look(FILES)
    served = Web(site.site, Sessions(""), "/docs", "https://harbour.example", mcp="https://harbour.example/mcp")
    files = {each.path: each.content for each in built_files(served)}
    found = [path for path in files if path.startswith(".well-known/") or path in ("llms-full.txt", "openapi.json")]
    assert sorted(found) == [
        ".well-known/agent-skills/index.json",
        ".well-known/agent-skills/plain/SKILL.md",
        ".well-known/agent-skills/rich.tar.gz",
        ".well-known/ai-catalog.json",
        ".well-known/api-catalog",
        ".well-known/mcp/server-card.json",
        "llms-full.txt",
        "openapi.json",
    ]
    with_mcp = serving_app(site, served)
    for path in found:
        assert with_mcp.get(f"/docs/{path}").body == files[path], path
        assert b"secret-" not in files[path]
        assert str(site.root).encode() not in files[path]
    assert {each.path: each.content for each in built_files(served)} == files


def serving_app(site: Served, web: Web) -> Served:
    from prosa.web.app import SiteApp

    site.app = SiteApp(web, site.app.guard)
    return site


def test_x40_a_forged_host_changes_no_address(look: Serve) -> None:
    site = look(FILES)
    assert site.get(INDEX, host="evil.example").status in (400, 403, 421)
    plain = site.get("/.well-known/api-catalog")
    forged = site.get("/.well-known/api-catalog", headers=[("x-forwarded-host", "evil.example")])
    assert plain.body == forged.body
    assert b"evil" not in forged.body
    assert plain["content-type"].startswith("application/linkset+json; profile=")
    assert plain.json["linkset"][1]["service-desc"] == [{"href": "/openapi.json", "type": "application/json"}]


def test_x40_pages_lead_to_each_of_these_files_and_each_is_there(look: Serve) -> None:
    site = look(FILES, origin="https://harbour.example")
    for accept in ("text/html", "text/markdown", "application/json"):
        said = site.get("/pier", accept)
        for path in (".well-known/api-catalog", "openapi.json", "llms-full.txt", INDEX[1:]):
            assert f"</{path}>; rel=" in said["link"], path
            assert site.get(f"/{path}").status == 200
        assert "server-card" not in said["link"]
    assert "link" not in site.get("/nothing")
    assert site.get("/.well-known/mcp/server-card.json").status == 404
    files = built(site)
    html = files["pier.html"].decode()
    assert '<link rel="agent-skills" type="application/json" href=".well-known/agent-skills/index.json">' in html
    assert 'rel="api-catalog"' in html
    assert 'rel="service-desc"' in html


def test_x40_a_site_at_a_path_is_found_from_the_root_of_its_host(look: Serve) -> None:
    site = look(FILES, prefix="/docs", origin="https://harbour.example")
    for path in (".well-known/api-catalog", INDEX[1:], ".well-known/agent-skills/rich.tar.gz"):
        assert site.get(f"/{path}").body == site.get(f"/docs/{path}").body
        assert site.get(f"/{path}").status == 200
    assert site.get("/openapi.json").status == 404
    assert "https://harbour.example/docs/openapi.json" in site.get("/.well-known/api-catalog").text


def test_x40_pages_of_others_read_public_sites_alone(look: Serve) -> None:
    site = look(FILES)
    assert "access-control-allow-origin" not in site.get(INDEX)
    web = Web(site.site, Sessions(""), "", "https://harbour.example")
    assert serving_app(site, web).get(INDEX)["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in site.get("/pier")


def test_x40_without_skills_or_a_server_nothing_speaks_of_them(serve: Serve) -> None:
    site = serve({"index.md": "# Hi\n"})
    assert site.get(INDEX).status == 404
    assert "agent-skills" not in site.get("/")["link"]
    assert not [path for path in built(site) if "skills" in path or "mcp" in path]


def test_x40_a_card_names_its_server_and_asks_for_the_token_of_a_closed_site(look: Serve) -> None:
    site = look(FILES, token="t" * 20, closed=True)
    web = Web(site.site, site.app.web.sessions, "", "https://docs.harbour.example", True, mcp="https://h.example/mcp")
    serving_app(site, web)
    for path in (INDEX, "/.well-known/mcp/server-card.json", "/openapi.json", "/llms-full.txt"):
        assert site.get(path).status == 401
    token = [("authorization", f"Bearer {'t' * 20}")]
    card = site.get("/.well-known/mcp/server-card.json", headers=token).json
    assert card["name"] == "example.h/Harbour"
    assert card["remotes"] == [
        {
            "type": "streamable-http",
            "url": "https://h.example/mcp",
            "headers": [{"name": "Authorization", "isRequired": True, "isSecret": True}],
        }
    ]
    catalog = site.get("/.well-known/ai-catalog.json", headers=token).json
    assert catalog["entries"][0]["url"] == "https://docs.harbour.example/.well-known/mcp/server-card.json"


def test_x40_a_changed_script_changes_the_digest(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(published, "LOOK_TIMES", 0)
    site = serve(FILES)
    before = site.get(INDEX)
    site.write("skills/rich/scripts/run.py", b"print('other')\n")
    after = site.get(INDEX)
    assert before["etag"] != after["etag"]
    rich = next(each for each in after.json["skills"] if each["name"] == "rich")
    said = site.get("/.well-known/agent-skills/rich.tar.gz")
    assert rich["digest"] == f"sha256:{sha256(said.body).hexdigest()}"
    site.write("skills/rich/references/more.md", "---\nclassification: secret\n---\n")
    site.until(lambda: "rich" not in site.get(INDEX).text)
    assert site.get("/.well-known/agent-skills/rich.tar.gz").status == 404


def test_x40_a_skill_that_changes_while_it_is_read_is_one_state_or_none(serve: Serve) -> None:
    site = serve(FILES)
    source = published.SiteSkills(site.site)
    script = site.root / "skills/rich/scripts/run.py"
    reads: list[str] = []

    class Restless(published.SiteSkills):
        def data(self, folder: str, path: str) -> bytes:
            found = source.data(folder, path)
            if path == "SKILL.md" and len(reads) < most:
                reads.append(path)
                script.write_bytes(b"x" * (100 + len(reads)))
            return found

    most = 2
    skill, files = published.read_skill(Restless(site.site), "skills/rich")
    assert dict(files)["scripts/run.py"] == script.read_bytes()
    assert skill.files[-1].size == len(script.read_bytes())
    most = 99
    with pytest.raises(published.SkillProblem, match="changes while"):
        published.read_skill(Restless(site.site), "skills/rich")


def test_x5_a_link_out_of_the_site_is_no_file_of_a_skill(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret-outside")
    site = serve(FILES)
    (site.root / "skills/rich/out.txt").symlink_to(tmp_path / "outside.txt")
    (site.root / "skills/rich/folder").symlink_to(tmp_path)
    said = site.get("/.well-known/agent-skills/rich.tar.gz")
    assert b"secret-outside" not in said.body
    assert [path for path, _ in unpack(said.body)] == ["SKILL.md", "references/more.md", "scripts/run.py"]


def test_x40_llms_full_has_whole_pages_up_to_its_limit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    site = serve({"a.md": "# A\n\nSee [[b]].\n", "b.md": "---\ntitle: The b\n---\nText.\n", "c.md": "x " * 5_000})
    text = site.get("/llms-full.txt").text
    assert "Source: http" not in text
    assert "Source: /a.md\n\n# A\n\nSee [b](/b.md)." in text
    assert "Source: /b.md\n\n# The b\n\nText." in text
    monkeypatch.setattr("prosa.site.discovery.full_text.__defaults__", (2_000,))
    fresh = built(site)["llms-full.txt"].decode()
    assert len(fresh) < 2_000
    assert "1 more pages do not fit" in fresh


def test_x40_the_signal_of_the_user_stands_in_robots_and_headers(serve: Serve) -> None:
    site = serve({"index.md": "# Hi\n"}, signal="search=yes, ai-train=no")
    assert "Content-Signal: search=yes, ai-train=no\n" in site.get("/robots.txt").text
    assert site.get("/")["content-signal"] == "search=yes, ai-train=no"
    assert b"Content-Signal: search=yes" in built(site)["robots.txt"]
    assert "Content-Signal" not in serve({"index.md": "# Hi\n"}).get("/robots.txt").text


def test_x40_the_actions_are_described_as_openapi(look: Serve) -> None:
    site = look(FILES, origin="https://harbour.example")
    found = site.get("/openapi.json").json
    assert found["openapi"].startswith("3.1.")
    assert found["servers"] == [{"url": "https://harbour.example"}]
    listing = found["paths"]["/api/sailings"]["get"]
    assert listing["operationId"] == "sailings.list"
    assert [(each["name"], each["required"]) for each in listing["parameters"]] == [
        ("kind", True),
        ("day", True),
        ("page", False),
    ]
    book = found["paths"]["/api/sailings/{id}/berths"]["post"]
    assert book["security"] == [{"bearer": []}]
    body = found["components"]["schemas"]["sailings.book.body"]
    assert body["properties"]["who"] == {"$ref": "#/components/schemas/sailings.book.body/$defs/who"}


def test_x40_a_file_of_the_site_itself_keeps_its_place(serve: Serve) -> None:
    own: Files = {
        "index.md": "[api](openapi.json) [all](llms-full.txt)\n",
        "openapi.json": "{}",
        "llms-full.txt": "My.",
    }
    site = serve(own)
    assert site.get("/openapi.json").text == "{}"
    assert site.get("/llms-full.txt").text == "My."
    files = built(site)
    assert (files["openapi.json"], files["llms-full.txt"]) == (b"{}", b"My.")
    node = serve({"openapi.md": "# Our API\n"})
    assert node.get("/openapi.json").json["title"] == "Our API"
    assert json.loads(built(node)["openapi.json"])["title"] == "Our API"
