"""`prosa run`, and what the commands that run something share."""
