"""A folder as a site while it is served or built: files looked at when they are asked for, the graph from the index."""
