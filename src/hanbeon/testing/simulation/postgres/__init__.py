"""Simulation on a real PostgreSQL server, which gets one statement at a time, in an order decided by a seed."""

from hanbeon.testing.simulation.postgres.server_process import Programs
from hanbeon.testing.simulation.postgres.store import KINDS, PostgresStore

__all__ = ["KINDS", "PostgresStore", "Programs"]
