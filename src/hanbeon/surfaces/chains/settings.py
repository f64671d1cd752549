"""Settings of chains."""

from __future__ import annotations

from hanbeon.setting_fields import DeclaredFields, Field


class ChainSettings(DeclaredFields):
    chain_libraries: str = Field(
        "", description="Modules whose operations chains may run, separated by spaces; also [chains] libraries"
    )
    chain_concurrency: int = Field(
        20, ge=1, le=1_000, description="How many operations of chains a worker runs at once, beside its jobs"
    )


def libraries_of(settings: ChainSettings) -> tuple[str, ...]:
    """Return the modules whose operations chains may run."""
    return tuple(dict.fromkeys(settings.chain_libraries.split()))
