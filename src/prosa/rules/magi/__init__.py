"""Rules of MAGI documents: metadata, ai-script blocks, relationships."""
