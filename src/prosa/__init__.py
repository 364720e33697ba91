"""Prosa: one toolchain and runtime for Markdown that people read and agents act on.

Importing this package costs almost nothing: every public name loads on first use (``python -X importtime`` shows it).
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing` would take as long as all else that help loads
if TYPE_CHECKING:
    from typing import Any

    from prosa import mdh, schema, template, testing
    from prosa.api.batch import BatchResult, abatch, batch
    from prosa.api.chat import achat, chat
    from prosa.api.corpus import Corpus
    from prosa.api.documents import Document, check, load
    from prosa.api.run import arun, run
    from prosa.api.scripts import arun_scripts, run_scripts
    from prosa.api.tests import arun_tests, run_tests
    from prosa.app.chat.turn import ChatResult
    from prosa.app.options import Record, Replay, SiteRights
    from prosa.app.scripts.run import ScriptResult
    from prosa.corpus.errors import CorpusError, EmbeddingError, IndexProblem, QueryRefused, UnknownDocument
    from prosa.corpus.where.parse import WhereError
    from prosa.diagnostics import Diagnostic
    from prosa.records.batch import RowResult
    from prosa.records.summary import RunResult
    from prosa.runtime.budget import Ledger
    from prosa.runtime.errors import (
        AgreementRequired,
        AnswerCut,
        BatchRefused,
        BudgetSpent,
        CassetteProblem,
        InDoubt,
        InputRefused,
        LimitExceeded,
        LoginError,
        NotResumed,
        NotTrusted,
        OutputRefused,
        PriceUnknown,
        ProgramRefused,
        ProviderError,
        ReplayDrift,
        RowsRefused,
        RunError,
        SandboxError,
        SiteError,
        StoreProblem,
        TemplateRefused,
        ToolServerError,
    )
    from prosa.runtime.events import Listener
    from prosa.runtime.ports import Provider
    from prosa.source import FileProblem, ProsaError

__version__ = "0.1.0"

_MODULES = ("mdh", "schema", "template", "testing")
_PLACES = {
    "prosa.api.batch": "BatchResult abatch batch",
    "prosa.api.chat": "achat chat",
    "prosa.api.corpus": "Corpus",
    "prosa.api.documents": "Document check load",
    "prosa.api.run": "arun run",
    "prosa.api.scripts": "arun_scripts run_scripts",
    "prosa.api.tests": "arun_tests run_tests",
    "prosa.app.chat.turn": "ChatResult",
    "prosa.app.options": "Record Replay SiteRights",
    "prosa.app.scripts.run": "ScriptResult",
    "prosa.corpus.errors": "CorpusError EmbeddingError IndexProblem QueryRefused UnknownDocument",
    "prosa.corpus.where.parse": "WhereError",
    "prosa.diagnostics": "Diagnostic",
    "prosa.records.batch": "RowResult",
    "prosa.records.summary": "RunResult",
    "prosa.runtime.budget": "Ledger",
    "prosa.runtime.errors": (
        "AgreementRequired AnswerCut BatchRefused BudgetSpent CassetteProblem InDoubt InputRefused "
        "LimitExceeded LoginError NotResumed NotTrusted OutputRefused PriceUnknown ProgramRefused "
        "ProviderError ReplayDrift RowsRefused RunError SandboxError SiteError StoreProblem TemplateRefused "
        "ToolServerError"
    ),
    "prosa.runtime.events": "Listener",
    "prosa.runtime.ports": "Provider",
    "prosa.source": "FileProblem ProsaError",
}
_NAMES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = [
    "AgreementRequired",
    "AnswerCut",
    "BatchRefused",
    "BatchResult",
    "BudgetSpent",
    "CassetteProblem",
    "ChatResult",
    "Corpus",
    "CorpusError",
    "Diagnostic",
    "Document",
    "EmbeddingError",
    "FileProblem",
    "InDoubt",
    "IndexProblem",
    "InputRefused",
    "Ledger",
    "LimitExceeded",
    "Listener",
    "LoginError",
    "NotResumed",
    "NotTrusted",
    "OutputRefused",
    "PriceUnknown",
    "ProgramRefused",
    "ProsaError",
    "Provider",
    "ProviderError",
    "QueryRefused",
    "Record",
    "Replay",
    "ReplayDrift",
    "RowResult",
    "RowsRefused",
    "RunError",
    "RunResult",
    "SandboxError",
    "ScriptResult",
    "SiteError",
    "SiteRights",
    "StoreProblem",
    "TemplateRefused",
    "ToolServerError",
    "UnknownDocument",
    "WhereError",
    "__version__",
    "abatch",
    "achat",
    "arun",
    "arun_scripts",
    "arun_tests",
    "batch",
    "chat",
    "check",
    "load",
    "mdh",
    "run",
    "run_scripts",
    "run_tests",
    "schema",
    "template",
    "testing",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"prosa.{name}")
    if name in _NAMES:
        globals()[name] = value = getattr(import_module(_NAMES[name]), name)
        return value
    raise AttributeError(f"module 'prosa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
