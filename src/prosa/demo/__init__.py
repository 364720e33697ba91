"""The documents of the tour: two programs, their input, and the scripted replies that stand in for a model."""
