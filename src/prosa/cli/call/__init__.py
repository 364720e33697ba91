"""`prosa call`, one module for each part of it."""
