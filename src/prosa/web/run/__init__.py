"""The endpoints that run something, if the user allows it (X6): programs as POST actions, interactive ai-scripts,
sign-in.

Each endpoint is `(scope, receive, send, web)` and returns the status that it sent.
"""
