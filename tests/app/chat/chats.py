"""Chats for tests: read from text, written to a folder, made ready, answered by a script."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from prosa.app.chat.answer import Reply, answer
from prosa.app.chat.prepare import ChatOptions, Conversation, prepare
from prosa.app.options import Environment, Options
from prosa.dialects.front import read_front
from prosa.dialects.prapti import ChatModel, read
from prosa.document import parse
from prosa.settings import Settings
from prosa.source import SourceText


def chat(text: str, *, legacy: bool = False) -> ChatModel:
    """A chat from its text."""
    source = SourceText(text, "chat.md")
    front = read_front(source)
    return read(front, parse(source, body=front.body), legacy=legacy)[0]


def around(folder: Path, notices: list[str] | None = None, **environ: str) -> Environment:
    """Environment of a user whose settings are below a folder."""
    said = notices if notices is not None else []
    places = {"HOME": str(folder / "home"), "PROSA_CONFIG_DIR": str(folder / "config")}
    return Environment({**places, **environ}, Settings(), said.append)


def ready(
    folder: Path, text: str, *, name: str = "chat.md", choices: Options | None = None, **asked: Any
) -> Conversation:
    """A chat in a folder that is a project of its own, made ready."""
    (folder / "prosa.toml").touch()
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return prepare(path, choices or Options(), around(folder), ChatOptions(**asked))


def sent(conversation: Conversation) -> list[tuple[str, str | None, str]]:
    """Role, name and text of what the first turn sends."""
    return [(each.role, each.name, each.content) for each in conversation.messages]


def scripted(folder: Path, replies: list[Any]) -> Options:
    """Options under which these replies are played."""
    path = folder / "replies.jsonl"
    rows = [reply if isinstance(reply, dict) else {"content": reply} for reply in replies]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Options(model=f"scripted:{path}")


def answered(
    folder: Path, conversation: Conversation, replies: list[Any], *, choices: Options | None = None, **heard: Any
) -> list[Reply]:
    """The replies of a conversation whose model is a script."""
    chosen = replace(choices or Options(), model=scripted(folder, replies).model)
    return asyncio.run(answer(conversation, chosen, around(folder), **heard))
