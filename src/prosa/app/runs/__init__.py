"""Runs of every kind: one engine drives their jobs, one record begins, resumes and ends them."""
