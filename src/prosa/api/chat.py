"""`prosa.chat` and `prosa.achat`: the replies to a message, and a chat file that continues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from prosa.api.arguments import (
    Amount,
    ApiName,
    environment_of,
    log,
    options_of,
    path_of,
    provider_of,
    synchronous,
    with_service,
    words,
)
from prosa.app.chat.prepare import ChatOptions
from prosa.app.chat.turn import ChatResult, TurnRequest, take_turn
from prosa.app.options import NO_RIGHTS, Record, Replay, SiteRights
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider
from prosa.source import SourceText


async def achat(
    path_or_text: str | Path,
    message: str | None = None,
    *,
    speaker: str | None = None,
    n: int | None = None,
    write: bool = False,
    force: bool = False,
    tools: Iterable[str] = (),
    skills: Iterable[str | Path] = (),
    plugins: Iterable[str] = (),
    config_files: Iterable[str | Path] = (),
    default_config: bool = True,
    trusted: bool = False,
    legacy: bool = False,
    sites: SiteRights = NO_RIGHTS,
    model: str | None = None,
    provider: Provider | str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: ApiName | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    max_output_tokens: int | None = None,
    max_cost: Amount | None = None,
    allow_cut: bool = False,
    allow_servers: bool = False,
    record: str | Path | Record | None = None,
    replay: str | Path | Replay | None = None,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> ChatResult:
    """Answer the last message of a chat, or ``message``, which is added first as one of ``speaker`` (P2, P7).

    ``path_or_text`` is read as by `load`; an empty or missing chat is created. ``write`` adds the message and the
    replies to the file. ``n`` requests several replies, ``force`` sends the chat whatever its last message is.
    ``tools``, ``skills``, ``plugins``, ``config_files``, ``default_config``, ``trusted``, ``legacy`` are as the flags
    of `prosa chat`. ``provider`` is a name, or replaces the model service. ``model``, ``base_url``, ``api_key``,
    ``api``, ``max_iterations``, ``retries``, ``timeout``, ``root``, ``max_output_tokens``, ``max_cost``, ``sites``,
    ``allow_cut``, ``allow_servers``, ``record``, ``replay``, ``listener``, ``environ`` are as in `arun`.

    Raises `RunError` if there is nothing to answer or a reply fails, `ProgramRefused` for errors in the chat;
    `FileProblem`; ValueError for options that contradict each other; TypeError for an invalid provider.
    """
    path = path_of(path_or_text)
    (name, own), tools, around = provider_of(provider), words(tools), environment_of(path, environ)
    typed = tuple(each.removeprefix("mdh:") for each in tools if each.startswith("mdh:"))
    rights = replace(sites, named=(*sites.named, *typed))
    said = model, name, base_url, api_key, api, max_iterations, retries, timeout, root, allow_cut, allow_servers
    options = options_of(*said, max_output_tokens, max_cost, rights, record=record, replay=replay)
    chosen = _paths(config_files), default_config, tools, words(plugins), trusted, legacy, force, n
    asked = ChatOptions(*chosen, skills=_paths(skills))
    request = TurnRequest(with_service(options, around, own), around, asked, speaker, write, own, listener)
    result = await take_turn(path or SourceText(str(path_or_text)), message, request)
    if result.error is not None:
        log(f"note: {result.error.message}")
    return result


def _paths(given: Iterable[str | Path]) -> tuple[Path, ...]:
    """Return the paths of an argument, which may be a single one."""
    return tuple(map(Path, (given,) if isinstance(given, str | Path) else given))


chat = synchronous(achat, "chat")
