"""The declaration of chains."""

from __future__ import annotations

from hanbeon.surfaces.surface import Command, Surface

SURFACE = Surface(
    name="chains",
    title="Jobs with a forward and a backward operation: a failure undoes what was done, in reverse.",
    service="hanbeon.surfaces.chains.service:Chains",
    api="hanbeon.surfaces.chains.operations",
    errors="hanbeon.surfaces.chains.errors",
    settings="hanbeon.surfaces.chains.settings:ChainSettings",
    commands=(
        Command(
            "chain",
            "Create, run, watch and undo chains of operations.",
            "Chains",
            "hanbeon.surfaces.chains.commands:chain",
        ),
    ),
    file="hanbeon.surfaces.chains.file_section:SECTION",
    pool="hanbeon.surfaces.chains.worker_pool:chain_pool",
    metrics="hanbeon.surfaces.chains.metrics:METRICS",
    store="hanbeon.surfaces.chains.store_part:PART",
    queues=("hanbeon.surfaces.chains.steps:QUEUE",),
    end_hook="hanbeon.surfaces.chains.walker:HOOK",
    verify="hanbeon.surfaces.chains.verify:AUDIT",
    retention="hanbeon.surfaces.chains.store_part:RETENTION",
    job_place="hanbeon.surfaces.chains.steps:place_of_job",
    docs="chains.md",
)
