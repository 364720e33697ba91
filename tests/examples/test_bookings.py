"""The bookings of the example: a token, no change by a GET, each key once, nothing stored on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.ferries import TOKEN, WISH, api, booked, client

SAILING = f"/api/sailings/{WISH['sailing']}"


def seats(at: Any) -> int:
    left: int = at.get(SAILING).json()["seats_left"]
    return left


def test_a_booking_is_made_looked_at_and_cancelled():
    at = client()
    before = seats(at)
    made = booked(at)
    assert (made.status_code, made.headers["location"]) == (201, "/api/bookings/SK-1001")
    assert made.json() == {
        "id": "SK-1001",
        "status": "confirmed",
        **WISH,
        "price": {"amount": 21, "currency": "EUR"},
    }
    assert seats(at) == before - 2
    assert at.get("/api/bookings/SK-1001", headers=TOKEN).json() == made.json()
    cancelled = at.delete("/api/bookings/SK-1001", headers=TOKEN)
    assert (cancelled.status_code, cancelled.json()) == (200, made.json() | {"status": "cancelled"})
    assert at.delete("/api/bookings/SK-1001", headers=TOKEN).json() == cancelled.json()
    assert seats(at) == before


def test_hw6_bookings_are_numbered_not_drawn():
    """HW6: the ids follow from the order, so two servers that were asked the same say the same."""
    first, second = client(), client()
    assert [booked(first).json() for _ in range(3)] == [booked(second).json() for _ in range(3)]
    assert booked(first).json()["id"] == "SK-1004"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_hw6_a_get_books_nothing(method: str):
    """HW6."""
    at = client()
    answer = at.request(method, "/api/bookings", headers=TOKEN, params=WISH)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert at.get("/api/bookings/SK-1001", headers=TOKEN).status_code == 404


def test_h17_hw6_no_get_changes_anything():
    """H17, HW6: whatever is read in between, the desk is as it was."""
    at = client()
    booked(at, "one")
    before = repr(at.app.state.desk)
    for path in ("/api/sailings?from=HAR&to=KEL&date=2026-07-01", SAILING, "/api/fares", "/api/bookings/SK-1001"):
        for method in ("GET", "HEAD"):
            assert at.request(method, path, headers=TOKEN).status_code == 200
    assert repr(at.app.state.desk) == before


def test_h19_hw6_the_same_key_and_body_give_the_first_answer_again():
    """H19, HW6: also when the fields come in another order, and after the booking was cancelled."""
    at = client()
    first = booked(at, "k-1")
    headers = TOKEN | {"Idempotency-Key": "k-1"}
    at.delete("/api/bookings/SK-1001", headers=TOKEN)
    again = at.post("/api/bookings", headers=headers, json=dict(reversed(WISH.items())))
    assert (again.status_code, again.content, again.headers["location"]) == (
        201,
        first.content,
        first.headers["location"],
    )
    assert len(at.app.state.desk.bookings) == 1


def test_h19_a_key_with_another_body_is_refused():
    """H19."""
    at = client()
    booked(at, "k-1")
    other = booked(at, "k-1", passengers=3)
    assert (other.status_code, other.json()["type"]) == (422, "/errors#key-reused")
    assert booked(at, "k-2", passengers=3).status_code == 201
    assert len(at.app.state.desk.bookings) == 2


def test_h19_a_refused_wish_does_not_use_up_its_key():
    """H19."""
    at = client()
    assert booked(at, "k-1", passengers=0).status_code == 400
    assert booked(at, "k-1").status_code == 201


def test_without_a_key_two_requests_are_two_bookings():
    at = client()
    assert [booked(at).json()["id"] for _ in range(2)] == ["SK-1001", "SK-1002"]


def test_a_key_has_a_limit():
    answer = booked(client(), "k" * 101)
    assert (answer.status_code, answer.json()["parameter"]) == (400, "Idempotency-Key")


@pytest.mark.parametrize(
    "given_token", [None, "", "Bearer", "Bearer wrong", "Basic skerry-demo", "skerry-demo", "Bearer \xff"]
)
@pytest.mark.parametrize("method, path", [("POST", ""), ("GET", "/SK-1001"), ("DELETE", "/SK-1001")])
def test_a_booking_needs_the_token(given_token: str | None, method: str, path: str):
    at = client()
    booked(at)
    headers = {} if given_token is None else {"Authorization": given_token.encode("latin-1")}
    answer = at.request(method, f"/api/bookings{path}", headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (401, "/errors#no-token")
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert at.app.state.desk.bookings["SK-1001"]["status"] == "confirmed"
    assert len(at.app.state.desk.bookings) == 1


def test_h18_nothing_about_bookings_is_stored_on_the_way():
    """H18: made, shown, cancelled, refused, unknown."""
    at = client()
    answers = [
        booked(at, "k"),
        booked(at, "k"),
        at.get("/api/bookings/SK-1001", headers=TOKEN),
        at.delete("/api/bookings/SK-1001", headers=TOKEN),
        at.get("/api/bookings/SK-1001"),
        at.get("/api/bookings/SK-9", headers=TOKEN),
        at.get("/api/bookings"),
    ]
    assert [answer.headers["cache-control"] for answer in answers] == ["no-store"] * 7
    assert not any("etag" in answer.headers for answer in answers)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"sailing": "HAR-KEL-20260701-0631"}, "sailing"),
        ({"sailing": 7}, "sailing"),
        ({"name": ""}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": None}, "name"),
        ({"passengers": 0}, "passengers"),
        ({"passengers": 10}, "passengers"),
        ({"passengers": True}, "passengers"),
        ({"passengers": "2"}, "passengers"),
        ({"passengers": 2.0}, "passengers"),
        ({"vehicle": "horse"}, "vehicle"),
        ({"vehicle": None}, "vehicle"),
        ({"vehicle": ["car"]}, "vehicle"),
        ({"seats": 2}, "seats"),
    ],
    ids=str,
)
def test_a_wrong_field_is_refused_and_named(changes: dict[str, Any], field: str):
    at = client()
    answer = booked(at, **changes)
    problem = answer.json()
    assert (answer.status_code, problem["type"], problem["parameter"]) == (400, "/errors#bad-body", field)
    assert field in problem["detail"]
    assert at.app.state.desk.bookings == {}


@pytest.mark.parametrize("missing", ["sailing", "name", "passengers"])
def test_a_missing_field_is_refused(missing: str):
    wish = {name: value for name, value in WISH.items() if name != missing}
    answer = client().post("/api/bookings", headers=TOKEN, json=wish)
    assert (answer.status_code, answer.json()["parameter"]) == (400, missing)


def test_the_vehicle_is_optional():
    wish = {name: value for name, value in WISH.items() if name != "vehicle"}
    answer = client().post("/api/bookings", headers=TOKEN, json=wish)
    assert (answer.json()["vehicle"], answer.json()["price"]["amount"]) == ("none", 18)


@pytest.mark.parametrize(
    ("content", "kind", "status", "name"),
    [
        (b"{", "application/json", 400, "bad-body"),
        (b"", "application/json", 400, "bad-body"),
        (b"[]", "application/json", 400, "bad-body"),
        (b"\xff\xfe\xfd", "application/json", 400, "bad-body"),
        (b"[" * 8_000, "application/json", 400, "bad-body"),
        (b"9" * 8_000, "application/json", 400, "bad-body"),
        (b" " * 8_193, "application/json", 413, "too-large"),
        (b"{}", "text/plain", 415, "not-json"),
        (b"{}", "", 415, "not-json"),
    ],
    ids=["cut", "empty", "a list", "no text", "deep", "a long number", "large", "text", "no type"],
)
def test_a_body_that_is_no_wish_is_refused(content: bytes, kind: str, status: int, name: str):
    headers = TOKEN | ({"Content-Type": kind} if kind else {})
    answer = client().post("/api/bookings", headers=headers, content=content)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/errors#{name}")


def test_a_body_without_a_length_has_the_same_limit():
    answer = client().post(
        "/api/bookings", headers=TOKEN | {"Content-Type": "application/json"}, content=(b" " * 1_000 for _ in range(9))
    )
    assert answer.status_code == 413


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    )
)
def test_any_json_is_refused_in_words(value: Any):
    headers = TOKEN | {"Content-Type": "application/json"}
    answer = client().post("/api/bookings", headers=headers, content=json.dumps(value))
    assert (answer.status_code, answer.json()["type"]) == (400, "/errors#bad-body")


def test_a_name_may_be_anything_that_json_can_carry():
    at = client()
    sent = b'{"sailing": "HAR-KEL-20260701-0630", "name": "\\ud800 \\u001b[31m", "passengers": 1}'
    made = at.post("/api/bookings", headers=TOKEN | {"Content-Type": "application/json; charset=utf-8"}, content=sent)
    assert made.status_code == 201
    assert made.content.isascii() and b"\x1b" not in made.content
    assert at.get("/api/bookings/SK-1001", headers=TOKEN).content == made.content


def test_a_ship_takes_no_more_than_it_has_seats_for():
    at = client()
    left = seats(at)
    for _ in range(left // 9):
        assert booked(at, passengers=9).status_code == 201
    refused = booked(at, passengers=9)
    assert (refused.status_code, refused.json()["type"]) == (409, "/errors#sold-out")
    assert f"{left % 9} are left" in refused.json()["detail"]
    assert booked(at, passengers=left % 9).status_code == 201
    assert seats(at) == 0


def test_a_ship_without_a_ramp_takes_no_cars():
    answer = booked(client(), vehicle="car")
    assert (answer.status_code, answer.json()["parameter"]) == (409, "vehicle")
    assert booked(client(), vehicle="car", sailing="HAR-KEL-20260701-0800").json()["price"]["amount"] == 46


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(api(), "MAX_BOOKINGS", 2)
    at = client()
    booked(at, "a"), booked(at, "b")
    full = booked(at, "c")
    assert (full.status_code, full.json()["type"]) == (503, "/errors#desk-full")
    assert booked(at, "a").status_code == 201
    assert set(at.app.state.desk.keys) == {"a", "b"}
