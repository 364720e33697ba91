"""`prosa visit --skills`: what a site offers is listed, checked against its digests, and never run (X40)."""

from __future__ import annotations

import io
import json
import os
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.main import main
from prosa.site.archive import pack
from tests.app.client.visit.site import Site
from tests.app.client.visit.visiting import NOWHERE, visit
from tests.cli.desk import desk

INDEX = "/.well-known/agent-skills/index.json"
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
BODY = b"---\nname: tie\ndescription: Ties knots.\n---\nTie it.\n"
RICH = [("SKILL.md", BODY.replace(b"tie", b"rich")), ("scripts/run.sh", b"touch ran\n")]


def entry(name: str = "tie", data: bytes = BODY, **more: Any) -> dict[str, Any]:
    digest = f"sha256:{sha256(data).hexdigest()}"
    known = {"name": name, "type": "skill-md", "description": "Ties knots.", "url": f"{name}/SKILL.md"}
    return {**known, "digest": digest, **more}


def offers(site: Site, *entries: Any, schema: str | None = SCHEMA, **files: bytes) -> None:
    """Lets the site offer skills; ``files`` are by their path below the index."""
    value = {**({"$schema": schema} if schema else {}), "skills": list(entries)}
    site.pages[INDEX] = (200, "application/json", json.dumps(value).encode(), {})
    site.pages["/.well-known/agent-skills/tie/SKILL.md"] = (200, "text/markdown", BODY, {})
    for path, data in files.items():
        site.pages[f"/.well-known/agent-skills/{path}.tar.gz"] = (200, "application/gzip", data, {})


def archive(name: str, data: bytes, **more: Any) -> dict[str, Any]:
    return entry(name, data, type="archive", url=f"{name}.tar.gz", **more)


