"""`prosa run`, and the shared code of commands that run something."""
