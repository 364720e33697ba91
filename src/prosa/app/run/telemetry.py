"""Whether traces of runs are sent, and where (X6): only where the user says so, by a flag or in their settings.

In: options and environment. Out: what hears the runs. An address that happens to be in the environment starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.app.options import Environment, Options, Otel
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.adapters.telemetry.spans import Telemetry

ADDRESS = "OTEL_EXPORTER_OTLP_ENDPOINT"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
LOCAL = "http://localhost:4318"
"""Default address of a collector."""


def telemetry_of(options: Options, environment: Environment) -> Telemetry | None:
    """Return the telemetry for the runs of a call; None if it is not enabled. Raises `RunError` where the library is
    missing."""
    otel = options.otel or (Otel(environment.settings.otel) if environment.settings.otel else None)
    if otel is None:
        return None
    try:
        from prosa.adapters.telemetry.spans import Telemetry
    except ImportError:
        from prosa.extras import lacking

        raise lacking(RunError, "--otel", "otel") from None
    environ = environment.environ
    url = otel.url or environ.get(ADDRESS, "").strip() or LOCAL
    content = otel.content or environ.get(CAPTURE, "").strip() == "span_only"
    return Telemetry(url, content=content, parent=environ.get("TRACEPARENT", ""))
