"""The rules of many documents: one corpus, each rule once (X10: they run every time, on facts that may be kept)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.rules.subject import Corpus, CorpusCheck
from prosa.rules.table import RULES


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """What the rules of many documents find, with the real path of the document it is in."""
    dialects = {facts.dialect for facts in (*corpus.entries.values(), *corpus.metas.values())}
    for rule in RULES:
        concerned = not rule.dialects or dialects.intersection(rule.dialects)
        if rule.module is not None and rule.scope != "document" and concerned:
            yield from _loaded(rule.module)(corpus)


@cache
def _loaded(module: str) -> CorpusCheck:
    """The rule in a module, which is loaded for the first document that it is about."""
    check: CorpusCheck = import_module(module).check_corpus
    return check
