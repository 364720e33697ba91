"""`python -m prosa` is `prosa`."""

from prosa.cli.main import entry

entry()
