"""Moves: a document gets another path or another id, and every reference to it follows."""

from prosa.corpus.moves.checks import check_problems
from prosa.corpus.moves.draft import Change, edited
from prosa.corpus.moves.effects import Note
from prosa.corpus.moves.move import Move, MoveRefused, NameRefused
from prosa.corpus.moves.plan import Plan, changes_of, plan_move
from prosa.corpus.moves.store import DocumentStore

__all__ = [
    "Change",
    "DocumentStore",
    "Move",
    "MoveRefused",
    "NameRefused",
    "Note",
    "Plan",
    "changes_of",
    "check_problems",
    "edited",
    "plan_move",
]
