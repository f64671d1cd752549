"""The scenarios, one file each. Add a new one to this list."""

from __future__ import annotations

from bench.scenario import Scenario
from bench.scenarios.drain import Drain

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in (Drain(),)}
