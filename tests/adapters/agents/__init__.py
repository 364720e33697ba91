"""Coding agents: the tap, the workspace, the box and the processes, without any agent."""
