"""Rules of Prapti chats: `PR00` messages, `PR01` configuration lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.prapti.model import ChatModel

RULES: RuleSet[ChatModel] = RuleSet(__name__, "PR", "prapti", topics=("chat",))
