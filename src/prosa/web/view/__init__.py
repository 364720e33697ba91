"""The store of runs over HTTP, on loopback, for the person who started it (X37)."""
