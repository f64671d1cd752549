"""A job as a client asks for it. Clients use it too, so it stands on nothing."""

from __future__ import annotations

from typing import Any

import msgspec


class JobSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One job of a batch, as the client wrote it."""

    key: str | None = None
    id: str | None = None
    task_id: str | None = None
    role: str | None = None
    title: str | None = None
    args: dict[str, Any] | None = None
    priority: int | None = None
    urgent: bool | None = None
    depends_on: list[Any] | None = None
    timeout_ms: int | None = None
    max_retries: int | None = None
    handler: str | None = None
    on_dependency_failure: str | None = None
