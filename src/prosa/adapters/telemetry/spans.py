"""Spans and metrics of a run, sent to a collector over OTLP (HTTP).

In: the events of a run and, as a journal, its calls. Out: the spans and metrics named below. Requests and
answers are only sent if the user allows it. A collector that does not answer costs at most `LONGEST` seconds at the
end, and never a run.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Thread
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from prosa import __version__
from prosa.runtime.errors import RunError
from prosa.runtime.events import Event, RunFailed, RunFinished, RunStarted, Scope
from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import ToolResult

LONGEST = 2.0
"""Seconds that telling the collector may take at the end of a call."""

EVERY = 60_000
"""Milliseconds between two exports of metrics."""


class Telemetry:
    """A listener and a journal of one call: it receives the start and the end of programs, and wraps their calls."""

    def __init__(self, url: str, *, content: bool = False, parent: str = "") -> None:
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        logging.getLogger("opentelemetry").propagate = False
        resource = Resource({"service.name": "prosa", "service.version": __version__})
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces", timeout=LONGEST)
        self._spans.add_span_processor(BatchSpanProcessor(exporter))
        sent = OTLPMetricExporter(endpoint=f"{url.rstrip('/')}/v1/metrics", timeout=LONGEST)
        reader = PeriodicExportingMetricReader(sent, export_interval_millis=EVERY)
        self._metrics = MeterProvider(resource=resource, metric_readers=[reader], shutdown_on_exit=False)
        self._tracer = self._spans.get_tracer("prosa", __version__)
        meter = self._metrics.get_meter("prosa", __version__)
        self._tokens = meter.create_histogram(TOKEN_USAGE, unit="{token}")
        self._calls = meter.create_histogram(OPERATION_DURATION, unit="s")
        self._agents = meter.create_histogram(AGENT_DURATION, unit="s")
        self._inferences = meter.create_histogram(AGENT_INFERENCE_CALLS, unit="{call}")
        self._tool_calls = meter.create_histogram(AGENT_TOOL_CALLS, unit="{call}")
        self._tools = meter.create_histogram(TOOL_DURATION, unit="s")
        self._content = content
        self._root = TraceContextTextMapPropagator().extract({"traceparent": parent}) if parent else None
        self._open: dict[int, Span] = {}
        self._by_tool: dict[str, Span] = {}
        self._counts: dict[int, Counter[str]] = {}

    def __call__(self, event: Event, /) -> None:
        """Begin the span of a program, and end it."""
        if isinstance(event, RunStarted):
            scope = event.scope
            known = {OPERATION: INVOKE_AGENT, AGENT_NAME: scope.program}
            known[REQUEST_MODEL] = event.model_name
            name = f"{INVOKE_AGENT} {scope.program}"
            self._open[scope.number] = self._tracer.start_span(name, self._above(scope), attributes=known)
            self._counts[scope.number] = Counter()
        elif isinstance(event, RunFinished | RunFailed):
            self._end(event)

    def _end(self, event: RunFinished | RunFailed) -> None:
        span = self._open.pop(event.scope.number, None)
        if span is None:
            return
        known = {AGENT_NAME: event.scope.program}
        if isinstance(event, RunFailed):
            span.set_status(Status(StatusCode.ERROR))
            span.set_attribute(ERROR_TYPE, "run_failed")
            known[ERROR_TYPE] = "run_failed"
        span.end()
        counts = self._counts.pop(event.scope.number)
        self._agents.record(event.seconds, known)
        self._inferences.record(counts["calls"], known)
        self._tool_calls.record(counts["tools"], known)

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return a span around a model call, further attempts included."""
        request = step.request
        known: dict[str, str | int | float] = {OPERATION: CHAT, REQUEST_MODEL: request.model_name}
        if request.max_output is not None:
            known[REQUEST_MAX_TOKENS] = request.max_output
        temperature = request.parameters.get("temperature")
        if isinstance(temperature, int | float):
            known[REQUEST_TEMPERATURE] = temperature
        known[OUTPUT_TYPE] = "json" if request.output is not None else "text"
        span, started = self._begun(f"{CHAT} {request.model_name}", step.scope, known, SpanKind.CLIENT)
        self._count(step.scope, "calls")
        if self._content:
            span.set_attribute(
                INPUT_MESSAGES, _messages((message.role, message.content) for message in request.messages)
            )
        try:
            reply = await ask()
            self._answered(span, request.model_name, reply)
        except BaseException as error:
            self._failed(span, error)
            raise
        finally:
            counted = {OPERATION: CHAT, REQUEST_MODEL: request.model_name}
            self._calls.record(time.monotonic() - started, counted)
            span.end()
        return reply

    def _answered(self, span: Span, asked: str, reply: ModelReply) -> None:
        usage = reply.usage
        span.set_attribute(RESPONSE_MODEL, reply.model_name or asked)
        span.set_attribute(RESPONSE_FINISH, (reply.finish,))
        span.set_attribute(INPUT_TOKENS, usage.input_tokens)
        span.set_attribute(OUTPUT_TOKENS, usage.output_tokens)
        if usage.cached_input_tokens:
            span.set_attribute(CACHED_TOKENS, usage.cached_input_tokens)
        for name, value in _address(reply.service).items():
            span.set_attribute(name, value)
        if self._content:
            span.set_attribute(OUTPUT_MESSAGES, _messages([("assistant", reply.content)]))
        known = {OPERATION: CHAT, REQUEST_MODEL: asked}
        self._tokens.record(usage.input_tokens, {**known, TOKEN_TYPE: "input"})
        self._tokens.record(usage.output_tokens, {**known, TOKEN_TYPE: "output"})

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Return a span around a tool call; a program that it starts has its own below it."""
        known: dict[str, str | int | float] = {OPERATION: EXECUTE_TOOL, TOOL_NAME: step.tool}
        known[TOOL_TYPE] = "agent" if step.kind == "program" else "function"
        span, started = self._begun(f"{EXECUTE_TOOL} {step.tool}", step.scope, known, SpanKind.INTERNAL)
        self._count(step.scope, "tools")
        self._by_tool[f"{step.path}/"] = span
        if self._content:
            span.set_attribute(TOOL_ARGUMENTS, json.dumps(step.arguments, ensure_ascii=False))
        try:
            result = await use()
            if result.is_error:
                span.set_status(Status(StatusCode.ERROR))
                span.set_attribute(ERROR_TYPE, "tool_error")
            if self._content:
                span.set_attribute(TOOL_RESULT, result.content)
        except BaseException as error:
            self._failed(span, error)
            raise
        finally:
            self._by_tool.pop(f"{step.path}/", None)
            self._tools.record(time.monotonic() - started, {TOOL_NAME: step.tool})
            span.end()
        return result

    def close(self) -> None:
        """Send the remaining data, as far as that is quick. Never raises."""
        thread = Thread(target=self._shut, name="prosa-otel", daemon=True)
        thread.start()
        thread.join(LONGEST)

    def _shut(self) -> None:
        for provider in (self._spans, self._metrics):
            try:
                provider.force_flush(int(LONGEST * 500))
                provider.shutdown()
            except Exception:
                logging.getLogger("opentelemetry").exception("telemetry was not sent")

    def _begun(
        self, name: str, scope: Scope, known: Mapping[str, str | int | float], kind: SpanKind
    ) -> tuple[Span, float]:
        above = self._open.get(scope.number)
        context = trace.set_span_in_context(above) if above is not None else self._root
        return self._tracer.start_span(name, context, kind, attributes=dict(known)), time.monotonic()

    def _above(self, scope: Scope) -> Context | None:
        """Return the context of a program: the tool call that started it, else its caller, else that of the
        environment."""
        above = self._by_tool.get(scope.path) if scope.parent is not None else None
        above = above or (self._open.get(scope.parent) if scope.parent is not None else None)
        return trace.set_span_in_context(above) if above is not None else self._root

    def _count(self, scope: Scope, what: str) -> None:
        if scope.number in self._counts:
            self._counts[scope.number][what] += 1

    def _failed(self, span: Span, error: BaseException) -> None:
        """Return why a call failed, by its kind alone: the message may contain the request."""
        span.set_status(Status(StatusCode.ERROR))
        kind = getattr(error, "kind", "") if isinstance(error, RunError) else ""
        span.set_attribute(ERROR_TYPE, str(kind or type(error).__name__))


def _messages(messages: Iterable[tuple[str, str]]) -> str:
    """Return messages as the conventions write them."""
    shown = [{"role": role, "parts": [{"type": "text", "content": content}]} for role, content in messages]
    return json.dumps(shown, ensure_ascii=False)


def _address(service: str | None) -> dict[str, str | int]:
    """Return the host and the port of a service."""
    if service is None:
        return {}
    parts = urlsplit(service)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return {SERVER_ADDRESS: parts.hostname or "", SERVER_PORT: port}


# The names of OpenTelemetry's conventions for generative AI. They left the core conventions in June 2026 for
# open-telemetry/semantic-conventions-genai, which has no release yet. These are those of its commit 002c8a6, all of
# them in development. Constants of other packages are marked deprecated.
OPERATION = "gen_ai.operation.name"
AGENT_NAME = "gen_ai.agent.name"
AGENT_DESCRIPTION = "gen_ai.agent.description"
AGENT_VERSION = "gen_ai.agent.version"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_FINISH = "gen_ai.response.finish_reasons"
OUTPUT_TYPE = "gen_ai.output.type"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - a kind of count
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
ERROR_TYPE = "error.type"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"

INVOKE_AGENT = "invoke_agent"
CHAT = "chat"
EXECUTE_TOOL = "execute_tool"

TOKEN_USAGE = "gen_ai.client.token.usage"  # noqa: S105 - a count
OPERATION_DURATION = "gen_ai.client.operation.duration"
AGENT_DURATION = "gen_ai.invoke_agent.duration"
AGENT_INFERENCE_CALLS = "gen_ai.invoke_agent.inference_calls"
AGENT_TOOL_CALLS = "gen_ai.invoke_agent.tool_calls"
TOOL_DURATION = "gen_ai.execute_tool.duration"
