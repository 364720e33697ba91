"""Measurements. Every figure stands beside a baseline measured in the same run; `python -m bench` prints them all."""
