"""Skills that run: read, offered, chosen; their files, their scripts, and what is refused."""
