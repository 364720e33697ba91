"""The journal of runs: kept while they go on, resumed when they broke off, told afterwards (X25)."""
