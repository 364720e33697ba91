"""`prosa.chat` and `prosa.achat`: the replies to a message, and a chat file that continues."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

from msgspec.structs import replace

from prosa.api.arguments import (
    RunOptions,
    environment_of,
    log,
    options_of,
    path_of,
    provider_of,
    synchronous,
    takes,
    words,
)
from prosa.app.chat.prepare import ChatOptions
from prosa.app.chat.turn import ChatResult, TurnRequest, take_turn
from prosa.app.options import NO_RIGHTS, SiteRights
from prosa.runtime.events import ignore
from prosa.runtime.ports import Provider
from prosa.source import SourceText


@takes(RunOptions)
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
    provider: Provider | str | None = None,
    **options: Unpack[RunOptions],
) -> ChatResult:
    """Answer the last message of a chat, or ``message``, which is added first as one of ``speaker`` (P2, P7).

    ``path_or_text`` is read as by `load`; an empty or missing chat is created. ``write`` adds the message and the
    replies to the file. ``n`` requests several replies, ``force`` sends the chat whatever its last message is.
    ``tools``, ``skills``, ``plugins``, ``config_files``, ``default_config``, ``trusted``, ``legacy`` are as the flags
    of `prosa chat`. ``provider`` is a name, or replaces the model service; ``sites`` are as in `arun`.

    Raises `RunError` if there is nothing to answer or a reply fails, `ProgramRefused` for errors in the chat;
    `FileProblem`; ValueError for options that contradict each other; TypeError for an invalid provider.

    Further options:
    """
    path = path_of(path_or_text)
    (name, own), tools, environment = provider_of(provider), words(tools), environment_of(path, options.get("environ"))
    typed = tuple(tool.removeprefix("mdh:") for tool in tools if tool.startswith("mdh:"))
    rights = replace(sites, named=(*sites.named, *typed))
    request = TurnRequest(
        options=options_of(options, environment, own, provider=name, site_rights=rights),
        environment=environment,
        asked=ChatOptions(
            config_files=_paths(config_files),
            default_config=default_config,
            tools=tools,
            plugins=words(plugins),
            trusted=trusted,
            legacy=legacy,
            force=force,
            n=n,
            skills=_paths(skills),
        ),
        speaker=speaker,
        write=write,
        provider=own,
        listener=options.get("listener", ignore),
    )
    result = await take_turn(path or SourceText(str(path_or_text)), message, request)
    if result.error is not None:
        log(f"note: {result.error.message}")
    return result


def _paths(paths: Iterable[str | Path]) -> tuple[Path, ...]:
    """Return the paths of an argument, which may be a single one."""
    return tuple(map(Path, (paths,) if isinstance(paths, str | Path) else paths))


chat = synchronous(achat, "chat")
