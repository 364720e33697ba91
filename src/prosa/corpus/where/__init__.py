"""The language of `--where`: a condition on the front matter of documents. Text → tokens → tree → SQL condition."""

from prosa.corpus.where.compile import Condition, Fields, compile_where
from prosa.corpus.where.parse import Expression, WhereError, fields_of, parse_where

__all__ = ["Condition", "Expression", "Fields", "WhereError", "compile_where", "fields_of", "parse_where"]
