"""The file of a chat while a turn is taken: locked, writable, trusted as before, and written below (PW4, X7).

In: the path of a chat, what was opened, a conversation. Out: a lock, a `Writing`, words for a reply that is not in the
chat. Whatever can be refused is refused before a model is asked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.app.chat_start import Opened, joint, user_name
from prosa.app.choices import Choices, Surroundings
from prosa.runtime.errors import RunError
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.adapters.files.append import Below
    from prosa.app.chat import Conversation
    from prosa.app.chat_text import TextBelow
    from prosa.app.chat_writing import Saved, Writing
    from prosa.source import SourceText


def size_limit(choices: Choices, around: Surroundings) -> int:
    """Bytes of the largest chat."""
    from prosa.adapters.files import MAX_DOCUMENT_BYTES

    return choices.max_size or around.settings.max_size or MAX_DOCUMENT_BYTES


def lock_of(path: Path, environ: Mapping[str, str]) -> AbstractContextManager[None]:
    """The lock of a chat; none where this user has no safe place for it. Entering it raises `Locked`."""
    from prosa.adapters.files import cache_dir
    from prosa.adapters.files.lock import only_one

    try:
        return only_one(path, cache_dir(environ))
    except OSError:
        return nullcontext()


def locked_words(path: Path) -> RunError:
    """What to say where another process holds the lock."""
    return RunError(f"{path}: another `prosa chat` is answering it, so nothing was sent", hint="wait until it is done")


def require_takes_replies(found: Opened) -> None:
    """Refuses a chat in which a reply could change what stands above it (X19). Raises `RunError`."""
    from prosa.dialects.prapti.below import takes_replies

    if not takes_replies(found.source.text):
        why = (
            "`---` opens front matter that never ends, and a line `---` in a reply would end it and take the chat away"
        )
        hint = "close the front matter with a line that is exactly `---`, or write `***` where a rule is meant"
        raise RunError(f"{found.path}:1: {why}, so nothing was sent", hint=hint)


def require_writable(found: Opened) -> None:
    """Refuses a chat that the reply could not be written to. Raises `RunError` and `FileProblem`."""
    from prosa.adapters.files.append import check_appendable

    require_takes_replies(found)
    try:
        if found.source.digest:
            check_appendable(found.path)
        elif not os.access(found.path if found.path.exists() else found.path.absolute().parent, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        text = f"{found.path}: may not be written ({error.strerror or error}), so nothing was sent"
        hint = "make it writable, or look at what would be sent: --dry-run"
        raise RunError(text, hint=hint) from None


def add_message(found: Opened, message: str, speaker: str | None, around: Surroundings, max_size: int) -> None:
    """Writes a message of the user into the file. Raises `RunError`."""
    try:
        below = found.write(message, speaker)
    except OSError as error:
        why = f"the message could not be written ({error.strerror or error})"
        raise RunError(f"{found.path}: {why}, so nothing was sent") from None
    if below is not None:
        keep_trust(found.source, below, around, max_size)


def keep_trust(before: SourceText, below: Below, around: Surroundings, max_size: int) -> None:
    """A chat that the user trusts stays trusted when nothing but ours was added: neither what the user says on the
    command line nor what a model says can be a line that configures (X7, PW2)."""
    from prosa.adapters.files import RootedFiles, config_dir
    from prosa.adapters.files.trust_store import TrustStore

    path = below.path
    try:
        store = TrustStore(config_dir(around.environ))
        if store.trusts(path, before.digest) and below.follows(before.text):
            store.renew(path, RootedFiles(max_size=max_size).read(path).digest)
    except (OSError, FileProblem, RunError) as problem:
        around.notice(f"note: {path} is no longer trusted: {problem}")


def writing_below(conversation: Conversation, below: Below | TextBelow) -> Writing:
    """What writes the replies of a conversation, and the heading for what is said next."""
    from prosa.app.chat_writing import Stream, Writing, places

    return Writing(
        below=below,
        before=conversation.source.text,
        asks=_next_heading(conversation),
        waiting=[Stream(place) for place in places(conversation.turns)],
        prelude=conversation.shown,
    )


def below_file(path: Path, max_size: int) -> Below:
    """The end of the file of a chat."""
    from prosa.adapters.files.append import Below

    return Below(path, joint(), max_size)


def lost_words(path: Path, saved: Saved, *, nowhere: str = "it could be saved nowhere") -> str:
    """What became of a reply that is not in its chat."""
    where = f"it is saved in {saved.beside}" if saved.beside else nowhere
    return f"{path}: the reply could not be written there ({saved.why}); {where}"


def _next_heading(conversation: Conversation) -> str:
    """The heading for what is said next: whoever asked asks again."""
    from prosa.dialects.prapti.write import heading

    if any(turn.mode == "completion" for turn in conversation.turns):
        return heading("prompt")
    return heading("user", user_name(conversation.source.text))
