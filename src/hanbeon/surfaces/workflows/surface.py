"""The declaration of workflows."""

from __future__ import annotations

from hanbeon.surfaces.surface import Command, Surface

SURFACE = Surface(
    name="workflows",
    title="Steps that send messages, call HTTP, wait and run tasks: now, later, at a time, again and again.",
    service="hanbeon.surfaces.workflows.service:Workflows",
    api="hanbeon.surfaces.workflows.operations",
    errors="hanbeon.surfaces.workflows.errors",
    settings="hanbeon.surfaces.workflows.settings:WorkflowSettings",
    commands=(
        Command(
            "workflow",
            "Create, run and watch workflows of messages, HTTP calls, waits and tasks.",
            "Workflows",
            "hanbeon.surfaces.workflows.commands:workflow",
        ),
    ),
    pool="hanbeon.surfaces.workflows.worker_pool:workflow_pool",
    executor="hanbeon.surfaces.workflows.executor:WorkflowExecutor",
    file="hanbeon.surfaces.workflows.file_section:SECTION",
    apply="hanbeon.surfaces.workflows.declarations:apply_declared",
    store="hanbeon.surfaces.workflows.store_part:PART",
    queues=("hanbeon.surfaces.workflows.vocabulary:QUEUE",),
    end_hook="hanbeon.surfaces.workflows.run_rows:HOOK",
    verify="hanbeon.surfaces.workflows.verify:AUDIT",
    retention="hanbeon.surfaces.workflows.store_part:RETENTION",
    job_place="hanbeon.surfaces.workflows.rows:place_of_job",
    docs="workflows.md",
)
