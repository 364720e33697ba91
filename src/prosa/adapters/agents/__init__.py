"""Coding agents as engines (X36): what starts one, what it may reach, what it asks its model, and what it changes.

In: a command and the files of a case. Out: values of `prosa.records.agent`. Nothing of an attempt survives it.
"""
