"""`prosa serve`, one module for each part of it."""
