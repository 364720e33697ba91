"""The rules of MDH nodes and of the sites they form."""
