"""Problems of an installation, and what to do next: read-only, and without any secret.

In: the environment and the working folder. Out: one `Finding` for each examined part. Nothing is written, run or
requested over the network, except by `reach_services` on the user's request.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa import __version__
from prosa.adapters.files import config_dir, find_root
from prosa.adapters.files.places import cache_place
from prosa.adapters.files.trust_store import KEYS_FILE, stored_keys
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, KEY_VARIABLE
from prosa.adapters.providers.reach import reach
from prosa.adapters.providers.table import PROVIDERS
from prosa.adapters.sandbox import missing_part
from prosa.adapters.sqlite.opening import index_path
from prosa.app.login.renewal import login_words, logins
from prosa.app.options import EMBEDDED, Environment, Options
from prosa.app.run.server_credentials import configured
from prosa.app.run.service import THREE_WAYS, Route, resolve, service_words
from prosa.app.settings import settings_for
from prosa.app.trust import AGREEMENT_VARIABLE, stored_agreement
from prosa.dialects.markdownlang.agreement import PHRASES, index_of
from prosa.extras import ALL, EXTRAS, LIBRARIES, install_line, is_installed
from prosa.runtime.errors import RunError
from prosa.settings import PROJECT_FILES, USER_FILE, Settings, is_about_prosa
from prosa.source import FileProblem

State: TypeAlias = Literal["ok", "note", "warning", "broken"]

EDITORS = {"nvim": "Neovim", "code": "VS Code", "codium": "VSCodium", "hx": "Helix", "emacs": "Emacs", "zed": "Zed"}

MOST_FILES = 20_000
"""Files of the cache that are counted."""


class Finding(Struct, frozen=True):
    """One examined part: its ``name``, its state, the finding, and what to do if anything helps.

    ``broken`` prevents Prosa from working, ``warning`` prevents some of it, ``note`` is information.
    """

    name: str
    state: State
    message: str
    next: str = ""


def examine(environ: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Return all findings that need no network."""
    looks: tuple[Callable[[Mapping[str, str], Path], Iterator[Finding]], ...] = (
        _installation,
        _command,
        _settings,
        _keys,
        _servers,
        _logins,
        _model,
        _cache,
        _index,
        _sandbox,
        _embedded,
        _agreement,
        _extras,
        _editors,
    )
    return tuple(finding for look in looks for finding in _guarded(look, environ, folder))


