"""The graph as text: JSON and other exchange formats, tables for people, drawings."""
