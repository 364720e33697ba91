"""Traces and metrics of runs over OpenTelemetry. Loaded only where the user asks for it."""
