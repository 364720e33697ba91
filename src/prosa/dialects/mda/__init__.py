"""MDA 1.0: Markdown for agents with a name, what it depends on, digests and signatures, from which files for single
hosts are compiled.

It shares the suffix of MAGI, whose successor it is; the front matter tells the two apart (X42).
"""
