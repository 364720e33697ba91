"""Rules of tests: of a test document, and of the suite beside a skill."""
