"""The text of a chat during a turn: opened or created, with a message at its end, and replies below (PA6, PW4).

In: the path of a chat or its text, and a message. Out: the opened text, a lock, a `Writing`, a message about an
unsaved reply. All refusals happen before any model call; concurrent changes by other programs are kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.files import RootedFiles, cache_dir, config_dir, find_root, replace_file
from prosa.adapters.files.append import Below, Joint, check_appendable
from prosa.adapters.files.lock import only_one
from prosa.adapters.files.read import real_path
from prosa.adapters.files.trust_store import TrustStore
from prosa.app.chat.writing import Stream, TextBelow, Writing, places
from prosa.app.options import Environment, Options
from prosa.dialects.front import read_front
from prosa.dialects.prapti.content import escaped
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.write import find_lines_below, heading, lead, line_end, takes_replies
from prosa.document import parse
from prosa.runtime.errors import RunError
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.app.chat.prepare import Conversation
    from prosa.app.chat.writing import Saved
    from prosa.dialects.prapti import ChatMessage

TREE_TEMPLATE = ".praptistart.md"
USER_TEMPLATE = "start.md"
BUILT_IN = "### @user:\n\n"
ASKING = ("user", "prompt")


class Opened(Struct, frozen=True):
    """A chat. ``begins`` says that its text is that of a template and not in the file yet."""

    path: Path
    source: SourceText
    begins: bool
    max_size: int

    def with_message(self, message: str, speaker: str | None) -> SourceText:
        """Return the text with a message at its end, as it would be written."""
        text = self.source.text
        added = "".join(message_pieces(text, message, speaker))
        return SourceText(text + lead(text) + added, self.source.path, self.source.digest)

    def write(self, message: str | None, speaker: str | None) -> Below | None:
        """Update the file: a new one from the template, or the message below the text, and return the text written
        below. Raises `OSError` and `FileProblem`."""
        if self.begins:
            text = self.source.text if message is None else self.with_message(message, speaker).text
            replace_file(self.path, text, expect_digest=self.source.digest)
            return None
        below = Below(self.path, joint(), self.max_size)
        if message is not None:
            below.add(*message_pieces(self.source.text, message, speaker))
            below.finish()
        return below


def opened(path: Path, choices: Options, environ: Mapping[str, str], max_size: int) -> Opened:
    """Return the chat at a path; a template where there is none, or an empty one. Raises `FileProblem`."""
    try:
        source = RootedFiles(max_size=max_size).read(path)
    except FileProblem as problem:
        if problem.kind != "missing":
            raise
        if not path.parent.is_dir():
            raise FileProblem(path, "missing", f"the folder {path.parent} does not exist") from None
        if path.is_symlink():
            raise FileProblem(path, "missing", "is a link to a file that does not exist") from None
        source = SourceText("", str(path))
    return begun(path, source, choices, environ, max_size)


def begun(path: Path, source: SourceText, choices: Options, environ: Mapping[str, str], max_size: int) -> Opened:
    """Return a chat that was read; a template where it says nothing. Raises `FileProblem`."""
    if source.text.removeprefix("\ufeff").strip():
        return Opened(path, source, begins=False, max_size=max_size)
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    text = mark + template(path, choices, environ, max_size)
    return Opened(path, SourceText(text, str(path), source.digest), begins=True, max_size=max_size)


def template(path: Path, choices: Options, environ: Mapping[str, str], max_size: int) -> str:
    """Return how a chat begins: `.praptistart.md` in its folder or one above it, within the root; `start.md` in the
    folder of the user's settings; else an empty message of the user. Raises `FileProblem`."""
    root = real_path(choices.root or find_root(path))
    folder = real_path(path.parent)
    for each in (folder, *folder.parents):
        if (each / TREE_TEMPLATE).is_file():
            return _text(RootedFiles(root, max_size=max_size).read(each / TREE_TEMPLATE))
        if each == root:
            break
    own = config_dir(environ) / USER_TEMPLATE
    return _text(RootedFiles(max_size=max_size).read(own)) if own.is_file() else BUILT_IN


def _text(source: SourceText) -> str:
    return source.text.removeprefix("\ufeff") or BUILT_IN


