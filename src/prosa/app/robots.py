"""What a site lets robots read: `robots.txt`, asked for before anything else of a walk (RFC 9309).

In: a client that does not follow redirects. Out: `Robots`. A site without the file allows everything; one whose file
cannot be had forbids everything, which is an error, since there is nothing to walk.
"""

from __future__ import annotations

from prosa.adapters.http.problems import HttpProblem
from prosa.app.site_client import SiteClient
from prosa.site.page_link import led, same_site
from prosa.site.robots import ALL, Robots, read_robots

PATH = "/robots.txt"
MAX_MOVES = 5
"""The least number of redirects that RFC 9309 asks to follow."""


def robots_of(client: SiteClient, start: str) -> Robots:
    """The rules for us. Raises `HttpProblem` where the site does not give its file for a fault of its own."""
    url = led(start, PATH)
    for _ in range(MAX_MOVES + 1):
        answer = client.get(url, "text/plain, */*;q=0.1")
        to = led(url, answer.moved_to) if answer.moved_to else ""
        if to and same_site(to, start):
            url = to
            continue
        if answer.is_success:
            return read_robots(answer.body.decode("utf-8", "replace"))
        if answer.status >= 500:
            said = f"{url} answers {answer.status} {answer.reason}".rstrip()
            raise HttpProblem(f"{said}, so nothing of the site may be asked for", "try again later")
        return ALL
    return ALL