def reach_services(environ: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Return whether the service that the user's own choice leads to answers at all. No key is sent."""
    settings = _known_settings(environ, folder)
    environment = Environment(environ=environ, settings=settings)
    route = resolve(Options(), environment, model_name=settings.model_name)
    if route.kind == "embedded":
        return (_starts(route, settings, environment),)
    url = route.service or DEFAULT_BASE_URL
    answer = reach(url)
    if answer.answers:
        return (Finding("service", "ok", f"{url} answers ({answer.words})"),)
    return (
        Finding("service", "warning", f"{url} does not answer: {answer.words}", "look at the address and the network"),
    )


def _starts(route: Route, settings: Settings, environment: Environment) -> Finding:
    """Return whether the embedded model that the user chose starts."""
    import asyncio

    from prosa.app.run.embedded import open_embedded

    async def start() -> None:
        provider = await open_embedded(route.word or EMBEDDED, environment)
        try:
            await provider.start()
        finally:
            await provider.aclose()

    try:
        asyncio.run(start())
    except RunError as error:
        return Finding("service", "warning", error.message, error.hint)
    return Finding("service", "ok", f"the embedded model {settings.model_name} starts")


def _guarded(
    look: Callable[[Mapping[str, str], Path], Iterator[Finding]], environ: Mapping[str, str], folder: Path
) -> Iterator[Finding]:
    """Yield the results of an examination; a failure is itself a finding."""
    try:
        yield from look(environ, folder)
    except (OSError, RunError, FileProblem) as error:
        hint = error.hint if isinstance(error, RunError) else ""
        yield Finding(look.__name__.strip("_"), "broken", str(error), hint)


def _installation(_environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    yield Finding("prosa", "ok", f"{__version__}, {_kind()}, at {Path(__file__).parents[1]}")
    python = f"{platform.python_implementation()} {platform.python_version()}, at {sys.executable}"
    yield Finding("python", "ok", f"{python}, on {platform.system()} {platform.machine()}")
    absent = [name for name in LIBRARIES if find_spec(name) is None]
    if absent:
        yield Finding("libraries", "note", f"those that read; for runs and sites also: {', '.join(absent)}", ALL)


def _kind() -> str:
    """Return how this Prosa was installed."""
    try:
        package = distribution("prosa-core")
    except PackageNotFoundError:
        return "run from its source"
    url = package.read_text("direct_url.json") or ""
    return "installed to be edited" if '"editable": true' in url else "installed"


def _command(environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    """Yield which `prosa` a shell would start."""
    executable = shutil.which("prosa", path=environ.get("PATH", ""))
    own = Path(sys.executable).with_name("prosa")
    if executable is None:
        yield Finding("command", "warning", "no `prosa` is on the PATH", f"add {own.parent} to PATH")
    elif Path(executable).resolve() != own.resolve():
        message = f"a shell starts {executable}, which is not the one that runs now"
        yield Finding("command", "warning", message, "remove one of the two, or change the order of PATH")
    else:
        yield Finding("command", "ok", executable)


def _settings(environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    messages: list[str] = []
    user = config_dir(environ) / USER_FILE
    root = find_root(folder)
    project = next((root / name for name in PROJECT_FILES if _is_ours(root / name)), None)
    try:
        settings_for(folder, environ, messages.append)
    except (RunError, FileProblem) as error:
        yield Finding(
            "settings", "broken", str(error), getattr(error, "hint", "") or "correct the file, or move it away"
        )
        return
    for warning in messages:
        yield Finding("settings", "warning", warning.removeprefix("warning: "), "correct or delete the line")
    yield Finding("user settings", "ok", str(user) if user.is_file() else f"none ({user})")
    yield Finding("project", "ok", f"{root}, {f'settings in {project.name}' if project else 'without settings'}")


def _is_ours(path: Path) -> bool:
    return path.is_file() and is_about_prosa(path.name, path.read_text(encoding="utf-8", errors="replace"))


def _known_settings(environ: Mapping[str, str], folder: Path) -> Settings:
    try:
        return settings_for(folder, environ)
    except (RunError, FileProblem):
        return Settings()


def _keys(environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Yield the names of variables with keys, and never a key."""
    names = [name for row in PROVIDERS for name in row.key_variables]
    own = _known_settings(environ, folder)
    names += [
        *own.key_variables.values(),
        *(provider.api_key_env for provider in own.providers.values() if provider.api_key_env),
    ]
    here = [name for name in dict.fromkeys(names) if environ.get(name, "").strip()]
    stored = [name for name in stored_keys(config_dir(environ)) if name not in here]
    parts = [f"set: {', '.join(here) or 'none'}"]
    if stored:
        parts.append(f"in {KEYS_FILE}: {', '.join(stored)}")
    missing = [name for name in dict.fromkeys(names) if name not in here and name not in stored]
    yield Finding("keys", "ok" if here or stored else "note", "; ".join([*parts, f"not set: {', '.join(missing)}"]))


def _servers(environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Yield the variables whose values are sent to MCP servers, without the values."""
    for origin, here, missing in configured(_known_settings(environ, folder), environ):
        parts = [f"set: {', '.join(here)}"] if here else []
        parts += [f"not set: {', '.join(missing)}"] if missing else []
        todo = f"set {missing[0]}, or take it out of `servers` in your settings" if missing else ""
        yield Finding("mcp servers", "warning" if missing else "ok", f"{origin}: {'; '.join(parts)}", todo)


def _logins(environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Yield the logins at MCP servers, and when they end."""
    _ = folder
    for login in logins(environ):
        is_over = login.refresh_token is None and login.is_stale(time.time())
        todo = f"run: prosa login {login.server}" if is_over else ""
        yield Finding("logins", "warning" if is_over else "ok", login_words(login), todo)


def _model(environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    settings = _known_settings(environ, folder)
    words = service_words(Options(), Environment(environ=environ, settings=settings), model_name=settings.model_name)
    if "would fail" in words:
        other = "set the variable, or choose another model: `prosa models` lists those that are available"
        yield Finding("model", "warning", words, THREE_WAYS if KEY_VARIABLE in words else other)
    else:
        yield Finding("model", "ok", f"a run asks {words}{f', the model {settings.model}' if settings.model else ''}")


def _cache(environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    place = cache_place(environ)
    if not place.exists():
        yield Finding("cache", "ok", f"{place} (not made yet)")
        return
    status = place.stat()
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        yield Finding("cache", "broken", f"{place} belongs to another user", "remove it or set PROSA_CACHE_DIR")
    elif os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Finding("cache", "broken", f"{place} may be written by others", f"remove it: rm -r {place}")
    elif not os.access(place, os.W_OK):
        yield Finding("cache", "warning", f"{place} cannot be written", "make it writable, or set PROSA_CACHE_DIR")
    else:
        yield Finding("cache", "ok", f"{place}, {_size(place)}")


def _size(place: Path) -> str:
    count = size = 0
    for folder, _, names in os.walk(place):
        for name in names:
            count += 1
            size += _bytes(Path(folder, name))
            if count >= MOST_FILES:
                return f"more than {size / 2**20:,.1f} MB"
    return f"{size / 2**20:,.1f} MB in {count:,} files"


def _bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _index(environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    root = find_root(folder)
    path = index_path(cache_place(environ) / "index", root)
    if path.exists():
        yield Finding("index", "ok", f"of {root}: {path.stat().st_size / 2**20:,.1f} MB")
    else:
        yield Finding("index", "note", f"of {root}: none yet; the first search makes it")


def _sandbox(environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    lacking = missing_part()
    if lacking:
        yield Finding("sandbox", "warning", lacking, "programs run without the python tool until then")
        return
    place = cache_place(environ)
    compiled = any(place.rglob("*.cwasm")) if place.exists() else False
    yield Finding("sandbox", "ok", "ready" if compiled else "ready; compiled at its first use, which takes a while")


def _embedded(environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    """Yield the engine and the weights of the models that run in a process of Prosa, with their hash."""
    from prosa.adapters.embedded.machine import memory_left
    from prosa.adapters.embedded.weights import TABLE, fault_of
    from prosa.app.run.embedded import engine_fault, models_folder

    if (wrong := engine_fault()) is not None:
        yield Finding("embedded", "note", wrong.message, wrong.hint)
        return
    least = 500_000_000
    for row in TABLE:
        path = models_folder(environ) / row.file
        if (fault := fault_of(row, path, whole=True)) is not None:
            yield Finding("embedded", "warning" if path.exists() else "note", fault.message, fault.hint)
        elif (left := memory_left()) is not None and left < least:
            message = f"{row.name} is here, and only {left / 1e6:,.0f} MB of memory are free"
            yield Finding("embedded", "warning", message, "close other programs: it needs about 0.4 GB")
        else:
            yield Finding("embedded", "ok", f"{row.name} is here, and its hash is right: --model embedded")


def _agreement(environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    agreement, phrase = stored_agreement(environ), environ.get(AGREEMENT_VARIABLE, "")
    if agreement.record is None and index_of(phrase) is not None:
        yield Finding("agreement", "ok", f"accepted by {AGREEMENT_VARIABLE}, as long as it is set")
    elif agreement.record is None and phrase:
        wrong = f"not accepted; {AGREEMENT_VARIABLE} is set, but holds none of the {len(PHRASES)} phrases"
        yield Finding("agreement", "warning", wrong, "prosa agree")
    elif agreement.problem:
        yield Finding("agreement", "warning", agreement.problem, "accept it again: prosa agree")
    elif agreement.record is None:
        yield Finding("agreement", "note", "not accepted; programs ask for it before their first run", "prosa agree")
    else:
        yield Finding("agreement", "ok", f"accepted ({agreement.path})")


def _extras(_environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    for name, extra in EXTRAS.items():
        if is_installed(name):
            yield Finding(f"extra {name}", "ok", f"installed: {extra.purpose}")
        else:
            yield Finding(f"extra {name}", "note", f"not installed: {extra.purpose}", install_line(name))


def _editors(environ: Mapping[str, str], _folder: Path) -> Iterator[Finding]:
    titles = [title for name, title in EDITORS.items() if shutil.which(name, path=environ.get("PATH", ""))]
    yield Finding("editors", "ok" if titles else "note", ", ".join(titles) or "none found on the PATH")
