"""Rules of Agent Skills."""
