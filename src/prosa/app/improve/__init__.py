"""Better texts for skills, programs and context files, with proof on held-out cases (X41)."""
