"""A real model, asked through every layer: what it answers is valid, and what it leaves behind is nothing (X35)."""
