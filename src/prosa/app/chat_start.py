"""The beginning of a turn: a chat that is not there yet is begun, and a message of the user is added (PA6).

In: the path of a chat, and a message. Out: the text of the chat as it is, or will be; and the same in the file. What
somebody else wrote meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.adapters.files.append import Below, Joint
    from prosa.app.choices import Choices
    from prosa.dialects.prapti import ChatMessage

TREE_TEMPLATE = ".praptistart.md"
USER_TEMPLATE = "start.md"
BUILT_IN = "### @user:\n\n"
ASKING = ("user", "prompt")


@dataclass(frozen=True, slots=True)
class Opened:
    """A chat. ``begins`` says that its text is that of a template and not in the file yet."""

    path: Path
    source: SourceText
    begins: bool
    max_size: int

    def with_message(self, message: str, speaker: str | None) -> SourceText:
        """The text with a message at its end, as it would be written."""
        from prosa.dialects.prapti.below import lead

        text = self.source.text
        added = "".join(message_pieces(text, message, speaker))
        return SourceText(text + lead(text) + added, self.source.path, self.source.digest)

    def write(self, message: str | None, speaker: str | None) -> Below | None:
        """Brings the file to that: a new one from the template, or the message below the text; gives what was written
        below. Raises `OSError` and `FileProblem`."""
        from prosa.adapters.files import replace_file
        from prosa.adapters.files.append import Below

        if self.begins:
            text = self.source.text if message is None else self.with_message(message, speaker).text
            replace_file(self.path, text, expect_digest=self.source.digest)
            return None
        below = Below(self.path, joint(), self.max_size)
        if message is not None:
            below.add(*message_pieces(self.source.text, message, speaker))
            below.finish()
        return below


def opened(path: Path, choices: Choices, environ: Mapping[str, str], max_size: int) -> Opened:
    """The chat at a path; a template where there is none, or an empty one. Raises `FileProblem`."""
    from prosa.adapters.files import RootedFiles

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


def begun(path: Path, source: SourceText, choices: Choices, environ: Mapping[str, str], max_size: int) -> Opened:
    """A chat that was read; a template where it says nothing. Raises `FileProblem`."""
    if source.text.removeprefix("\ufeff").strip():
        return Opened(path, source, begins=False, max_size=max_size)
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    text = mark + template(path, choices, environ, max_size)
    return Opened(path, SourceText(text, str(path), source.digest), begins=True, max_size=max_size)


def template(path: Path, choices: Choices, environ: Mapping[str, str], max_size: int) -> str:
    """How a chat begins: `.praptistart.md` in its folder or one above it, within the root; `start.md` in the folder of
    the user's settings; else an empty message of the user. Raises `FileProblem`."""
    from prosa.adapters.files import RootedFiles, config_dir, find_root
    from prosa.adapters.files.read import real_path

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
    """The message as it is written below a text: under the empty message of the user that waits for it, or under a new
    heading."""
    from prosa.dialects.prapti.escape import escaped
    from prosa.dialects.prapti.write import heading

    last = _messages(text)[-1]
    waits = last.known_role in ASKING and not last.disabled and not last.content.strip()
    content = f"{escaped(message)}\n"
    if waits and speaker in (None, last.name):
        return [content]
    return [f"{heading('user', speaker or user_name(text))}\n\n", content]


def user_name(text: str) -> str | None:
    """The name under which the user spoke last."""
    return next((each.name for each in reversed(_messages(text)) if each.known_role == "user" and each.sent), None)


def _messages(text: str) -> tuple[ChatMessage, ...]:
    from prosa.dialects.front import read_front
    from prosa.dialects.prapti.read import read
    from prosa.document import parse

    source = SourceText(text)
    front = read_front(source).under("prapti")
    return read(front, parse(source, body=front.body))[0].messages


def joint() -> Joint:
    """How text joins a chat."""
    from prosa.adapters.files.append import Joint
    from prosa.dialects.prapti.below import find_lines_below, lead, line_end

    return Joint(lead, line_end, find_lines_below, whole="### @")
