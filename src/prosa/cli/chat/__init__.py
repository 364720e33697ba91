"""`prosa chat`, a module for each thing that it does with a chat file."""
