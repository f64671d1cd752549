"""The public test kit: an App worked by hand on a clock that stands still, jobs in any state, and crashes."""

from hanbeon.testing.clock import VirtualClock
from hanbeon.testing.kit import TestKit
from hanbeon.testing.trial import SimulationFailed, effects, simulate

__all__ = ["SimulationFailed", "TestKit", "VirtualClock", "effects", "simulate"]
