"""Runs that are recorded and played again: cassettes on disk, modes, drift, tools, chats and scripts."""
