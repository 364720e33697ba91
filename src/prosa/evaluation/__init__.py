"""Whether answers are good: what a case expects, what an output lacks, and what repeats of it say in numbers.

Pure. Nothing here knows in which document a case stands, what ran it, or how a report looks.
"""
