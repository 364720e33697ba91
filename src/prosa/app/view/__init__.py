"""The store while it is looked at: the list of what is in it, one record of it, and when it changes (X37)."""
