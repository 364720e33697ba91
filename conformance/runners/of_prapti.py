"""A runner of Prapti's own implementation: `python -m conformance.runners.of_prapti`.

Its package has to be importable, and installed where cases load plugins:
`pip install --no-deps --target DIR git+https://github.com/prapti-ai/prapti@cfed1b7` and DIR in `PYTHONPATH`.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

from prapti.core._core_execution_state import CoreExecutionState
from prapti.core.builtins import builtin_actions
from prapti.core.chat_markdown_parser import parse_messages
from prapti.core.command_interpreter import interpret_commands
from prapti.core.command_message import Message, flatten_message_content
from prapti.core.configuration import VarEntry
from prapti.core.execution_state import ExecutionState
from prapti.core.logger import create_root_diagnostics_logger

from conformance.runners.lines import Unsupported, loop

PUBLIC = ("system", "user", "assistant")
"""The roles that its responder for chats sends."""


def do(name: str, op: str, given: dict[str, Any]) -> Any:
    """Answer one request."""
    if name != "prapti" or op not in ("read", "send"):
        raise Unsupported
    lines = given["text"].splitlines(keepends=True)
    if op == "read":
        return {"messages": [_message(each) for each in parse_messages(lines, None)]}
    with tempfile.TemporaryDirectory() as folder:
        for file, text in given.get("files", {}).items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        return _sent(lines, Path(folder) / "chat.md")


def _message(each: Message) -> dict[str, Any]:
    text = "".join(item for item in each.content if isinstance(item, str))
    return {
        "role": each.role,
        "name": each.name,
        "hidden": each.is_hidden,
        "disabled": not each.is_enabled,
        "line": each.source_loc.line,
        "content": text.strip(),
    }


def _sent(lines: list[str], path: Path) -> dict[str, Any]:
    log = create_root_diagnostics_logger(initial_level=logging.CRITICAL)
    state = ExecutionState(prapti_version="", argv=[], log=log, input_file_path=path)
    state.private_core_state = CoreExecutionState()
    state.private_core_state.actions.merge(builtin_actions)
    messages = parse_messages(lines, path)
    interpret_commands(messages, state, is_final_sequence=True)
    flatten_message_content(messages)
    settings = {
        name: entry.value
        for name, entry in vars(state.root_config.vars).items()
        if isinstance(entry, VarEntry) and entry.value_is_set
    }
    return {
        "messages": [
            {"role": each.role, "name": each.name, "content": each.content[0]}
            for each in messages
            if each.is_enabled and not each.is_hidden and each.role in PUBLIC
        ],
        "settings": settings,
    }


if __name__ == "__main__":
    loop(do)
