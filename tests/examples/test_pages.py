"""The pages of the example: nothing to report in them, and what they say is what the API does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.cli.main import main
from prosa.site.contract import read_contract
from prosa.site.pages import Pages, items_of, next_page
from prosa.site.request import build_request
from tests.cli.desk import desk
from tests.examples.ferries import FOLDER, HOST, PAGES, WISH, actions, api, booked, client, sent
from tests.house.examples import differences, surroundings

FILES = sorted(PAGES.rglob("*.md"))
SHOWN = re.compile(r"^`GET (/api/\S+)`\n\n```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("flags", [(), ("--strict",)])
def test_the_pages_have_no_findings(flags: tuple[str, ...]):
    at = desk()
    assert main(["check", str(PAGES), *flags], at.console) == 0
    assert "Nothing found in 14 documents" in at.out + at.err


def test_the_pages_are_nodes_with_ids_of_one_namespace_and_typed_links():
    nodes = [prosa.load(str(page)).front_matter for page in FILES]
    assert 12 <= len(nodes) <= 14
    ids = {node["id"] for node in nodes}
    assert len(ids) == len(nodes)
    assert all(each.startswith("skerry:") for each in ids)
    assert {link["target"] for node in nodes for link in node["links"]} <= ids
    assert all(link["rel"] for node in nodes for link in node["links"])


def test_hw8_every_action_says_how_it_is_authenticated_and_is_declared_once():
    """HW8."""
    found = actions()
    assert len(found) == 6
    assert all(each["auth"]["type"] in ("none", "bearer") for each in found.values())
    assert {name for name, each in found.items() if each["auth"]["type"] == "bearer"} == {
        name for name in found if name.startswith("bookings.")
    }


def test_every_example_of_an_action_is_a_request_that_succeeds():
    """The contract makes the request; the API answers it."""
    tried = [(name, number) for name, action in actions().items() for number in range(len(action["examples"]))]
    assert len(tried) >= len(actions())
    for name, number in tried:
        succeeds(name, number)


def succeeds(name: str, number: int) -> None:
    """Make the request of one example; the API must answer it."""
    action, at = actions()[name], client()
    if "SK-1001" in str(action["examples"]):
        booked(at)
    given = {
        part: action["examples"][number][part]
        for part in ("query", "path", "body")
        if part in action["examples"][number]
    }
    request = prosa.mdh.request(action, given, site_root=HOST, token="skerry-demo", idempotency_key="k")
    answer = sent(at, request)
    assert answer.status_code == (201 if name == "bookings.create" else 200), answer.text
    assert answer.headers["content-type"] == action["accept"]


@pytest.mark.parametrize(
    "page", [page for page in FILES if SHOWN.search(page.read_text("utf-8"))], ids=lambda page: page.stem
)
def test_every_answer_that_a_page_shows_is_the_real_one(page: Path):
    for path, shown in SHOWN.findall(page.read_text("utf-8")):
        assert json.loads(shown) == client().get(path).json()


def test_the_booking_that_its_page_shows_is_the_real_one():
    wish, booking = re.findall(
        r"^```json\n(.*?)^```$", (PAGES / "booking.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert json.loads(wish) == WISH == actions()["bookings.create"]["examples"][0]["body"]
    assert json.loads(booking) == booked(client()).json()


def test_h15_the_client_walks_through_all_pages_by_the_contract():
    """H15, H16: what the page declares is enough to find every sailing once."""
    at, contract = client(), read_contract(actions()["sailings.search"])
    query = {"from": "HAR", "to": "KEL", "date": "2026-07-01", "page_size": 3}
    state: Pages | None = Pages(build_request(contract, {"query": query}, site_root=HOST))
    seen: list[Any] = []
    while state is not None:
        answer = sent(at, state.request.as_dict(show=True)).json()
        seen += items_of(answer)
        last = state.count
        state = next_page(contract, answer, state)
    assert (len(seen), len({each["id"] for each in seen}), last) == (8, 8, 3)


def test_the_contract_declares_what_the_api_takes():
    declared = actions()["sailings.search"]["query"]
    assert {*declared["required"], *declared["optional"]} == set(declared["properties"]) == set(api().PARAMETERS)
    assert tuple(declared["properties"]["from"]["enum"]) == api().HARBOURS
    assert declared["properties"]["vehicle"]["enum"] == list(api().VEHICLES)


def test_the_fares_of_the_page_are_those_of_the_api():
    rows = re.findall(r"^\| \w+ to \w+ \| (\d+) \| (\d+) \|$", (PAGES / "fares.md").read_text("utf-8"), re.MULTILINE)
    assert [(int(minutes), int(fare)) for minutes, fare in rows] == list(api().LINES.values())


def test_the_examples_of_the_readme_hold(tmp_path: Path):
    (tmp_path / "ferries").symlink_to(FOLDER)
    wrong = [
        str(each) for each in differences((FOLDER / "README.md").read_text("utf-8"), tmp_path, surroundings(tmp_path))
    ]
    assert not wrong, "\n\n".join(wrong)
