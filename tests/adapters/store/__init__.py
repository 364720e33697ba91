"""Stores on PostgreSQL: a real server, private to the session and gone with it."""
