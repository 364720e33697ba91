"""The site over HTTP, asked without a server."""
