"""Retention of workflows: the rows of a run go with its job."""

from __future__ import annotations

from hanbeon.store.operations.retention import Retention
from hanbeon.surfaces.workflows.run_rows import ROWS_OF_RUNS

RETENTION = Retention(of_jobs=ROWS_OF_RUNS)
