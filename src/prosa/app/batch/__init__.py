"""Batches: a program over many rows, kept so that nothing that was answered is asked again (X29)."""
