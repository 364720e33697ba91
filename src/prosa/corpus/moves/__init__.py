"""Moves: a document gets another path or another id, and every reference to it follows."""

from prosa.corpus.moves.checks import Note, check_problems
from prosa.corpus.moves.move import Move, MoveRefused, NameRefused
from prosa.corpus.moves.plan import Change, Plan, changes_of, edited, plan_move
from prosa.corpus.moves.world import DocumentStore

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
