"""The network for the client of MDH sites: one exchange at a time, to addresses that were checked (X8).

`exchange` is the door; httpx2 loads with its first use.
"""
