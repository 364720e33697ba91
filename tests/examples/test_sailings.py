"""The sailings of the example: the envelope, the pages, and everything that is refused instead of guessed."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.ferries import api, client, found

ROUTES = [
    (start, goal) for start in ("HAR", "KEL", "NOR", "BRI", "VAN") for goal in ("HAR", "KEL", "NOR", "BRI", "VAN")
]


def test_h22_a_search_has_the_shape_of_the_appendix():
    """H22: the query as asked, the page, the links, one list of priced offers."""
    answer = found(client())
    assert list(answer) == ["query", "page", "links", "sailings"]
    assert answer["query"] == {"from": "HAR", "to": "KEL", "date": "2026-07-01"}
    first = answer["sailings"][0]
    assert (first["id"], first["price"]) == ("HAR-KEL-20260701-0630", {"amount": 9, "currency": "EUR"})


def test_h16_hw7_the_envelope_is_that_of_the_specification():
    """H16, HW7: cursors under `page`, addresses under `links`; the last page has a null cursor and no next link."""
    at = client()
    first = found(at)
    assert set(first["page"]) == {"page_size", "next_cursor", "prev_cursor"}
    assert (first["page"]["page_size"], first["page"]["prev_cursor"]) == (5, None)
    assert first["links"]["self"] == "/api/sailings?from=HAR&to=KEL&date=2026-07-01"
    last = at.get(first["links"]["next"]).json()
    assert last == found(at, cursor=first["page"]["next_cursor"])
    assert (last["page"]["next_cursor"], set(last["links"])) == (None, {"self"})
    assert last["links"]["self"] == first["links"]["next"]
    assert found(at, cursor=last["page"]["prev_cursor"])["sailings"] == first["sailings"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 20])
def test_h16_pages_of_every_size_hold_each_sailing_once(size: int):
    at, whole = client(), found(client(), page_size=20)["sailings"]
    cursor, seen = None, []
    while True:
        page = found(at, page_size=size, **({"cursor": cursor} if cursor else {}))
        assert len(page["sailings"]) <= size
        seen += page["sailings"]
        cursor = page["page"]["next_cursor"]
        if cursor is None:
            break
    assert seen == whole
    assert len(whole) == 8


def _cursor() -> str:
    cursor: str = found(client())["page"]["next_cursor"]
    return cursor


@pytest.mark.parametrize(
    "changed",
    [
        {"to": "NOR"},
        {"date": "2026-07-02"},
        {"after": "00:00"},
        {"vehicle": "car"},
    ],
    ids=str,
)
def test_hw7_a_cursor_belongs_to_the_search_that_gave_it(changed: dict[str, str]):
    """HW7."""
    query = {"from": "HAR", "to": "KEL", "date": "2026-07-01", "cursor": _cursor()} | changed
    answer = client().get("/api/sailings", params=query)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["type"], answer.json()["parameter"]) == ("/errors#bad-cursor", "cursor")


@given(cursor=st.text("abcdefMNOPQRS0123456789-_", min_size=1, max_size=40))
def test_hw7_a_made_up_cursor_never_begins_again(cursor: str):
    """HW7: it is a 400, not the first page."""
    query = {"from": "HAR", "to": "KEL", "date": "2026-07-01", "cursor": cursor}
    assert client().get("/api/sailings", params=query).status_code == 400


@pytest.mark.parametrize("change", ["other place", "cut", "longer", "padded", "empty", "old offset"])
def test_hw7_a_changed_cursor_is_refused(change: str):
    """HW7."""
    cursor = _cursor()
    forms = {
        "other place": urlsafe_b64encode(b"3.528697b02ff4").decode(),
        "cut": cursor[:-1],
        "longer": f"{cursor}A",
        "padded": f"{cursor}=",
        "empty": "",
        "old offset": "5",
    }
    query = {"from": "HAR", "to": "KEL", "date": "2026-07-01", "cursor": forms[change]}
    answer = client().get("/api/sailings", params=query)
    assert (answer.status_code, answer.json()["parameter"]) == (400, "cursor")


@pytest.mark.parametrize(
    ("query", "parameter", "words"),
    [
        ("to=KEL&date=2026-07-01", "from", "is required; it must be one of HAR, KEL"),
        ("from=HAR&to=KEL", "date", "is required"),
        ("from=HAR&to=&date=2026-07-01", "to", "must be one of"),
        ("from=OSL&to=KEL&date=2026-07-01", "from", "must be one of HAR, KEL, NOR, BRI, VAN; found 'OSL'"),
        ("from=HAR&to=HAR&date=2026-07-01", "to", "another harbour"),
        ("from=HAR&to=KEL&date=1.7.2026", "date", "must be a day from 2026-01-01 to 2030-12-31"),
        ("from=HAR&to=KEL&date=2025-12-31", "date", "must be a day from"),
        ("from=HAR&to=KEL&date=2031-01-01", "date", "must be a day from"),
        ("from=HAR&to=KEL&date=2026-02-29", "date", "must be a day of the calendar"),
        ("from=HAR&to=KEL&date=٢٠٢٦-07-01", "date", "must be a day from"),
        ("from=HAR&to=KEL&date=2026-07-01&after=25:00", "after", "must be a time as in 07:30"),
        ("from=HAR&to=KEL&date=2026-07-01&vehicle=horse", "vehicle", "must be one of none, bicycle, car"),
        ("from=HAR&to=KEL&date=2026-07-01&page_size=0", "page_size", "from 1 to 20"),
        ("from=HAR&to=KEL&date=2026-07-01&page_size=21", "page_size", "from 1 to 20"),
        ("from=HAR&to=KEL&date=2026-07-01&page_size=5.0", "page_size", "from 1 to 20"),
        ("from=HAR&to=KEL&date=2026-07-01&form=HAR", "form", "is unknown here"),
        ("from=HAR&from=NOR&to=KEL&date=2026-07-01", "from", "must be given once"),
    ],
)
def test_a_wrong_parameter_is_refused_and_named(query: str, parameter: str, words: str):
    answer = client().get(f"/api/sailings?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    problem = answer.json()
    assert (problem["parameter"], problem["status"], problem["type"]) == (parameter, 400, "/errors#bad-parameter")
    assert words in problem["detail"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"after": "14:00"}, ["14:00", "15:30", "17:00"]),
        ({"vehicle": "car"}, ["08:00", "09:30", "12:30", "14:00", "17:00"]),
        ({"vehicle": "car", "after": "14:01"}, ["17:00"]),
        ({"date": "2026-12-25"}, []),
        ({"date": "2026-12-24", "after": "14:00"}, ["14:00", "16:30"]),
        ({"from_": "KEL", "to": "VAN"}, []),
    ],
    ids=str,
)
def test_filters_leave_what_fits(query: dict[str, str], expected: list[str]):
    answer = found(client(), page_size=20, **query)
    assert [each["departs"] for each in answer["sailings"]] == expected
    assert answer["page"]["next_cursor"] is None


@given(day=st.dates(date(2026, 1, 1), date(2030, 12, 31)), route=st.sampled_from(ROUTES))
def test_hw6_the_sailings_of_a_day_are_the_same_whenever_one_asks(day: date, route: tuple[str, str]):
    """HW6: no randomness; and every sailing is found again by its id, with room on a ship."""
    sailings: list[dict[str, Any]] = api().sailings_of(*route, day)
    assert sailings == api().sailings_of(*route, day)
    assert [api().sailing_at(each["id"]) for each in sailings] == sailings
    assert all(0 < each["seats_left"] <= 180 and each["departs"] < each["arrives"] < "24:00" for each in sailings)
    assert len({each["id"] for each in sailings}) == len(sailings)


@pytest.mark.parametrize(
    "identifier",
    ["HAR-KEL-20260701-0631", "HAR-VAN-20260701-0630", "HAR-KEL-20260230-0630", "HAR-KEL-20310101-0630", "x", "\u0661"],
)
def test_an_unknown_sailing_is_not_found(identifier: str):
    answer = client().get(f"/api/sailings/{identifier}")
    assert (answer.status_code, answer.json()["parameter"]) == (404, "id")
