"""Conversion of a document from one form to another through one neutral value (X31). Values only."""
