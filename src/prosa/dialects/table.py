"""The table of dialects. Adding one is a row here and a package whose `__init__` holds its `Dialect` value. A package
is loaded when a document needs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from prosa.diagnostics.nearest import UnknownName
from prosa.dialects import DialectName
from prosa.dialects.context.places import is_context
from prosa.dialects.dialect import Dialect

if TYPE_CHECKING:
    from prosa.dialects.context.model import ContextModel
    from prosa.dialects.evals.document.model import SuiteModel
    from prosa.dialects.evals.suite.model import EvalsModel
    from prosa.dialects.magi.model import MagiModel
    from prosa.dialects.markdownlang.model import ProgramModel
    from prosa.dialects.mda.model import MdaModel
    from prosa.dialects.mdh.model import NodeModel
    from prosa.dialects.plain import PlainModel
    from prosa.dialects.prapti.model import ChatModel
    from prosa.dialects.skill_md.model import SkillModel
    from prosa.dialects.ymj.model import YmjModel

M_co = TypeVar("M_co", covariant=True)


class DialectRow(Struct, Generic[M_co], frozen=True):
    """A dialect before it is loaded.

    ``load`` returns its record. ``suffixes`` and ``file_names`` decide by name (X3); comparison ignores case.
    """

    name: DialectName
    title: str
    load: Callable[[], Dialect[M_co]]
    suffixes: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()


def _magi() -> Dialect[MagiModel]:
    from prosa.dialects.magi import DIALECT

    return DIALECT


def _mda() -> Dialect[MdaModel]:
    from prosa.dialects.mda.as_dialect import DIALECT

    return DIALECT


def _markdownlang() -> Dialect[ProgramModel]:
    from prosa.dialects.markdownlang.as_dialect import DIALECT

    return DIALECT


def _ymj() -> Dialect[YmjModel]:
    from prosa.dialects.ymj import DIALECT

    return DIALECT


def _mdh() -> Dialect[NodeModel]:
    from prosa.dialects.mdh.as_dialect import DIALECT

    return DIALECT


def _prapti() -> Dialect[ChatModel]:
    from prosa.dialects.prapti import DIALECT

    return DIALECT


def _skill_md() -> Dialect[SkillModel]:
    from prosa.dialects.skill_md.as_dialect import DIALECT

    return DIALECT


def _context() -> Dialect[ContextModel]:
    from prosa.dialects.context.as_dialect import DIALECT

    return DIALECT


def _test() -> Dialect[SuiteModel]:
    from prosa.dialects.evals.document import DIALECT

    return DIALECT


def _evals() -> Dialect[EvalsModel]:
    from prosa.dialects.evals.suite import DIALECT

    return DIALECT


def _plain() -> Dialect[PlainModel]:
    from prosa.dialects.plain import DIALECT

    return DIALECT


MAGI = DialectRow("magi", "MAGI document", _magi, suffixes=(".mda",))
MDA = DialectRow("mda", "MDA document", _mda)
"""Told from a MAGI document by its front matter (X42): they share a suffix."""

MARKDOWNLANG = DialectRow("markdownlang", "markdownlang program", _markdownlang)
YMJ = DialectRow("ymj", "YMJ record", _ymj, suffixes=(".ymj",))
MDH = DialectRow("mdh", "MDH node", _mdh)
PRAPTI = DialectRow("prapti", "Prapti chat", _prapti)
SKILL_MD = DialectRow("skill_md", "Agent Skill", _skill_md, file_names=("SKILL.md",))
CONTEXT = DialectRow("context", "context file of an agent", _context)
TEST = DialectRow("test", "test of a program", _test, suffixes=(".test.md",))
EVALS = DialectRow(
    "evals",
    "cases of a skill",
    _evals,
    file_names=("evals.json", "trigger-eval.json", "triggers.json", "eval_set.json"),
)
PLAIN = DialectRow("plain", "Markdown document", _plain, suffixes=(".mdx", ".mdc"))

DIALECTS: tuple[DialectRow[object], ...] = (
    MAGI,
    MDA,
    MARKDOWNLANG,
    YMJ,
    MDH,
    PRAPTI,
    SKILL_MD,
    CONTEXT,
    TEST,
    EVALS,
    PLAIN,
)

_BY_NAME: dict[str, DialectRow[object]] = {row.name: row for row in DIALECTS}
_BY_FILE_NAME: dict[str, DialectName] = {name.lower(): row.name for row in DIALECTS for name in row.file_names}
_BY_SUFFIX: tuple[tuple[str, DialectName], ...] = tuple(
    (suffix, row.name) for row in DIALECTS for suffix in row.suffixes
)
_SUFFIXES = tuple(suffix for suffix, _ in _BY_SUFFIX)

DOCUMENT_SUFFIXES: tuple[str, ...] = (".md", ".markdown", ".mda", ".ymj", ".mdx", ".mdc")
"""The files that `check` picks up in a folder."""

CASES = "evals/evals.json"
"""The file with the cases of a skill, below its folder."""

TRIGGERS = (
    "evals/trigger-eval.json",
    "evals/triggers.json",
    "evals/eval_set.json",
    "trigger-eval.json",
    "triggers.json",
    "eval_set.json",
)
"""The files that say which requests a skill is for, below its folder."""


def skill_folder(path: Path) -> Path:
    """Return the folder of the skill that a file with cases or requests is of: the one around `evals`, or its own."""
    return path.parent.parent if path.parent.name == "evals" else path.parent


def skill_beside(path: Path) -> Path | None:
    """Return the `SKILL.md` that an evaluation file belongs to, if that file is in one of the known places."""
    folder = skill_folder(path)
    return folder / "SKILL.md" if path.relative_to(folder).as_posix() in (CASES, *TRIGGERS) else None


WHICH_DOCUMENTS = (
    f"Prosa looks for {', '.join(DOCUMENT_SUFFIXES[:-1])} and {DOCUMENT_SUFFIXES[-1]} that git does not ignore"
)
"""What to say where a folder holds none."""

AGENT_FOLDERS = frozenset({".agents", ".claude", ".codex", ".cursor", ".gemini", ".github", ".windsurf"})
"""Hidden folders that `check` includes: agents act on their files."""


def dialect(name: str) -> DialectRow[object]:
    """Return the row of a name. Raises KeyError."""
    return _BY_NAME[name]


def known_dialect(name: str) -> DialectName:
    """Return the dialect that a user names. Raises `UnknownName`."""
    row = _BY_NAME.get(name)
    if row is None:
        raise UnknownName("dialect", name, list(_BY_NAME))
    return row.name


def dialect_of_file_name(name: str) -> DialectName | None:
    """Return the dialect that the last part of a path decides, or None when the shape has to (X3)."""
    lowered = name.lower()
    whole = _BY_FILE_NAME.get(lowered)
    if whole or not lowered.endswith(_SUFFIXES):
        return whole
    return next(dialect_name for suffix, dialect_name in _BY_SUFFIX if lowered.endswith(suffix))


def dialect_of_path(path: str) -> DialectName | None:
    """Return the dialect that the place of a file in a folder of a host decides, else its name; None when the shape has
    to (X3)."""
    name = path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
    return "context" if is_context(path) else dialect_of_file_name(name)
