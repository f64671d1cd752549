"""The declaration of chains."""

from __future__ import annotations

from hanbeon.surfaces.chains.operations import CHANNELS, OPERATIONS
from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="chains",
    title="Jobs with a forward and a backward operation: a failure undoes what was done, in reverse.",
    service="hanbeon.surfaces.chains.service:Chains",
    operations=OPERATIONS,
    channels=CHANNELS,
    pool="hanbeon.surfaces.chains.worker_pool:chain_pool",
    queues=("hanbeon.domain.chains.steps:QUEUE",),
    end_hook="hanbeon.store.operations.chain_walk:HOOK",
    verify="hanbeon.surfaces.chains.verify:verify_chains",
    retention="hanbeon.surfaces.chains.retention:RETENTION",
    job_place="hanbeon.surfaces.chains.place:place_of_job",
    docs="chains.md",
)
