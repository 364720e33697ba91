"""Running: the use case behind `prosa run`, `prosa.run` and the programs of a site, and the one driver of all runs.

In: a program, a choice of service, ports. Out: outputs, summaries, events. Nothing here parses arguments or prints.
"""
