"""The site over HTTP: an ASGI application that serves documents in the requested form, and its server."""
