"""The API of Skerry Ferries: sailings to search, seats to book. One file to read, to copy and to change.

In: ASGI requests below `/api`. Out: JSON; problems as `application/problem+json`, or as Markdown for who prefers that.
The sailings follow from the date by arithmetic, so every answer is the same on every day; bookings are kept in memory
and end with the process. Nothing is changed by a GET, and nothing is repaired in silence: a parameter, a cursor or a
body that is not understood is refused, and the refusal names it.
"""

import hashlib
import hmac
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TOKEN = "skerry-demo"  # noqa: S105 - everybody may have it: the page /tokens gives it away
PAGE_SIZE = 5
MAX_BODY, MAX_KEY = 8_192, 100
MAX_BOOKINGS = 500
"""Bookings that are remembered, cancelled ones too: memory is all there is."""

HARBOURS = ("HAR", "KEL", "NOR", "BRI", "VAN")
LINES = {("HAR", "KEL"): (35, 9), ("HAR", "NOR"): (50, 12), ("HAR", "BRI"): (70, 16)}
LINES |= {("KEL", "NOR"): (25, 7), ("BRI", "VAN"): (40, 10)}
"""Minutes and adult fare of every line; each sails in both directions."""

VESSELS = (("Guillemot", 120, True), ("Petrel", 60, False), ("Eider", 180, True))
"""Name, seats, and whether cars fit."""

VEHICLES = {"none": 0, "bicycle": 3, "car": 28}

_HARBOUR = ("|".join(HARBOURS), f"must be one of {', '.join(HARBOURS)}")
PARAMETERS = {
    "from": _HARBOUR,
    "to": _HARBOUR,
    "date": (r"20(2[6-9]|30)-\d\d-\d\d", "must be a day from 2026-01-01 to 2030-12-31"),
    "after": (r"([01]\d|2[0-3]):[0-5]\d", "must be a time as in 07:30"),
    "vehicle": ("|".join(VEHICLES), f"must be one of {', '.join(VEHICLES)}"),
    "page_size": (r"[1-9]|1\d|20", "must be a whole number from 1 to 20"),
    "cursor": (r"[\w-]+", "must be a cursor that an earlier page gave"),
}
"""Pattern and words of every query parameter."""

PROBLEMS = {
    "bad-parameter": (400, "A parameter is wrong"),
    "bad-cursor": (400, "The cursor does not belong to this search"),
    "bad-body": (400, "The body is wrong"),
    "no-token": (401, "A token is needed"),
    "not-found": (404, "There is nothing here"),
    "wrong-method": (405, "The method is not offered here"),
    "sold-out": (409, "There is no room left"),
    "too-large": (413, "The body is too large"),
    "not-json": (415, "The body must be JSON"),
    "key-reused": (422, "The key came with another body before"),
    "desk-full": (503, "No more bookings can be kept"),
}
"""Status and title of every problem; the page /errors has a section for each."""


