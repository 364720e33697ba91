"""Whether answers are good: what a case expects, what an output lacks, and what repeats of it say in numbers.

Pure. Independent of the document of a case, of the runner, and of the form of reports.
"""
