"""Settings of exports."""

from __future__ import annotations

from hanbeon.setting_fields import DeclaredFields, Field, seconds


class ExportSettings(DeclaredFields):
    jobs_export_path: str | None = Field(
        None, may_be_empty=False, description="The folder of exported files; by default beside the SQLite file, or here"
    )
    replay_path: str | None = Field(
        None,
        may_be_empty=False,
        description="The folder of uploaded replays; by default beside the SQLite file, or here",
    )
    max_replay_bytes: int = Field(4_294_967_296, ge=1_024, description="Maximum size of an uploaded replay")
    replay_quota_bytes: int = Field(21_474_836_480, ge=1_024, description="Maximum size of all replays of one user")
    export_concurrency: int = Field(
        2, ge=1, le=1_000, description="How many exports a worker renders at once, beside its jobs"
    )
    export_timeout: float = seconds(3_600.0, "How long the rendering of one export may take")
