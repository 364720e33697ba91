"""Mailboxes: what programs leave one another, kept beyond their runs (L47, LA33)."""
