"""Documents of one form made into another: the files around a conversion."""
