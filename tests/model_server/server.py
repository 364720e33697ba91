"""A fake model server: HTTP/1.1 on loopback, Chat Completions, Responses and the list of models. No model is behind it.

What comes in: requests and a script of behaviours. What goes out: exactly the scripted answers, faults included, and a
record of every request. In a test use the fixture `model_server`; on a command line

    python -m tests.model_server.server --port 0 --script FILE

prints `http://127.0.0.1:PORT/v1` and serves until it is ended. FILE has one behaviour per line as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tests.model_server import checks, gemini, messages
from tests.model_server.behaviour import Behaviour, Queue, Scripted, behaviour, read_script
from tests.model_server.connection import SERVER_NAME, Connection, Request

Answer: TypeAlias = Callable[["Request"], "Scripted | None"]


class ModelServer:
    """The fake, in a thread of its own. `script` says what it answers; `requests` what it was asked.

    `default` answers when the script is empty (None: a 400 that says so); `answer` is a function that comes first.
    `refuses` names features it answers 400 to: `json_schema`, `json_object`, `stream_options`, `tools`, the bounds
    `max_completion_tokens` and `max_tokens`, `two-limits` for both at once, `large` for more than 1,000 tokens; and
    what chat templates refuse, in their words: `two-users`, `system`, `several-calls`, `parallel_tool_calls`. Google's
    interface has `tools-and-json` for both in one request and `unsigned` for calls that it did not make. `key`,
    when set, is the only key it accepts, and it repeats a wrong one in full. `checks` refuses malformed bodies.
    `local` is the server of one's own machine that it plays: llama.cpp, Ollama, LM Studio or vLLM.
    """

    def __init__(self, *, port: int = 0, default: Scripted | None = None, record: bool = True) -> None:
        self.queue = Queue()
        self.requests: list[Request] = []
        self.default = default
        self.answer: Answer | None = None
        self.refuses: set[str] = set()
        self.key: str | None = None
        self.models: list[str] = ["fake-model"]
        self.local: str | None = None
        self.checks = True
        self.record = record
        self.in_flight = 0
        self.most_in_flight = 0
        self.connections = 0
        self._port = port
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), daemon=True, name="fake-model-server"
        )

    # --- for tests

    def script(self, *items: Scripted) -> ModelServer:
        """Appends behaviours: a text, a dict or a `Behaviour` each."""
        self.queue.add(items)
        return self

    def reset(self) -> None:
        """As new, on the same port."""
        self.queue.clear()
        self.requests.clear()
        self.refuses.clear()
        self.default = self.answer = self.key = self.local = None
        self.models, self.checks, self.most_in_flight = ["fake-model"], True, 0

    @property
    def port(self) -> int:
        return self._port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def google_url(self) -> str:
        """The base URL of the interface of Google."""
        return f"http://127.0.0.1:{self._port}/v1beta"

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of all recorded requests to a model, in order."""
        return [
            request.body for request in self.requests if request.kind in {"chat", "responses", "generate", "messages"}
        ]

    def start(self) -> ModelServer:
        """Listens; returns once it does."""
        self._thread.start()
        if not self._ready.wait(120):
            raise RuntimeError("the fake model server did not start")
        return self

    def stop(self) -> None:
        """Ends the thread and every connection."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def __enter__(self) -> ModelServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- in the thread

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(lambda: Connection(self), "127.0.0.1", self._port, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    def choose(self, request: Request) -> Behaviour:
        """What to do with a request to a model."""
        if request.kind == "generate":
            return self._generate(request)
        if request.kind == "messages":
            return self._messages(request)
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            wrong = request.headers.get("authorization", "none").removeprefix("Bearer ")
            return Behaviour(status=401, message=f"Incorrect API key provided: {wrong}.", code="invalid_api_key")
        if not isinstance(request.body, dict):
            return Behaviour(status=400, message="We could not parse the JSON body of your request.")
        refused = self._refused(request.body)
        if refused is None and self.checks:
            refused = checks.refusal(request.kind, request.body)
        if refused is not None:
            return Behaviour(status=400, message=refused[0], param=refused[1])
        return self._given(request)

    def _generate(self, request: Request) -> Behaviour:
        refused = gemini.key_refusal(request.headers, self.key) if self.key is not None else None
        if refused is not None:
            return refused
        if not isinstance(request.body, dict):
            return Behaviour(status=400, message="Invalid JSON payload received.")
        why = gemini.refusal(request.body, self.refuses, request.model) if self.checks else None
        return self._given(request) if why is None else Behaviour(status=400, message=why)

    def _messages(self, request: Request) -> Behaviour:
        refused = messages.key_refusal(request.headers, self.key) if self.key is not None else None
        if refused is not None:
            return refused
        if not isinstance(request.body, dict):
            return Behaviour(status=400, message="The request body is not valid JSON")
        why = messages.refusal(request.headers, request.body, self.refuses) if self.checks else None
        return self._given(request) if why is None else Behaviour(status=400, message=why)

    def _given(self, request: Request) -> Behaviour:
        given = self.answer(request) if self.answer is not None else None
        if given is None:
            given = self.queue.take(request.text)
        if given is None:
            given = self.default
        if given is None:
            return Behaviour(status=400, message="the script of the fake model server has no reply left")
        return behaviour(given)

    def _refused(self, body: Mapping[str, Any]) -> tuple[str, str] | None:
        if not self.refuses:
            return None
        wanted = body.get("response_format") or (body.get("text") or {}).get("format") or {}
        param = "response_format" if "response_format" in body else "text.format"
        if wanted.get("type") in self.refuses:
            return f"Invalid parameter: '{param}' of type '{wanted['type']}' is not supported with this model.", param
        if limit := checks.limit_refusal(self.refuses, body):
            return limit
        for name in ("stream_options", "tools", "parallel_tool_calls", "max_completion_tokens", "max_tokens"):
            if name in self.refuses and name in body:
                return f"Unsupported parameter: '{name}' is not supported by this server.", name
        return checks.template_refusal(self.refuses, body)


def main(argv: Iterable[str] | None = None) -> int:
    """Serves on the command line until it is ended."""
    parser = argparse.ArgumentParser(prog="tests.model_server.server", description=SERVER_NAME)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", help="JSON lines, one behaviour each")
    parser.add_argument("--default", help="a behaviour as JSON: the answer when the script is used up")
    chosen = parser.parse_args(None if argv is None else list(argv))
    server = ModelServer(port=chosen.port, default=json.loads(chosen.default) if chosen.default else None)
    server.record = False
    server.script(*(read_script(chosen.script) if chosen.script else ()))
    server.start()
    print(f"this is a {SERVER_NAME}", file=sys.stderr, flush=True)
    print(server.base_url, flush=True)
    try:
        while server._thread.is_alive():
            server._thread.join(1)
    except KeyboardInterrupt:
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
