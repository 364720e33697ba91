"""CPython compiled to WebAssembly, for the sandbox of Prosa: a compressed component beside this file, and no code.

``python.wasm.xz`` is built with the wheel by ``hatch_build.py``; Prosa finds it here and runs it with wasmtime.
"""
