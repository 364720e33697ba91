"""The ai-scripts of a document: the use case behind `prosa run DOC.mda`, `prosa.run_scripts` and a site's scripts.

In: a document and a choice among its scripts. Out: a result for each script. Nothing here parses arguments or prints.
"""
