"""Other checkers of Markdown: where they are, which version, and how they are asked to check a folder."""
