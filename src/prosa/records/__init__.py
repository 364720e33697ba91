"""Hold what is kept and shown of runs: values that the engine, the stores and the renderers share. Pure."""
