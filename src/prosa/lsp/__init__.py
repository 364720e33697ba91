"""The door for editors: documents over the Language Server Protocol. Only `prosa lsp` loads it."""
