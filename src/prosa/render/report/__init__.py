"""Pages about what was kept: of a test, a run or a batch, in one file that asks nothing of any address (X37)."""