def linked() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as box:
        for name, kind, link, data in (
            ("SKILL.md", tarfile.REGTYPE, "", b"---\nname: evil\n---\n"),
            ("x", tarfile.SYMTYPE, "/", b""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, link, len(data)
            box.addfile(member, io.BytesIO(data))
    return out.getvalue()


def test_x40_skills_are_listed(site: Site) -> None:
    offers(site, entry(), entry("other", description="\x1b[31mred"))
    status, at = visit(f"{site.url}/", "--skills")
    assert (status, at.out) == (0, "tie    Ties knots.\nother  �[31mred\n")
    assert site.methods == {"GET"}
    found = json.loads(visit(f"{site.url}/", "--skills", "--format", "json")[1].out)
    assert found["skills"][0]["url"] == f"{site.url}/.well-known/agent-skills/tie/SKILL.md"
    assert found["skills"][0]["digest"] == f"sha256:{sha256(BODY).hexdigest()}"


def test_x40_skills_are_fetched_checked_and_never_run(site: Site, tmp_path: Path) -> None:
    data = pack(RICH)
    offers(site, entry(), archive("rich", data), rich=data)
    folder = tmp_path / "skills"
    status, at = visit(f"{site.url}/", "--skills", "-o", str(folder))
    assert (status, at.out) == (0, "fetched  tie\nfetched  rich\n"), at.err
    assert (folder / "tie/SKILL.md").read_bytes() == BODY
    assert (folder / "rich/scripts/run.sh").read_bytes() == b"touch ran\n"
    assert not os.access(folder / "rich/scripts/run.sh", os.X_OK)
    assert sorted(each.name for each in folder.iterdir()) == ["rich", "tie"]
    assert visit(f"{site.url}/", "--skills", "-o", str(folder))[1].out == "same     tie\nsame     rich\n"
    (folder / "tie/SKILL.md").write_text("mine")
    status, at = visit(f"{site.url}/", "--skills", "-o", str(folder), "--skill", "tie")
    assert status == 1
    assert at.out.startswith("kept     tie: ")
    assert (folder / "tie/SKILL.md").read_text() == "mine"


def test_x40_what_is_not_as_the_index_says_is_refused(site: Site, tmp_path: Path) -> None:
    evil, other = linked(), pack([("SKILL.md", b"---\nname: another\n---\n")])
    offers(
        site,
        entry(digest=f"sha256:{'0' * 64}"),
        archive("evil", evil),
        archive("other", other),
        entry("away", url=f"{site.other}/.well-known/agent-skills/tie/SKILL.md"),
        entry("gone"),
        archive("junk", b"junk"),
        evil=evil,
        other=other,
        junk=b"junk",
    )
    status, at = visit(f"{site.url}/", "--skills", "-o", str(tmp_path / "skills"))
    assert status == 1
    said = dict(line.removeprefix("refused  ").split(": ", 1) for line in at.out.splitlines())
    assert "its digest is" in said["tie"]
    assert "a link" in said["evil"]
    assert "has the name 'another'" in said["other"]
    assert "--any-origin" in said["away"]
    assert "404" in said["gone"]
    assert "neither" in said["junk"]
    assert not list(tmp_path.iterdir())


def test_x40_an_index_below_the_path_of_a_site_is_found(site: Site) -> None:
    offers(site, entry())
    site.pages[f"/docs{INDEX}"] = site.pages.pop(INDEX)
    for url in ("/docs", "/docs/", "/docs/page?x#y"):
        assert visit(f"{site.url}{url}", "--skills")[1].out == "tie  Ties knots.\n"
    assert visit(f"{site.url}/other", "--skills")[0] == 1


def test_x40_a_wrong_index_is_said_to_be_wrong(site: Site, tmp_path: Path) -> None:
    status, at = visit(f"{site.url}/", "--skills")
    assert (status, "404" in at.err, "lists no skills" in at.err) == (1, True, True)
    for schema, words in ((None, "version 0.1.0"), ("https://x.example/9", "is known")):
        offers(site, entry(), schema=schema)
        status, at = visit(f"{site.url}/", "--skills", "-o", str(tmp_path / "s"))
        assert (status, words in at.err) == (1, True)
    wrong: tuple[Any, ...] = (
        5,
        entry("Bad"),
        entry("../up"),
        entry(type="zip"),
        entry(digest="sha256:1"),
        entry(url=5),
        entry(url="file:///etc/passwd"),
        entry(description=""),
    )
    offers(site, *wrong, entry(), entry())
    status, at = visit(f"{site.url}/", "--skills")
    assert (status, at.out) == (0, "tie  Ties knots.\n")
    assert at.err.count("warning: skills[") == 9
    site.pages[INDEX] = (200, "application/json", b"[" * 100_000, {})
    assert visit(f"{site.url}/", "--skills")[0] == 1


def as_data(site: Site, *words: str) -> tuple[int, str]:
    at = desk("", {"PROSA_CONFIG_DIR": str(NOWHERE)})
    return main(["visit", f"{site.url}/", "--skills", "--format", "json", *words], at.console), at.err


def test_x43_a_wrong_index_is_one_line_of_json(site: Site, tmp_path: Path) -> None:
    offers(site, entry("Bad"), entry())
    for more in ((), ("-o", str(tmp_path / "s"))):
        status, err = as_data(site, *more)
        assert (status, err) == (0, "")
    offers(site, entry(), schema=None)
    for more in ((), ("-o", str(tmp_path / "t"))):
        status, err = as_data(site, *more)
        (line,) = err.splitlines()
        assert (status, json.loads(line)["error"]) == (1, "site-failed")
        assert "version 0.1.0" in json.loads(line)["message"]


def test_x43_a_skill_that_is_not_fetched_is_an_error_in_json_too(site: Site, tmp_path: Path) -> None:
    offers(site, entry(), entry("loose", digest=f"sha256:{64 * '0'}"))
    status, said = as_data(site, "-o", str(tmp_path / "skills"))
    assert status == 1
    error = json.loads(said)
    assert (error["error"], error["message"]) == ("not-written", "1 skill was not fetched")
    assert (tmp_path / "skills/tie/SKILL.md").read_bytes() == BODY


def test_x40_ten_thousand_skills_are_listed(site: Site) -> None:
    offers(site, *(entry(f"s-{number}") for number in range(10_000)))
    status, at = visit(f"{site.url}/", "--skills")
    assert status == 0
    assert at.out.count("\n") == 10_000


@pytest.mark.parametrize(
    "words",
    [
        ("--skill", "tie"),
        ("-o", "x"),
        ("--skills", "--skill", "tie"),
        ("--skills", "--follow", "1"),
        ("--skills", "--crawl", "x"),
        ("--skills", "-o", "x", "--skill", "ties"),
    ],
)
def test_flags_that_do_not_fit_are_wrong_use(site: Site, words: tuple[str, ...]) -> None:
    offers(site, entry())
    status, at = visit(f"{site.url}/", *words)
    assert status == 2
    assert at.err.startswith("error: ")
