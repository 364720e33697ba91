"""Moves: a document gets another path or another id, and every reference to it follows."""

from prosa.corpus.moves.draft import Change
from prosa.corpus.moves.effects import Note
from prosa.corpus.moves.move import Move, MoveRefused, NameRefused
from prosa.corpus.moves.plan import Plan, plan_move
from prosa.corpus.moves.store import DocumentStore

__all__ = ["Change", "DocumentStore", "Move", "MoveRefused", "NameRefused", "Note", "Plan", "plan_move"]
