"""Tests of programs: read, run, judged, compared and brought up to date (X28)."""
