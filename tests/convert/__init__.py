"""Conversion from one form to another (X31, L46, LA30)."""
