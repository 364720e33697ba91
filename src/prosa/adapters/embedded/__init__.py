"""Models on this machine in a process of our own (X35): their weights, where they come from, the engine that runs them.

In: the name of a model or the path of a file. Out: an address on loopback with a key, gone with this process. A run
fetches nothing, and no module but `child`, which is that process, loads the engine.
"""