class Problem(Exception):
    """A refusal: a name of `PROBLEMS`, words for this case, the parameter or field it is about, and headers."""

    def __init__(self, name: str, detail: str, about: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.name, self.detail, self.about, self.headers = name, detail, about, dict(headers or {})


# ---- the timetable: a day in, sailings out ----


def sailings_of(origin: str, goal: str, day: date) -> list[dict[str, Any]]:
    """Return the sailings of a day in order: eight in summer, five in winter, two fewer on Sundays, none at
    Christmas."""
    line = LINES.get((origin, goal)) or LINES.get((goal, origin))
    if line is None or (day.month, day.day) == (12, 25):
        return []
    summer = 4 <= day.month <= 10
    count = (8 if summer else 5) - (2 if day.weekday() == 6 else 0)
    first = 390 + 10 * HARBOURS.index(origin)
    return [_sailing(origin, goal, day, first + n * (90 if summer else 150), n, *line) for n in range(count)]


def _sailing(origin: str, goal: str, day: date, departs: int, n: int, minutes: int, fare: int) -> dict[str, Any]:
    vessel, seats, cars = VESSELS[(day.toordinal() + n) % len(VESSELS)]
    taken = (day.toordinal() * 7 + n * 13 + minutes) % (seats // 2)
    return {
        "id": f"{origin}-{goal}-{day:%Y%m%d}-{clock(departs).replace(':', '')}",
        "from": origin,
        "to": goal,
        "date": day.isoformat(),
        "departs": clock(departs),
        "arrives": clock(departs + minutes),
        "vessel": vessel,
        "takes_cars": cars,
        "seats_left": seats - taken,
        "price": {"amount": fare, "currency": "EUR"},
    }


def clock(minutes: int) -> str:
    """Minutes after midnight as `HH:MM`."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def sailing_at(identifier: str) -> dict[str, Any] | None:
    """Return the sailing with an id, or None."""
    found = re.fullmatch(r"([A-Z]{3})-([A-Z]{3})-(20\d\d)(\d\d)(\d\d)-\d{4}", identifier, re.ASCII)
    day = day_of("-".join(found.groups()[2:])) if found else None
    every = sailings_of(found[1], found[2], day) if found and day else []
    return next((each for each in every if each["id"] == identifier), None)


def day_of(text: str) -> date | None:
    """Return the day that the timetable has under `YYYY-MM-DD`."""
    try:
        return date.fromisoformat(text) if re.fullmatch(PARAMETERS["date"][0], text, re.ASCII) else None
    except ValueError:
        return None


# ---- sailings ----


async def search(request: Request) -> Response:
    """Answer `GET /api/sailings`: one page of the sailings of a day, in the envelope of MDH section 9.2."""
    asked = parameters(request, ("from", "to", "date"), ("after", "vehicle", "page_size", "cursor"))
    query = {name: text for name, text in asked.items() if name not in ("page_size", "cursor")}
    found, size = found_by(query), int(asked.get("page_size", PAGE_SIZE))
    at = offset_of(asked["cursor"], query, len(found)) if "cursor" in asked else 0
    following = cursor_of(at + size, query) if at + size < len(found) else None
    previous = cursor_of(max(0, at - size), query) if at else None
    links = {"self": f"/api/sailings?{urlencode(asked)}"}
    if following:
        links["next"] = f"/api/sailings?{urlencode(asked | {'cursor': following})}"
    page = {"page_size": size, "next_cursor": following, "prev_cursor": previous}
    sailings = [request.app.state.desk.up_to_date(each) for each in found[at : at + size]]
    return answer(request, {"query": query, "page": page, "links": links, "sailings": sailings})


def found_by(query: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return every sailing that a search asks for. Raises `Problem`."""
    day = day_of(query["date"])
    if day is None:
        raise wrong("date", "must be a day of the calendar", query["date"])
    if query["from"] == query["to"]:
        raise wrong("to", "must be another harbour than `from`", query["to"])
    late = [each for each in sailings_of(query["from"], query["to"], day) if each["departs"] >= query.get("after", "")]
    return [each for each in late if each["takes_cars"] or query.get("vehicle") != "car"]


def cursor_of(offset: int, query: Mapping[str, str]) -> str:
    """Return an opaque text that stands for a place in the results of one search, and of no other."""
    place = f"{offset} {urlencode(sorted(query.items()))}"
    digest = hashlib.blake2b(place.encode(), digest_size=6).hexdigest()
    return urlsafe_b64encode(f"{offset}.{digest}".encode()).rstrip(b"=").decode()


def offset_of(cursor: str, query: Mapping[str, str], total: int) -> int:
    """Return the place that a cursor stands for. Any text that `cursor_of` would not give is refused: to begin again at
    the first page would send a client round in circles."""
    for offset in range(total):
        if cursor == cursor_of(offset, query):
            return offset
    detail = "`cursor` is none that this search gave; take `page.next_cursor` as it is, or begin without a cursor"
    raise Problem("bad-cursor", detail, "cursor")


async def sailing(request: Request) -> Response:
    """Answer `GET /api/sailings/{id}`."""
    parameters(request)
    found = sailing_at(request.path_params["id"])
    if found is None:
        raise Problem("not-found", f"there is no sailing {quoted(request.path_params['id'])}", "id")
    return answer(request, request.app.state.desk.up_to_date(found))


async def fares(request: Request) -> Response:
    """Answer `GET /api/fares`: public and the same for everybody, so it may be kept for an hour."""
    parameters(request)
    lines = [{"between": list(ends), "minutes": line[0], "adult": line[1]} for ends, line in LINES.items()]
    content = {"currency": "EUR", "lines": lines, "vehicles": VEHICLES}
    return answer(request, content, headers={"Cache-Control": "public, max-age=3600"})


# ---- bookings ----


@dataclass(slots=True)
class Desk:
    """What the process remembers: bookings by id, and for each key the body it came with and what was answered."""

    bookings: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)

    def up_to_date(self, sailing: dict[str, Any]) -> dict[str, Any]:
        """Return a sailing without the seats that are booked here."""
        confirmed = (each for each in self.bookings.values() if each["status"] == "confirmed")
        booked = sum(each["passengers"] for each in confirmed if each["sailing"] == sailing["id"])
        return sailing | {"seats_left": sailing["seats_left"] - booked}


async def book(request: Request) -> Response:
    """Answer `POST /api/bookings`. The same `Idempotency-Key` with the same body gives the first answer again."""
    authorized(request)
    parameters(request)
    at, key = request.app.state.desk, request.headers.get("idempotency-key", "")
    if len(key) > MAX_KEY:
        raise wrong("Idempotency-Key", f"must have at most {MAX_KEY} characters", key)
    wish = wish_in(await body_of(request))
    # No `await` from here on: two requests with one key cannot both find it unused.
    text = json.dumps(wish, sort_keys=True)
    known = at.keys.get(key) or (text, create(at, wish))
    if known[0] != text:
        raise Problem(
            "key-reused", "`Idempotency-Key` came with another body before; take a new key", "Idempotency-Key"
        )
    if key:
        at.keys[key] = known
    return answer(request, known[1], 201, {"Location": f"/api/bookings/{known[1]['id']}"})


def create(at: Desk, wish: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a new booking and give a copy of it, which later changes do not reach. Raises `Problem`."""
    found, people, vehicle = sailing_at(wish["sailing"]), wish["passengers"], wish["vehicle"]
    if found is None:
        raise Problem("bad-body", f"`sailing`: there is no sailing {quoted(wish['sailing'])}", "sailing")
    if vehicle == "car" and not found["takes_cars"]:
        raise Problem("sold-out", f"the {found['vessel']} carries no cars; search with vehicle=car", "vehicle")
    if people > (left := at.up_to_date(found)["seats_left"]):
        raise Problem("sold-out", f"{people} seats were asked for, and {left} are left on {found['id']}", "passengers")
    if len(at.bookings) >= MAX_BOOKINGS:
        raise Problem("desk-full", f"this example keeps {MAX_BOOKINGS} bookings; start it again")
    price = {"amount": people * found["price"]["amount"] + VEHICLES[vehicle], "currency": "EUR"}
    booking = {"id": f"SK-{1001 + len(at.bookings)}", "status": "confirmed", **wish, "price": price}
    at.bookings[booking["id"]] = booking
    return dict(booking)


async def booking(request: Request) -> Response:
    """Answer `GET` and `DELETE /api/bookings/{id}`. A booking that is cancelled stays, so cancelling again changes
    nothing."""
    authorized(request)
    parameters(request)
    found = request.app.state.desk.bookings.get(request.path_params["id"])
    if found is None:
        raise Problem("not-found", f"there is no booking {quoted(request.path_params['id'])}", "id")
    if request.method == "DELETE":
        found["status"] = "cancelled"
    return answer(request, found)


def authorized(request: Request) -> None:
    """Raise `Problem` without the token."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), TOKEN.encode()):
        detail = "send `Authorization: Bearer TOKEN`; the page /tokens has a token"
        raise Problem("no-token", detail, headers={"WWW-Authenticate": 'Bearer realm="Skerry Ferries"'})


async def body_of(request: Request) -> object:
    """Return the JSON that was sent. Raises `Problem`."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem("not-json", "send `Content-Type: application/json`")
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise Problem("too-large", f"a booking has at most {MAX_BODY} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Problem("bad-body", "the body is no JSON") from None


def wish_in(value: object) -> dict[str, Any]:
    """Return the four fields of a booking, each of its kind. Raises `Problem` for the first that is wrong."""
    wish = value | {"vehicle": value.get("vehicle", "none")} if isinstance(value, dict) else {}
    texts = {name: text for name, text in wish.items() if isinstance(text, str)}
    people = wish.get("passengers")
    checks = {
        "sailing": ("sailing" in texts, "must be the id of a sailing"),
        "name": (texts.get("name", "").strip() and len(texts["name"]) <= 80, "must have 1 to 80 characters"),
        "passengers": (type(people) is int and 1 <= people <= 9, "must be a whole number from 1 to 9"),
        "vehicle": (texts.get("vehicle") in VEHICLES, PARAMETERS["vehicle"][1]),
    }
    checks |= {name: (False, "is no field of a booking") for name in sorted(wish) if name not in checks}
    for name, (well, words) in checks.items():
        if not well:
            raise Problem("bad-body", f"{quoted(name)} {words}", name[:MAX_KEY])
    return wish


# ---- requests and answers ----


def parameters(request: Request, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the query. Raises `Problem` for a parameter that is unknown, repeated, missing or not of its form."""
    found: dict[str, str] = {}
    for name, text in request.query_params.multi_items():
        if name not in (*required, *optional):
            known = ", ".join((*required, *optional)) or "none"
            raise wrong(name[:MAX_KEY], f"is unknown here (the parameters: {known})", text)
        if name in found or not re.fullmatch(PARAMETERS[name][0], text, re.ASCII):
            raise wrong(name, "must be given once" if name in found else PARAMETERS[name][1], text)
        found[name] = text
    for name in required:
        if name not in found:
            raise wrong(name, f"is required; it {PARAMETERS[name][1]}")
    return found


def wrong(name: str, words: str, text: str = "") -> Problem:
    """Return the problem of one parameter."""
    return Problem("bad-parameter", f"{quoted(name)} {words}" + (f"; found {quoted(text)}" if text else ""), name)


def quoted(text: str) -> str:
    """Return what a client sent, short and without control characters."""
    return ascii(text if len(text) <= 40 else f"{text[:40]}...")


def answer(request: Request, content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON. Bookings concern one person and are never stored; all else has an ETag, so asking again is cheap."""
    body = json.dumps(content, separators=(",", ":")).encode()
    every = {"Content-Type": "application/json", "Cache-Control": freshness(request), **(headers or {})}
    if request.method in ("GET", "HEAD") and every["Cache-Control"] != "no-store":
        every["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
        if known & {every["ETag"], "*"}:
            return Response(b"", 304, {name: every[name] for name in ("ETag", "Cache-Control")})
    return Response(body, status, every)


def freshness(request: Request) -> str:
    """Return `Cache-Control` where an answer has none of its own."""
    return "no-store" if request.url.path.startswith("/api/bookings") else "no-cache"


async def refused(request: Request, error: Exception) -> Response:
    """Return a `Problem`, or what the router says, as JSON (RFC 9457) or as Markdown, whichever the client likes
    better."""
    if isinstance(error, HTTPException):
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        offered = Problem("wrong-method", f"this address answers {allowed}", headers={"Allow": allowed})
        error = offered if error.status_code == 405 else Problem("not-found", "no such address; see the page /errors")
    assert isinstance(error, Problem)
    status, title = PROBLEMS[error.name]
    headers = {"Vary": "Accept", "Cache-Control": freshness(request), **error.headers}
    accept = request.headers.get("accept", "")
    if quality(accept, "text/markdown") > quality(accept, "application/json"):
        text = f"# {title}\n\nStatus {status}: {error.detail}.\n\nMore on [errors](/errors#{error.name}).\n"
        return Response(text, status, headers | {"Content-Type": "text/markdown; charset=utf-8"})
    content = {"type": f"/errors#{error.name}", "title": title, "status": status, "detail": error.detail}
    content |= {"parameter": error.about} if error.about else {}
    return Response(json.dumps(content), status, headers | {"Content-Type": "application/problem+json"})


def quality(accept: str, media_type: str) -> float:
    """Return how much a client wants a media type: the `q` of its most exact range (RFC 9110, 12.5.1)."""
    found: dict[str, float] = {}
    for item in accept.lower().split(","):
        kind, _, rest = item.partition(";")
        weight = re.search(r"(?:^|;)\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)", rest, re.ASCII)
        found[kind.strip()] = float(weight[1]) if weight else 1.0
    ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((found[each] for each in ranges if each in found), 0.0)


def create_app() -> Starlette:
    """Create an app with a memory of its own."""
    routes = [
        Route("/api/sailings", search),
        Route("/api/sailings/{id}", sailing),
        Route("/api/fares", fares),
        Route("/api/bookings", book, methods=["POST"]),
        Route("/api/bookings/{id}", booking, methods=["GET", "DELETE"]),
    ]
    made = Starlette(routes=routes, exception_handlers={Problem: refused, HTTPException: refused})
    made.router.redirect_slashes = False
    made.state.desk = Desk()
    return made


app = create_app()
