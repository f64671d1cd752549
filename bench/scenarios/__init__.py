"""The scenarios, one file each. Add a new one to this list."""

from __future__ import annotations

from bench.scenario import Scenario
from bench.scenarios.bodies import Bodies
from bench.scenarios.bulk import Bulk
from bench.scenarios.chains import Chains
from bench.scenarios.dashboards import Dashboards
from bench.scenarios.drain import Drain
from bench.scenarios.enqueue import Enqueue
from bench.scenarios.events import Events
from bench.scenarios.flat import Flat
from bench.scenarios.floor import Floor
from bench.scenarios.graph import Graph
from bench.scenarios.idle import Idle
from bench.scenarios.latency import Latency
from bench.scenarios.processes import Processes
from bench.scenarios.render_rate import Rendering
from bench.scenarios.schedules import Schedules
from bench.scenarios.server import Server
from bench.scenarios.soak import Soak
from bench.scenarios.streams import Streams
from bench.scenarios.verify import Verify

_ALL: tuple[Scenario, ...] = (
    *(Enqueue(), Drain(), Latency(), Events(), Floor(), Flat(), Graph(), Idle(), Processes(), Schedules(), Server()),
    *(Streams(), Rendering(), Bodies(), Bulk(), Chains(), Dashboards(), Soak(), Verify()),
)

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _ALL}
