"""The public test kit: an App worked by hand on a clock that stands still, and jobs in any state."""

from hanbeon.testing.clock import VirtualClock
from hanbeon.testing.kit import TestKit

__all__ = ["TestKit", "VirtualClock"]
