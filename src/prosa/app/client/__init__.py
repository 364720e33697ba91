"""Use case: the sites of others: read them, call their actions, copy them, probe them."""
