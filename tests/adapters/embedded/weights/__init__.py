"""Weights: the header of a file of them, and how they come from a package index (X35). No engine is needed."""
