"""The door for agents: a folder over the Model Context Protocol. Only `prosa mcp` and `prosa serve --mcp` load it."""
