"""Rules of every document, whatever its dialect: shared syntax, fields, links, suppressions, settings."""
