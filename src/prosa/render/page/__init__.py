"""Nodes as pages for people: HTML that reads without JavaScript, from values that are escaped or sanitised."""
