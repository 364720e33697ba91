"""Logins at MCP servers over HTTP: `begin` makes and ends them, `renewal` keeps them alive while they are used."""
