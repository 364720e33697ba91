"""The search for better texts, by gepa."""
