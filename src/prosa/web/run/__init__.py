"""What runs on a site, and only where the user said so (X6): programs as POST actions, interactive ai-scripts, sign-in.

Each endpoint is `(scope, receive, send, web)` and gives the status that it sent.
"""
