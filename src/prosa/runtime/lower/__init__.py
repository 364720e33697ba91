"""From a dialect model to a `Program`, one file per dialect."""
