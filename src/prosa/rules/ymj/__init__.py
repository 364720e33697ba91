"""Rules of YMJ records: `YM00` sections, `YM01` summary, `YM02` versions, `YM03` hashes, `YM04` footer, `YM05` payload,
`YM06` attachments, `YM07` other records, `YM08` profiles, `YM09` recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.ymj.model import YmjModel

RULES: RuleSet[YmjModel] = RuleSet(
    __name__,
    "YM",
    "ymj",
    topics=("sections", "hashes", "payload", "attachments"),
    corpus_topics=("references",),
)
