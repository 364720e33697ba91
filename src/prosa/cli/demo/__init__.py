"""`prosa demo`, one module for each part of it."""
