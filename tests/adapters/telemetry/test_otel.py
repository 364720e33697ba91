"""Spans and metrics of runs at a collector of our own, which reads OTLP as the real ones do (a fake on loopback)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from prosa.app.trust import accept_agreement
from tests import warm
from tests.house.tree import ROOT

CHILD = """---
name: child
description: Answers.
input: {type: object, properties: {text: {type: string}}, required: [text]}
output: {type: object}
---
The canary asks {{ .text }}
"""
PARENT = CHILD.replace("name: child", "name: parent").replace("output:", "imports: [./child.md]\noutput:")
CALL = {"tool_calls": [{"id": "1", "name": "child", "arguments": {"text": "canary"}}]}
USED = {"usage": {"input_tokens": 7, "output_tokens": 3}}


class Collector(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        self.server.bodies.append(body)
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.spans += [span for scope in resource.scope_spans for span in scope.spans]
        elif self.path == "/v1/metrics":
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.server.metrics |= {each.name: each for scope in resource.scope_metrics for each in scope.metrics}
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    accept_agreement({"HOME": str(tmp_path)}, 0)
    (tmp_path / "child.md").write_text(CHILD)
    (tmp_path / "parent.md").write_text(PARENT)
    replies = [
        {"program": "parent", **CALL, **USED},
        {"program": "child", "content": "{}", **USED},
        {"program": "parent", "content": '{"done": true}', **USED},
    ]
    (tmp_path / "replies.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in replies))
    return tmp_path


def run(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}
    command = [sys.executable, "-m", "prosa", "run", "parent.md", "text=canary", "--model", "scripted:replies.jsonl"]
    return warm.run([*command, *words], cwd=folder, env=known | environ, capture_output=True, text=True, check=False)


def told(span: Any) -> dict[str, Any]:
    values = {each.key: each.value for each in span.attributes}
    return {name: getattr(value, value.WhichOneof("value")) for name, value in values.items()}


def test_e1_a_run_is_one_trace_with_the_names_kinds_and_parents_of_the_conventions(folder: Path, collector: Collector):
    """X6."""
    ran = run(folder, f"--otel={collector.url}")
    assert ran.returncode == 0, ran.stderr
    spans = {span.span_id: span for span in collector.spans}
    assert len({span.trace_id for span in spans.values()}) == 1
    tree = {}
    for span in spans.values():
        above = spans.get(span.parent_span_id)
        tree.setdefault((span.name, above.name if above else ""), []).append(span)
    assert {key: len(value) for key, value in tree.items()} == {
        ("invoke_agent parent", ""): 1,
        ("chat gpt-4o", "invoke_agent parent"): 2,
        ("execute_tool child", "invoke_agent parent"): 1,
        ("invoke_agent child", "execute_tool child"): 1,
        ("chat gpt-4o", "invoke_agent child"): 1,
    }
    chat = tree["chat gpt-4o", "invoke_agent child"][0]
    assert chat.kind == chat.SPAN_KIND_CLIENT
    known = told(chat)
    assert known["gen_ai.operation.name"] == "chat" and known["gen_ai.request.model"] == "gpt-4o"
    assert (known["gen_ai.usage.input_tokens"], known["gen_ai.usage.output_tokens"]) == (7, 3)
    tool = told(tree["execute_tool child", "invoke_agent parent"][0])
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.type"]) == ("child", "agent")
    assert told(tree["invoke_agent child", "execute_tool child"][0])["gen_ai.agent.name"] == "child"
    assert {"gen_ai.client.token.usage", "gen_ai.invoke_agent.duration"} <= set(collector.metrics)
    assert not any(b"canary" in body for body in collector.bodies)


@pytest.mark.parametrize("by", ["flag", "environment"])
def test_e1_what_was_asked_and_answered_is_sent_only_where_the_user_says_so(
    folder: Path, collector: Collector, by: str
):
    words = ["--otel-content"] if by == "flag" else []
    capture = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only"} if by == "environment" else {}
    assert run(folder, f"--otel={collector.url}", *words, **capture).returncode == 0
    texts = [told(span) for span in collector.spans]
    assert any("The canary asks" in str(each.get("gen_ai.input.messages")) for each in texts)
    assert any("done" in str(each.get("gen_ai.output.messages")) for each in texts)


def test_the_environment_names_the_collector_and_the_parent(folder: Path, collector: Collector):
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert run(folder, "--otel", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, TRACEPARENT=parent).returncode == 0
    (root,) = (span for span in collector.spans if span.name == "invoke_agent parent")
    assert root.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c" and root.parent_span_id.hex() == "b7ad6b7169203331"


def test_the_settings_of_the_user_may_ask_for_traces(folder: Path, collector: Collector):
    (folder / "config").mkdir()
    (folder / "config" / "settings.toml").write_text(f'otel = "{collector.url}"\n')
    assert run(folder, PROSA_CONFIG_DIR=str(folder / "config")).returncode == 0
    assert collector.spans


def test_e3_x6_an_address_in_the_environment_starts_nothing(folder: Path, collector: Collector):
    """X6: and the library is not even loaded."""
    script = (
        "import sys\nfrom prosa.cli.main import main\n"
        "status = main(sys.argv[1:])\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')], file=sys.stderr)\n"
        "sys.exit(status)"
    )
    words = ["run", "parent.md", "text=a", "--model", "scripted:replies.jsonl"]
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}
    ran = warm.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env=known | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 and ran.stderr.rstrip().endswith("[]")
    assert collector.bodies == []


@pytest.mark.parametrize("how", ["refused", "hanging"])
def test_e2_a_dead_collector_changes_neither_status_nor_output(folder: Path, how: str):
    quiet = run(folder)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        if how == "hanging":
            listening.listen()
        ran = run(folder, f"--otel=http://127.0.0.1:{listening.getsockname()[1]}")
    assert (ran.returncode, ran.stdout) == (quiet.returncode, quiet.stdout)
    assert "Traceback" not in ran.stderr


def test_a_failed_run_says_so_without_its_words(folder: Path, collector: Collector):
    (folder / "replies.jsonl").write_text('{"program": "parent", "error": {"status": 401, "message": "canary"}}\n')
    assert run(folder, f"--otel={collector.url}").returncode == 1
    known = {span.name: told(span) for span in collector.spans}
    assert known["invoke_agent parent"]["error.type"] == "run_failed" and known["chat gpt-4o"]["error.type"]
    assert not any(b"canary" in body for body in collector.bodies)


@pytest.mark.parametrize(
    ("words", "said"), [(("--otel-content",), "is about --otel"), (("--otel=ftp://x",), "--otel=ftp://x: must be")]
)
def test_wrong_use_is_said(folder: Path, words: tuple[str, ...], said: str):
    ran = run(folder, *words)
    assert ran.returncode == 2 and said in ran.stderr
