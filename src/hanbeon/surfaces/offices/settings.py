"""Settings of offices."""

from __future__ import annotations

from hanbeon.setting_fields import LONGEST, DeclaredFields, Field


class OfficeSettings(DeclaredFields):
    outgoing_concurrency: int = Field(
        32,
        ge=1,
        le=1_000,
        description="How many webhooks and notifications a worker sends at once, beside its jobs",
    )
    webhook_timeout: float = Field(10.0, gt=0, le=300, description="How long a webhook may take to respond")
    webhook_patience: float = Field(
        4 * 3600.0, ge=0, le=LONGEST, description="How long a webhook may keep failing before it is disabled"
    )
