"""A fake model server for tests and benchmarks: it speaks the wire formats, and no model is behind it."""
