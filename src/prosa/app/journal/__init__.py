"""The journal of runs: recorded while they run, resumed after an interruption, shown afterwards (X25)."""
