"""Where the configuration of a chat comes from: layers, from the user's own file to the document (PA9, X7).

In: chats that were read, lowest layer first. Out: one list of assignments, and which messages stand in front of the
document's. A file in the tree has the rights of a document and no more; only the user's own file has the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prosa.dialects.prapti.fields import path_of
from prosa.dialects.prapti.model import ChatMessage, ChatModel, ConfigLine

LayerKind: TypeAlias = Literal["user", "tree", "given", "document"]

TREE_FILE = ".prapticonfig.md"
"""Configuration of all chats in and below its folder."""

USER_FILES = ("chat.md",)
"""The user's own configuration of chats, in the folder of their settings."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One chat file that configures. ``trusted`` says that it has the rights of the user, ``follows`` that the files it
    includes may hold configuration lines too: trust in a document says nothing about those (PA11)."""

    kind: LayerKind
    model: ChatModel
    trusted: bool = False
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A line or a message with the layer it comes from; ``final`` says that it is in the last message of the chat."""

    layer: Layer
    message: ChatMessage
    final: bool


def standings(layers: Sequence[Layer]) -> Iterator[Standing]:
    """Every message that is not disabled, lowest layer first."""
    for layer in layers:
        enabled = [message for message in layer.model.messages if not message.disabled]
        for message in enabled:
            final = layer.kind == "document" and message is enabled[-1]
            yield Standing(layer, message, final)


def runs(line: ConfigLine, standing: Standing) -> bool:
    """Whether a line takes effect: with `!` only in the last message (P14)."""
    return standing.final or not line.last_only


def is_config_root(model: ChatModel) -> bool:
    """Whether a file says that no file above it counts."""
    values = [line.value for line in model.assignments if path_of(line.key or "") == "prapti.config_root"]
    return bool(values) and values[-1] is True
