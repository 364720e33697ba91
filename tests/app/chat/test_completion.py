"""Raw completions for `@prompt` messages: the wire, whole and streamed (PA12)."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from prosa.adapters.providers.completion import WIRE, CompletionAssembly
from prosa.adapters.providers.failures import ExchangeProblem
from prosa.adapters.providers.request_shape import RequestShape
from prosa.app.chat.answer import answer
from prosa.app.options import Options
from prosa.runtime.messages import Message, ModelRequest
from tests.app.chat.chats import around, ready

REQUEST = ModelRequest("m", (Message("user", "Once"),), parameters={"temperature": 0, "prompt": "other"})


def chunk(text, finish=None, **more):
    return {"model": "m-1", "choices": [{"text": text, "finish_reason": finish}], **more}


def test_pa12_a_request_is_the_prompt_and_the_parameters():
    """PA12."""
    assert WIRE.path == "/completions"
    assert WIRE.body(REQUEST, RequestShape(), False) == {"temperature": 0, "model": "m", "prompt": "Once"}
    assert WIRE.body(REQUEST, RequestShape(), True)["stream_options"] == {"include_usage": True}


def test_pa12_a_reply_is_the_text_that_follows():
    """PA12."""
    usage = {"prompt_tokens": 2, "completion_tokens": 3}
    reply = WIRE.reply(chunk(" upon", "length", usage=usage))
    assert (reply.content, reply.finish, reply.model_name) == (" upon", "length", "m-1")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (2, 3)


@pytest.mark.parametrize("value", [{}, {"choices": []}, {"choices": [1]}, {"error": {"message": "no"}}])
def test_a_reply_that_is_none_is_a_problem(value):
    with pytest.raises(ExchangeProblem):
        WIRE.reply(value)


def test_a_stream_is_put_together_and_must_end():
    assembly = CompletionAssembly()
    assert [assembly.feed("", each) for each in (chunk("a"), {"choices": []}, chunk("b", "stop"))] == ["a", "", "b"]
    assert assembly.finish().content == "ab"
    cut = CompletionAssembly()
    cut.feed("", chunk("a"))
    with pytest.raises(ExchangeProblem):
        cut.finish()


@contextmanager
def serving(bodies):
    """A server that goes on with any prompt in the same words."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            bodies.append((self.path, body))
            rows = [chunk(" upon"), chunk(" a time", "stop")]
            stream = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
            whole = json.dumps(chunk(" upon a time", "stop"))
            data = (stream if body.get("stream") else whole).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("streams", [True, False])
def test_pa12_a_chat_with_prompts_asks_for_a_completion(tmp_path, streams):
    """PA12."""
    bodies, heard = [], []
    text = '% model = "m"\n% temperature = 0.5\n\n### @prompt:\n\nOnce\n'
    with serving(bodies) as url:
        on_text = (lambda spot, piece: heard.append(piece)) if streams else None
        conversation = ready(tmp_path, text, tools=("python",))
        (reply,) = asyncio.run(answer(conversation, Options(base_url=url), around(tmp_path), on_text=on_text))
    assert reply.text == " upon a time"
    assert heard == ([" upon", " a time"] if streams else [])
    ((path, body),) = bodies
    assert path == "/v1/completions"
    assert (body["model"], body["prompt"], body["temperature"]) == ("m", "Once", 0.5)
    assert "tools" not in body and "messages" not in body
