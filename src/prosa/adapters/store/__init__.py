"""The store of runs: one SQLite file in the user's data folder, written by one thread of each process (X25).

It is no cache: what it holds exists nowhere else, so a file that cannot be used is left as it is and said so.
"""
