"""Tests of ai-scripts that run: choice, context, providers, results, trust, everything that can go wrong."""
