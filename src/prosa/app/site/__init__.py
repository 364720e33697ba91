"""A folder as a site while it is served or built: files are read on request, the graph comes from the index."""
