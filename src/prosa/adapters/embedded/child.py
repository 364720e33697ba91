"""The process of the engine: `python -m prosa.adapters.embedded.child`, started by `engine` and by nothing else.

In: a line of JSON on standard input that says what to run. Out: one on standard output, `{"address": …, "tools": …}` or
`{"error": …}`; then it answers on loopback to those who have the key, until its standard input ends or the process that
started it is gone. It writes no file and reads one, the weights. No other module loads the engine.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import NoReturn

LOOK_SECONDS = 0.5
"""Between two looks at whether the parent is still there, beside the end of standard input, which comes at once."""

KEPT_PROMPTS = 64
"""MiB of prompts that are kept for the next call; without a bound each call keeps its own."""


def main() -> NoReturn:
    """Start the engine, say where it answers, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the engine prints is no answer
    parent = os.getppid()
    task = json.loads(_line())
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        address = _serve(task)
        reply: dict[str, object] = {"address": address, "tools": _takes_tools(address, task["key"])}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    answer.write(json.dumps(reply) + "\n")
    answer.flush()
    while "address" in reply:
        signal.pause() if hasattr(signal, "pause") else threading.Event().wait()
    os._exit(1)


def _line() -> bytes:
    """Return the first line of standard input. It is read byte by byte: what follows it is waited for elsewhere."""
    line = b""
    while not line.endswith(b"\n"):
        if not (more := os.read(0, 1)):
            os._exit(1)
        line += more
    return line


def _end_with(parent: int) -> None:
    """End this process as soon as the parent is gone, however it went: its end of the pipe is closed then. A process
    that the parent forked may still hold that end, so the parent itself is looked for too."""
    if sys.platform == "win32":
        os.read(0, 1)
        os._exit(0)
    import select

    while True:
        ready, _, _ = select.select([0], [], [], LOOK_SECONDS)
        if (ready and not os.read(0, 1)) or os.getppid() != parent:
            os._exit(0)


def _serve(task: dict[str, object]) -> str:
    """Return the engine, loaded and listening. Return its address."""
    import xllamacpp

    made = xllamacpp.CommonParams()
    made.model.path = task["path"]
    made.model_alias = {task["name"]}
    made.n_parallel = task["slots"]
    made.n_ctx = int(str(task["context"])) * int(str(task["slots"]))
    for params in (made.cpuparams, made.cpuparams_batch):
        params.n_threads = task["threads"]
    made.hostnames, made.port = ["127.0.0.1"], 0
    made.api_keys = [task["key"]]
    made.cors_origins = ""
    made.ui = made.endpoint_slots = False
    made.offline = True
    made.cache_ram_mib = KEPT_PROMPTS
    made.n_threads_http = int(str(task["slots"])) + 2
    made.verbosity = 1
    made.fit_params = _has_other_devices()
    server = xllamacpp.Server(made)
    _kept.append(server)
    return str(server.listening_address)


def _has_other_devices() -> bool:
    """Return whether layers can lie anywhere but in the memory of the processor. Otherwise there is nothing to fit, and
    the engine would read the model twice to find that."""
    from xllamacpp import get_device_info, ggml_backend_dev_type

    return any(device["type"] != ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU for device in get_device_info())


def _takes_tools(address: str, key: str) -> bool:
    """Return whether the template of the model writes tools into the prompt, as the engine sees it."""
    from http.client import HTTPConnection

    asked = HTTPConnection(address.removeprefix("http://"), timeout=30)
    asked.request("GET", "/props", headers={"Authorization": f"Bearer {key}"})
    props = json.loads(asked.getresponse().read())
    asked.close()
    return bool(props.get("chat_template_caps", {}).get("supports_tools"))


_kept: list[object] = []  # it serves as long as it is held

if __name__ == "__main__":
    main()
