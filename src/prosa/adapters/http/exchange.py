"""Requests to a site and their answers, with every bound that X8 and X9 ask for. In: a `Request`. Out: an `Answer`, or
`HttpProblem`.

No proxy, no cookie and no password file of this machine is used. Redirects are followed one by one: each address is
checked again, and the credential stays with its origin. A change is repeated only where the site says that it did
nothing, or could not be reached, under the same `Idempotency-Key`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urldefrag, urljoin

from msgspec import Struct
from msgspec.structs import replace

from prosa import __version__
from prosa.adapters.http.address import refused_host
from prosa.site.answer import MOVED, Answer
from prosa.site.problems import HttpProblem
from prosa.site.request import Request
from prosa.source.url import Origin, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2

MAX_REDIRECTS = 10
"""RFC 9110 leaves the number open; more is a circle."""

MAX_WAIT = 10.0
"""Seconds that `Retry-After` is obeyed; who asks for more is not asked again."""

_AGAIN = frozenset({429, 503})
"""Answers that say nothing was done (RFC 6585, RFC 9110)."""

_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")
"""What OpenSSL says where plain HTTP answers."""

_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
"""Methods that may be sent twice without a second effect (RFC 9110, section 9.2.2)."""


class Bounds(Struct, frozen=True):
    """The limits of an exchange: total seconds, bytes of an answer, attempts, and allowed addresses.

    ``named`` is a local host with its port that the user named, which permits exactly that. Without ``follow`` a
    redirect is returned unchanged, with its `location` among the headers.
    """

    seconds: float = 30.0
    size: int = 10 * 1024 * 1024
    attempts: int = 3
    allow_private: bool = False
    named: tuple[str, int] | None = None
    follow: bool = True


class Exchange:
    """The connections of one call. ``clock`` gives seconds that only ever grow."""

    def __init__(self, bounds: Bounds, *, clock: Callable[[], float] = time.monotonic) -> None:
        import httpx2

        from prosa.adapters.http.transport import CheckedTransport

        self._bounds, self._clock = bounds, clock
        transport = CheckedTransport(allow_private=bounds.allow_private, clock=clock, named=bounds.named)
        self._client = httpx2.Client(transport=transport, trust_env=False, follow_redirects=False)

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def send(self, request: Request) -> Answer:
        """Return the answer to a request, whatever its status. Raises `HttpProblem`."""
        deadline = self._clock() + self._bounds.seconds
        for attempt in range(1, self._bounds.attempts + 1):
            last = attempt == self._bounds.attempts
            try:
                answer = self._follow(request, deadline)
            except HttpProblem as problem:
                wait = _pause(attempt, "")
                if last or not _again(request, problem) or self._clock() + wait >= deadline:
                    raise
                time.sleep(wait)
                continue
            wait = _pause(attempt, answer.retry_after)
            if last or answer.status not in _AGAIN or wait > MAX_WAIT or self._clock() + wait >= deadline:
                return answer
            time.sleep(wait)
        raise AssertionError("an attempt returns or raises")

    def _follow(self, request: Request, deadline: float) -> Answer:
        for _ in range(MAX_REDIRECTS):
            answer, location = self._once(request, deadline)
            if answer.status not in MOVED or not location or not self._bounds.follow:
                return answer
            request = redirected(request, answer.status, location)
        raise HttpProblem(f"{request.origin} redirects more than {MAX_REDIRECTS} times")

    def _once(self, request: Request, deadline: float) -> tuple[Answer, str]:
        import httpx2

        from prosa.adapters.http.transport import DEADLINE

        left = max(0.001, deadline - self._clock())
        headers = {"User-Agent": f"prosa/{__version__}", "Accept-Encoding": "identity", **request.sent_headers()}
        host = request.origin.host
        try:
            asked = self._client.build_request(
                request.method,
                request.address(),
                headers=headers,
                content=request.content,
                timeout=left,
                extensions={DEADLINE: deadline},
            )
            response = self._client.send(asked, stream=True)
            try:
                return self._answer(request, response, deadline), response.headers.get("location", "")
            finally:
                response.close()
        except httpx2.TimeoutException:
            raise self._late(host) from None
        except httpx2.ConnectError as error:
            raise not_connected(request.origin, error) from None
        except httpx2.InvalidURL:
            raise refused_host(host) from None
        except (httpx2.HTTPError, OSError):
            raise HttpProblem(f"{host} broke off the exchange", again="if-repeatable") from None

    def _answer(self, request: Request, response: httpx2.Response, deadline: float) -> Answer:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise HttpProblem(f"{request.origin.host} sent a compressed answer, which was not requested")
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > self._bounds.size:
                message = f"{request.origin.host} sent more than {self._bounds.size:,} bytes"
                raise HttpProblem(message, "raise the limit with --max-size")
            if self._clock() > deadline:
                raise self._late(request.origin.host)
        kind = response.headers.get("content-type", "").lower()
        url, again = request.address(show=False), response.headers.get("retry-after", "")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(url, response.status_code, response.reason_phrase, kind, bytes(body), again, headers)

    def _late(self, host: str) -> HttpProblem:
        return HttpProblem(
            f"{host} did not answer within {self._bounds.seconds:g} s", "raise it with --timeout", again="if-repeatable"
        )


def not_connected(origin: Origin, error: BaseException) -> HttpProblem:
    """Return why the connection failed, with the port, and the message of the system."""
    place, text = f"{origin.host} at port {origin.port}", str(error)
    if "CERTIFICATE" in text:
        return HttpProblem(f"{place} cannot be trusted: TLS failed", "check its certificate")
    if any(phrase in text for phrase in _NO_TLS):
        hint = f"if the site is without TLS, ask http://{str(origin).partition('://')[2]}"
        return HttpProblem(f"{place} does not speak TLS, as https:// demands", hint)
    if "SSL" in text:
        return HttpProblem(f"{place} cannot be trusted: TLS failed", "check that it speaks TLS 1.2 or later")
    words = next((cause.strerror for cause in causes_of(error) if isinstance(cause, OSError) and cause.strerror), "")
    reason = f": {words[:1].lower()}{words[1:]}" if words else ""
    return HttpProblem(f"{place} cannot be reached{reason}", "check the URL, and that the site runs", again="always")


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, outermost first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _again(request: Request, problem: HttpProblem) -> bool:
    may = request.method in _REPEATABLE and not request.once
    return problem.again == "always" or (problem.again == "if-repeatable" and may)


def redirected(request: Request, status: int, location: str) -> Request:
    """Return the request that a redirect asks for; without its credential at another origin (HA12). Raises
    `HttpProblem`."""
    try:
        url = urldefrag(urljoin(request.address(), location))[0]
        origin = origin_of(url)
    except ValueError:
        raise HttpProblem(f"{request.origin} redirects to an address that is not an http URL") from None
    where, _, query = url.partition("?")
    moved = replace(request, url=where, query=tuple(parse_qsl(query, keep_blank_values=True)))
    if origin != request.origin:
        moved = moved.without_credential()
    if request.method == "GET":
        return moved
    if status == 303:
        return replace(moved, method="GET", body=None, headers=_of_get(request))
    if origin != request.origin or status not in (307, 308):
        message = f"{request.origin} redirects a {request.method} to {origin}; what it carries is not sent there"
        raise HttpProblem(message)
    return moved


def _of_get(request: Request) -> dict[str, str]:
    return {name: value for name, value in request.headers.items() if name == "Accept"}


def _pause(attempt: int, retry_after: str) -> float:
    """Return seconds before the next attempt: the site's delay, else half a second doubled each time."""
    delay = retry_after.strip()
    return float(delay[:9]) if delay.isascii() and delay.isdigit() else 0.5 * 2 ** (attempt - 1)
