"""The site over HTTP: an ASGI application that serves documents in the form that was asked for, and what runs it."""
