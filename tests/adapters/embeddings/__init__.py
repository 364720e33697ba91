"""Vectors: in footers, from a service, from a local model, compared and fused."""
