"""Rules of markdownlang programs: `ML00` front matter, `ML01` schemas, `ML02` templates, `ML03` imports, `ML04`
servers, `ML05` tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.markdownlang.model import ProgramModel

RULES: RuleSet[ProgramModel] = RuleSet(__name__, "ML", "markdownlang", topics=("program", "imports"), errors_stop=True)
