"""Spans of requests, enqueues, waits and attempts. They name what ran and how it ended, never arguments or messages."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import structlog

from hanbeon.domain.job import Claimed, NewJob
from hanbeon.domain.lifecycle import Reason
from hanbeon.domain.trace_context import TraceContext, of_span, parse, parse_text, working_for
from hanbeon.errors import InvalidInput
from hanbeon.extras import extra
from hanbeon.rule import Rule

_EXPORTER = "OTEL_TRACES_EXPORTER"
_SERVICE = "OTEL_SERVICE_NAME"
_RESOURCE = "OTEL_RESOURCE_ATTRIBUTES"
_FLUSH_MS = 5_000


def tracer_provider() -> Any:
    """Return the program's own provider if it has set one; otherwise set one that exports over OTLP/HTTP.

    OpenTelemetry allows one per process, so that several Apps share it.
    """
    api: Any = _module("opentelemetry.trace")
    existing = api.get_tracer_provider()
    if not isinstance(existing, api.ProxyTracerProvider):
        return existing
    sdk, export = _module("opentelemetry.sdk.trace"), _module("opentelemetry.sdk.trace.export")
    resources = _module("opentelemetry.sdk.resources")
    exporter = _exporter(export)
    named = os.environ.get(_SERVICE) or "service.name=" in os.environ.get(_RESOURCE, "")
    resource = resources.Resource.create({} if named else {"service.name": "hanbeon"})
    provider = sdk.TracerProvider(resource=resource)
    if exporter is not None:
        provider.add_span_processor(export.BatchSpanProcessor(exporter))
    api.set_tracer_provider(provider)
    return provider


def _exporter(export: Any) -> Any:
    chosen = os.environ.get(_EXPORTER, "otlp").strip()
    if chosen == "otlp":
        return _module("opentelemetry.exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter()
    if chosen == "console":
        return export.ConsoleSpanExporter()
    if chosen == "none":
        return None
    raise InvalidInput(Rule("must_be", what=Rule("exporter"), got=repr(chosen)), field=_EXPORTER)


def flush(provider: Any) -> None:
    """Export what has ended, for some seconds at most; a collector that is down costs nothing but its spans."""
    with contextlib.suppress(Exception):
        provider.force_flush(_FLUSH_MS)


def _module(name: str) -> Any:
    with extra("otel", "tracing"):
        return import_module(name)


_NANOS = 1_000
_SYSTEM = "hanbeon"
_NO_SPAN = TraceContext(f"00-{'0' * 32}-{'0' * 16}-00")
"""Of spans of a disabled SDK; such a context is never stored or passed on."""
_UNFAILED = frozenset((Reason.SUCCEEDED, Reason.CANCELLED))
_QUIET = {"record_exception": False, "set_status_on_exception": False}
"""Exceptions have messages, and those may have secrets: only their types are recorded."""


class AttemptTrace:
    """The span of one attempt, and its context for what it calls."""

    __slots__ = ("context", "failure", "outcome", "root", "span")

    def __init__(self, span: Any, context: TraceContext, root: TraceContext | None) -> None:
        self.span, self.context = span, context
        self.root = root
        """Where the job had no context: the one that its next attempts continue."""
        self.failure: str | None = None
        self.outcome: Reason | None = None


class Tracer:
    """Makes the spans of one App. Methods are thread-safe."""

    def __init__(self) -> None:
        self._provider = tracer_provider()  # First: it says what to install if that is missing.
        from opentelemetry import context, trace

        self._trace, self._context = trace, context
        self._tracer = self._provider.get_tracer("hanbeon")

    async def flush(self) -> None:
        """Export what has ended; the provider is the process's, and stays."""
        await asyncio.to_thread(flush, self._provider)

    @contextlib.contextmanager
    def request(self, method: str, headers: Sequence[tuple[bytes, bytes]]) -> Iterator[Any]:
        """Span of an HTTP request, which continues the caller's trace if the caller sent a valid context."""
        given = parse(_header(headers, b"traceparent"), _header(headers, b"tracestate"))
        kind = self._trace.SpanKind.SERVER
        span = self._tracer.start_span(
            method, context=self._parent(given), kind=kind, attributes={"http.request.method": method}
        )
        try:
            with self._within(span):
                yield span
        finally:
            span.end()

    def answered(self, span: Any, method: str, route: str, status: int) -> None:
        """Name a request by its route: a path has ids, and a query may have anything."""
        span.update_name(f"{method} {route}")
        span.set_attributes({"http.route": route, "http.response.status_code": status})
        if status >= 500:
            span.set_status(self._trace.StatusCode.ERROR)

    @contextlib.contextmanager
    def enqueuing(self, jobs: Sequence[NewJob]) -> Iterator[None]:
        """Span of a caller that creates jobs, a child of its current one."""
        if not jobs:
            yield
            return
        first = jobs[0]
        attributes: dict[str, Any] = _messaging("enqueue", "send", first.queue, first.task)
        if len(jobs) == 1:
            attributes |= {"messaging.message.id": first.id, "hanbeon.job.id": first.id}
        else:
            attributes["messaging.batch.message_count"] = len(jobs)
        kind = self._trace.SpanKind.PRODUCER
        span = self._tracer.start_span(f"enqueue {first.queue}", kind=kind, attributes=attributes)
        try:
            with self._within(span):
                yield
        except BaseException as error:
            self._fail(span, type(error).__name__)
            raise
        finally:
            span.end()

    def begin(self, job: Claimed) -> AttemptTrace:
        """Begin the span of an attempt, after that of its wait, which has ended; who made the job caused both."""
        given = parse_text(job.trace)
        parent = self._parent(given)
        facts = {
            **_messaging("process", "process", job.queue, job.task),
            "messaging.message.id": job.id,
            "hanbeon.job.id": job.id,
            "hanbeon.attempt": job.fence,
        }
        waited = self._tracer.start_span(
            f"wait {job.queue}",
            context=parent,
            start_time=min(job.run_at, job.started_at) * _NANOS,
            attributes={"hanbeon.job.id": job.id, "hanbeon.attempt": job.fence, "hanbeon.queue": job.queue},
        )
        waited.end(end_time=job.started_at * _NANOS)
        root = None
        if given is None:
            root = None if (own := self._context_of(waited)) is _NO_SPAN else own
            parent = self._trace.set_span_in_context(waited, self._context.Context())
        span = self._tracer.start_span(
            f"process {job.queue}", context=parent, kind=self._trace.SpanKind.CONSUMER, attributes=facts
        )
        return AttemptTrace(span, self._context_of(span), root)

    def remote(self, given: TraceContext | None) -> contextlib.AbstractContextManager[Any]:
        """Make a span of another process the current one."""
        span = self._trace.get_current_span(self._parent(given))
        return self._trace.use_span(span, end_on_exit=False, **_QUIET)

    def caller(self) -> TraceContext | None:
        """The current span of the program, if there is one."""
        own = self._trace.get_current_span().get_span_context()
        return self._context_of(self._trace.get_current_span()) if own.is_valid else None

    @contextlib.contextmanager
    def detached(self) -> Iterator[None]:
        """Work for nobody inside: what is started there outlives the span in which it is started."""
        token = self._context.attach(self._context.Context())
        try:
            with working_for(None):
                yield
        finally:
            self._context.detach(token)

    @contextlib.contextmanager
    def within(self, trace: AttemptTrace) -> Iterator[None]:
        """Work for an attempt: its span is the current one, its logs have its ids, its jobs are caused by it."""
        with self._within(trace.span):
            yield

    def end(self, trace: AttemptTrace) -> None:
        """End the span of an attempt, once; its outcome is lost if the database never heard of it."""
        span = trace.span
        if not span.is_recording():
            return
        outcome = "lost" if trace.outcome is None else trace.outcome.value
        span.set_attribute("hanbeon.outcome", outcome)
        if trace.outcome not in _UNFAILED:
            self._fail(span, trace.failure or outcome)
        span.end()

    @contextlib.contextmanager
    def _within(self, span: Any) -> Iterator[None]:
        context = self._context_of(span)
        if context is _NO_SPAN:
            yield
            return
        traceparent = context.traceparent
        ids = {"trace_id": traceparent[3:35], "span_id": traceparent[36:52]}
        with (
            self._trace.use_span(span, end_on_exit=False, **_QUIET),
            working_for(context),
            structlog.contextvars.bound_contextvars(**ids),
        ):
            yield

    def _fail(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, kind))

    def _parent(self, given: TraceContext | None) -> Any:
        """Return OpenTelemetry's form of a context; an empty one, and not the current one, for none."""
        empty = self._context.Context()
        if given is None:
            return empty
        state = self._trace.TraceState.from_header([given.tracestate]) if given.tracestate else None
        remote = self._trace.SpanContext(
            given.trace_id,
            given.span_id,
            is_remote=True,
            trace_flags=self._trace.TraceFlags(given.flags),
            trace_state=state,
        )
        return self._trace.set_span_in_context(self._trace.NonRecordingSpan(remote), empty)

    def _context_of(self, span: Any) -> TraceContext:
        own = span.get_span_context()
        found = of_span(own.trace_id, own.span_id, int(own.trace_flags), own.trace_state.to_header())
        return found or _NO_SPAN


def _header(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Return a header. One that comes twice is joined, which makes a `traceparent` invalid, as it should be."""
    found = [value for key, value in headers if key == name]
    return b",".join(found).decode("latin-1") if found else None


def _messaging(operation: str, kind: str, queue: str, task: str) -> dict[str, Any]:
    return {
        "messaging.system": _SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": kind,
        "messaging.destination.name": queue,
        "hanbeon.queue": queue,
        "hanbeon.task": task,
    }
