"""Deterministic simulation of the real engine on SQLite: many processes in one, virtual time, faults by plan."""

from hanbeon.testing.simulation.forks import Simulator
from hanbeon.testing.simulation.oracles import ORACLES, Evidence, Oracle
from hanbeon.testing.simulation.plan import CLIENT, Fault, FaultKind, Moment, Operation, Plan, Refusal
from hanbeon.testing.simulation.shrinker import Shrunk, shrink
from hanbeon.testing.simulation.simulation import Result, Scenario, Simulation

__all__ = [
    "CLIENT",
    "ORACLES",
    "Evidence",
    "Fault",
    "FaultKind",
    "Moment",
    "Operation",
    "Oracle",
    "Plan",
    "Refusal",
    "Result",
    "Scenario",
    "Shrunk",
    "Simulation",
    "Simulator",
    "shrink",
]
