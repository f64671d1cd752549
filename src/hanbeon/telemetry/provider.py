"""OpenTelemetry's tracer provider: that of the program, or one made from the standard OTEL_… variables."""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from typing import Any

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
