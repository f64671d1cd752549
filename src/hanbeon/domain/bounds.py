"""Bounds on how much one call may send or receive; schemas, services and documentation take the numbers from here.

Depth and length in bytes of single values have rules of their own (`check_size`, the settings `max_…_bytes`).
"""

from __future__ import annotations

BATCH_JOBS = 10_000
"""Jobs of one request over HTTP. Python callers are not bounded; see `GRAPH_JOBS`."""
BATCH_EDGES = 200_000
"""Dependencies of all jobs of one request over HTTP."""
JOB_EDGES = 10_000
"""Dependencies of one job, over HTTP."""
GRAPH_JOBS, GRAPH_EDGES = 100_000, 400_000
"""The graph that the Python API is known to take in one call, all or nothing. Larger ones are not rejected."""
ROLES = 1_000
"""Roles of one office: those of its config, of its sessions and of its jobs."""
PAGE_ROWS = 1_000
"""Rows of one page over HTTP."""
PAGE_BYTES = 4 * 1024**2
"""Stored bytes of one page, unless its first row alone is larger. What follows is on the next page."""
PAGE_EDGES = 100_000
"""Dependencies on one page of jobs, unless its first job alone has more."""
PATH_BYTES = 4_096
"""A path of a file is shorter. One that a stream worker sends is cut off there, and then refused as too long."""