def message_pieces(text: str, message: str, speaker: str | None) -> list[str]:
    """Return the message in its written form: under the empty message of the user at the end, or under a new
    heading."""
    last = _messages(text)[-1]
    waits = last.known_role in ASKING and not last.disabled and not last.content.strip()
    content = f"{escaped(message)}\n"
    if waits and speaker in (None, last.name):
        return [content]
    return [f"{heading('user', speaker or user_name(text))}\n\n", content]


def user_name(text: str) -> str | None:
    """Return the name under which the user spoke last."""
    return next((each.name for each in reversed(_messages(text)) if each.known_role == "user" and each.sent), None)


def _messages(text: str) -> tuple[ChatMessage, ...]:
    source = SourceText(text)
    front = read_front(source)
    return read(front, parse(source, body=front.body))[0].messages


def joint() -> Joint:
    """Return how text joins a chat."""
    return Joint(lead, line_end, find_lines_below, whole="### @")


def lock_of(path: Path, environ: Mapping[str, str]) -> AbstractContextManager[None]:
    """Return the lock of a chat; none where this user has no safe place for it. Entering it raises `Locked`."""
    try:
        return only_one(path, cache_dir(environ))
    except OSError:
        return nullcontext()


def locked_words(path: Path) -> RunError:
    """Return what to say where another process holds the lock."""
    return RunError(f"{path}: another `prosa chat` is answering it, so nothing was sent", hint="wait until it is done")


def require_takes_replies(found: Opened) -> None:
    """Refuse a chat in which a reply could change what stands above it (X19). Raises `RunError`."""
    if not takes_replies(found.source.text):
        why = (
            "`---` opens front matter that never ends, and a line `---` in a reply would end it and take the chat away"
        )
        hint = "close the front matter with a line that is exactly `---`, or write `***` where a rule is meant"
        raise RunError(f"{found.path}:1: {why}, so nothing was sent", hint=hint)


def require_writable(found: Opened) -> None:
    """Refuse a chat that the reply could not be written to. Raises `RunError` and `FileProblem`."""
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


def add_message(found: Opened, message: str, speaker: str | None, around: Environment, max_size: int) -> None:
    """Write a message of the user into the file. Raises `RunError`."""
    try:
        below = found.write(message, speaker)
    except OSError as error:
        why = f"the message could not be written ({error.strerror or error})"
        raise RunError(f"{found.path}: {why}, so nothing was sent") from None
    if below is not None:
        keep_trust(found.source, below, around, max_size)


def keep_trust(before: SourceText, below: Below, around: Environment, max_size: int) -> None:
    """Keep a chat trusted if only Prosa's text was added: neither the user's message nor a model's reply can be a line
    that configures (X7, PW2)."""
    path = below.path
    try:
        store = TrustStore(config_dir(around.environ))
        if store.trusts(path, before.digest) and below.follows(before.text):
            store.renew(path, RootedFiles(max_size=max_size).read(path).digest)
    except (OSError, FileProblem, RunError) as problem:
        around.notice(f"note: {path} is no longer trusted: {problem}")


def writing_below(conversation: Conversation, below: Below | TextBelow) -> Writing:
    """Return the writer of the replies of a conversation, and the heading for the next message."""
    return Writing(
        below=below,
        before=conversation.source.text,
        asks=_next_heading(conversation),
        waiting=[Stream(place) for place in places(conversation.turns)],
        prelude=conversation.shown,
    )


def below_file(path: Path, max_size: int) -> Below:
    """Return the end of the file of a chat."""
    return Below(path, joint(), max_size)


def lost_words(path: Path, saved: Saved, *, nowhere: str = "it could be saved nowhere") -> str:
    """Return what became of a reply that is not in its chat."""
    where = f"it is saved in {saved.beside}" if saved.beside else nowhere
    return f"{path}: the reply could not be written there ({saved.why}); {where}"


def _next_heading(conversation: Conversation) -> str:
    """Return the heading for the next message, of the same speaker."""
    if any(turn.mode == "completion" for turn in conversation.turns):
        return heading("prompt")
    return heading("user", user_name(conversation.source.text))
