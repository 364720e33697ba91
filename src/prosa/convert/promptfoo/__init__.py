"""Configurations of promptfoo as test documents and programs."""
