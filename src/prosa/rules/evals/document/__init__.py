"""Rules of test documents: `TS00` the document and its blocks, `TS01` expectations, `TS02` the program, rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.evals.document.model import SuiteModel

RULES: RuleSet[SuiteModel] = RuleSet(__name__, "TS", "test", topics=("suite", "program"))
