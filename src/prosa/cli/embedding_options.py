"""The flags that choose a model for vectors, for `enrich` and `search`. In: arguments. Out: a choice. Nothing is
asked here, and nothing of a run is loaded.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.app.corpus.embedding import EmbeddingChoice


def add_embedding(parser: argparse.ArgumentParser) -> None:
    """Which model makes vectors, and where."""
    group = parser.add_argument_group("vectors")
    group.add_argument("--embedding-model", metavar="NAME", help="the model at the service, or: local")
    group.add_argument("--base-url", metavar="URL", help="the service that makes vectors")
    group.add_argument("--api-key-env", metavar="NAME", help="the variable whose key may go to --base-url")


def embedding_choice(args: argparse.Namespace) -> EmbeddingChoice:
    """What the flags of `add_embedding` say."""
    from prosa.app.corpus.embedding import EmbeddingChoice

    return EmbeddingChoice(args.embedding_model, args.base_url, args.api_key_env)
